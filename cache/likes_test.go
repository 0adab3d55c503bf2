package cache

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// likeCount writes how many like a blog, behind the caches' back.
func (x *site) likeCount(blog social.ID, likes, version int64) {
	x.Helper()
	x.store.Exec(x, "REPLACE INTO blog_count (blog_id, likes, version) VALUES (?, ?, ?)", blog, likes, version)
}

// likesOf are the counts of blogs as the request reads them.
func (s *server) likesOf(ctx context.Context, blogs ...social.ID) (likes []int64) {
	s.site.Helper()
	counts, err := s.LikeCounts(ctx, blogs)
	noError(s.site, err)
	for _, b := range blogs {
		likes = append(likes, counts[b].Likes)
	}
	return likes
}

// blogIn is the n-th blog of a partition, for tests of what is off.
func blogIn(part, n int) (blog social.ID) {
	for blog = 1; ; blog++ {
		if rdb.Partition(blog) == part {
			if n--; n < 0 {
				return blog
			}
		}
	}
}

func TestLikeCountsComeFromRedisUntilTheyAreRenewed(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	a, b, never := blogIn(1, 0), blogIn(2, 0), blogIn(3, 0)
	x.likeCount(a, 5, 1)
	x.likeCount(b, 6, 1)
	read := func(what string, wantSent int64, want ...int64) {
		t.Helper()
		var got []int64
		sent := s.statements(func() { got = s.likesOf(t.Context(), a, b, never) })
		equal(t, what, got, want)
		equal(t, what+", statements", sent, wantSent)
	}
	read("filled, also that nobody ever liked one", 1, 5, 6, 0)
	x.likeCount(a, 7, 2)
	x.likeCount(never, 1, 1)
	read("kept", 0, 5, 6, 0)
	noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(a, social.LikeCount{Likes: 7, Version: 2})))
	noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(never, social.LikeCount{Likes: 1, Version: 1})))
	read("renewed", 0, 7, 6, 1)
	noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(a, social.LikeCount{Likes: 6, Version: 1})))
	read("late", 0, 7, 6, 1)
	x.likeCount(b, 9, 2)
	noError(t, x.store.DB.SwitchCachesOff(t.Context(), []db.CachePart{{Part: 2, Epoch: 1}}))
	equal(t, "off", s.reads(2), -1)
	read("of one that is off, from SQL", 1, 7, 9, 1)
}

// Whoever read before a like must not fill after it.
func TestLikeCountsReadBeforeALikeAreNotKept(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	blog := blogIn(1, 0)
	late := rdb.TakeLikeCount(blog, "late")
	run := func(c *rdb.Call) {
		s.Redis.Run(t.Context(), func(int) int64 { return 1 }, c)
		noError(t, c.Err())
	}
	run(late.Call)
	x.likeCount(blog, 1, 1)
	noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(blog, social.LikeCount{Likes: 1, Version: 1})))
	run(rdb.FillLikeCount(blog, "late", social.LikeCount{}))
	equal(t, "read", s.likesOf(t.Context(), blog), []int64{1})
}

func TestLikeCountsInProcessAreDroppedByTheirEvents(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	s.likes.clock = s.clock
	a, b := blogIn(1, 0), blogIn(2, 0)
	viewer := x.person(9)
	s.wroteAgo(viewer, recent+time.Minute)
	x.likeCount(a, 5, 1)
	both := func(what string, viewer social.ID, want ...int64) {
		t.Helper()
		equal(t, what, s.likesOf(x.request(viewer), a, b), want)
	}
	both("read", 0, 5, 0)
	for blog, n := range map[social.ID]social.LikeCount{a: {Likes: 6, Version: 2}, b: {Likes: 1, Version: 1}} {
		x.likeCount(blog, n.Likes, n.Version)
		noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(blog, n)))
	}
	trips := s.Redis.Commands()
	both("in process", 0, 5, 0)
	equal(t, "round trips", s.Redis.Commands()-trips, 0)
	both("of who wrote long ago", viewer, 5, 0)
	s.wroteAgo(viewer, 0)
	both("of who wrote lately", viewer, 6, 1)
	s.Heard(social.FollowBody{Changes: []social.FollowChange{{UserID: a, TargetID: b}}})
	both("another event", 0, 5, 0)
	s.Heard(social.LikeBody{Changes: []social.LikeChange{{BlogID: a}, {BlogID: 77}}})
	both("one was told of", 0, 6, 0)
	s.wait(lifetime)
	both("a second later", 0, 6, 1)
	noError(t, s.Settle(t.Context(), rdb.RenewLikeCount(a, social.LikeCount{Likes: 8, Version: 3})))
	s.Clear()
	both("when events were missed", 0, 8, 1)
}

func TestLikeCountsThatManyAskForAreReadOnce(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	s.likes.clock = s.clock // which stands still
	blogs := make([]social.ID, 50)
	for i := range blogs {
		blogs[i] = social.ID(i + 1)
		x.likeCount(blogs[i], int64(i), 1)
	}
	trips := s.Redis.Commands()
	sent := s.statements(func() {
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				counts, err := s.LikeCounts(x.request(0), blogs)
				if err != nil || len(counts) != len(blogs) || counts[50].Likes != 49 {
					t.Errorf("%d counts, %v", len(counts), err)
				}
			})
		}
		all.Wait()
	})
	equal(t, "statements", sent, 1)
	equal(t, "round trips: to look, and to fill", s.Redis.Commands()-trips, 2)
}

func TestLikersOfWhatIsAskedForOftenAreReadOnce(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	s.likers.known.clock = s.clock
	const blog, size = 5, 20
	var rows []string
	for i := range 1300 {
		rows = append(rows, fmt.Sprintf("(%d,%d,1,%d)", blog, 1001+i, 1_700_000_000_000+i/3))
	}
	for chunk := range slices.Chunk(rows, 650) {
		x.store.Exec(t, "INSERT INTO blog_liker (blog_id, user_id, state, since) VALUES "+strings.Join(chunk, ","))
	}
	page := func(p social.Page) (peers []social.Peer, sent int64) {
		t.Helper()
		l := social.Listing{Owner: blog, Page: p}
		sent = s.statements(func() {
			found, err := s.Likers(x.request(0), []social.Listing{l})
			noError(t, err)
			peers = found[l]
		})
		want, err := x.store.DB.Likers(t.Context(), []social.Listing{l})
		noError(t, err)
		equal(t, fmt.Sprintf("page %+v", p), peers, want[l])
		return peers, sent
	}
	for range often + 1 {
		_, sent := page(social.Page{Limit: size})
		equal(t, "by SQL, the head at last", sent, 1)
	}
	p := social.Page{Limit: size}
	for at := 0; ; at += size {
		peers, sent := page(p)
		equal(t, fmt.Sprint("entry ", at), sent != 0, at+size >= headSize+1)
		if len(peers) <= size {
			break
		}
		p.From = peers[size-1].Cursor()
	}
	followers := func() int64 {
		return s.statements(func() {
			_, err := s.Followers(x.request(0), []social.Listing{{Owner: blog, Page: social.Page{Limit: size}}})
			noError(t, err)
		})
	}
	equal(t, "followers of that id are another list", followers(), 1)
	x.store.Exec(t, "INSERT INTO blog_liker (blog_id, user_id, state, since) VALUES (5, 1, 1, 1800000000000)")
	s.Heard(social.FollowBody{Changes: []social.FollowChange{{TargetID: blog}}})
	s.Heard(social.LikeBody{Changes: []social.LikeChange{{BlogID: blog}}})
	peers, sent := page(social.Page{Limit: size})
	equal(t, "once the event is heard", fmt.Sprint(sent, peers[0].ID), "1 1")
	_, sent = page(social.Page{Limit: size})
	equal(t, "in process again", sent, 0)
	s.wait(lifetime)
	_, sent = page(social.Page{Limit: size})
	equal(t, "a second later", sent, 1)
}
