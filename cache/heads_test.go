package cache

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/social"
)

// followed writes n followers of a person, three to a millisecond, with ids from 1001.
func (x *site) followed(who social.ID, n int) {
	x.Helper()
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d,%d,1,%d)", who, 1001+i, 1_700_000_000_000+i/3)
	}
	for chunk := range slices.Chunk(rows, 1000) {
		x.store.Exec(x, "INSERT INTO follower (user_id, follower_id, state, since) VALUES "+strings.Join(chunk, ","))
	}
}

// still makes what the server keeps in process age by the test's clock.
func (s *server) still() *server {
	s.heads.known.clock, s.users.clock, s.counts.clock, s.ids.clock = s.clock, s.clock, s.clock, s.clock
	return s
}

// statements is how many a reading sends.
func (s *server) statements(read func()) int64 {
	before := s.site.store.DB.Statements()
	read()
	return s.site.store.DB.Statements() - before
}

// page reads a page of somebody's followers, and holds it against SQL's.
func (s *server) page(ctx context.Context, who social.ID, p social.Page) (peers []social.Peer, statements int64) {
	s.site.Helper()
	l := social.Listing{Owner: who, Page: p}
	statements = s.statements(func() {
		found, err := s.Followers(ctx, []social.Listing{l})
		noError(s.site, err)
		peers = found[l]
	})
	want, err := s.site.store.DB.Followers(ctx, []social.Listing{l})
	noError(s.site, err)
	equal(s.site, fmt.Sprintf("page %+v", p), peers, want[l])
	return peers, statements
}

func TestFirstThousandOfWhoIsAskedForOftenIsReadOnce(t *testing.T) {
	x := newSite(t)
	s := x.server().still()
	s.begin()
	star, small := x.person(1), x.person(2)
	x.followed(star, 1300)
	x.followed(small, 7)
	nobody := x.request(0)
	for _, who := range []social.ID{star, small, 1 << 60} {
		for i := range often {
			_, sent := s.page(nobody, who, social.Page{Limit: 20})
			equal(t, fmt.Sprint("reading ", i), sent, 1)
		}
		_, sent := s.page(nobody, who, social.Page{Limit: 20})
		equal(t, "the head", sent, 1)
		for range 3 * often {
			_, sent := s.page(nobody, who, social.Page{Limit: 20})
			equal(t, "from process", sent, 0)
		}
	}
	// All pages: within the first thousand from process, beyond by SQL.
	for _, size := range []int{0, 1, 7, 100} {
		p := social.Page{Limit: size}
		for at := 0; ; at += size {
			peers, sent := s.page(nobody, star, p)
			equal(t, fmt.Sprintf("entry %d by %d", at, size), sent != 0, at+size >= headSize+1)
			if len(peers) <= size || size == 0 {
				break
			}
			p.From = peers[size-1].Cursor()
		}
	}
	s.wait(lifetime)
	_, sent := s.page(nobody, star, social.Page{Limit: 20})
	equal(t, "a second later", sent, 1)
}

func TestAHeadIsReadAnewOnceSomebodyHasFollowed(t *testing.T) {
	x := newSite(t)
	s := x.server().still()
	s.begin()
	star, fan := x.person(1), x.person(9)
	x.followed(star, 5)
	for range often + 2 {
		s.page(x.request(0), star, social.Page{Limit: 20})
	}
	x.store.Exec(t, "INSERT INTO follower (user_id, follower_id, state, since) VALUES (?, ?, 1, 1800000000000)", star, fan)
	s.wroteAgo(fan, 0)
	peers, sent := s.page(x.request(fan), star, social.Page{Limit: 20})
	equal(t, "whoever wrote lately reads SQL", fmt.Sprint(sent, peers[0].ID == fan), "1 true")
	s.Heard(social.FollowBody{Changes: []social.FollowChange{{UserID: fan, TargetID: star}}})
	_, sent = s.page(x.request(0), star, social.Page{Limit: 20})
	equal(t, "others, once the event is heard", sent, 1)
	x.store.Exec(t, "DELETE FROM follower WHERE follower_id = ?", fan)
	s.Clear()
	_, sent = s.page(x.request(0), star, social.Page{Limit: 20})
	equal(t, "all, when events were missed", sent, 1)
}

// Of many lists at once, those that are kept come from process, the others by one statement.
func TestHeadsAndOthersAreReadTogether(t *testing.T) {
	x := newSite(t)
	s := x.server().still()
	s.begin()
	star, small := x.person(1), x.person(2)
	x.followed(star, 50)
	x.followed(small, 30)
	for range often + 1 {
		s.page(x.request(0), star, social.Page{Limit: 3})
	}
	ls := []social.Listing{
		{Owner: star, Page: social.Page{Limit: 3}}, {Owner: small, Page: social.Page{Limit: 4}},
		{Owner: star, Page: social.Page{Limit: 5}}, {Owner: small, Page: social.Page{Limit: 2}},
	}
	var found map[social.Listing][]social.Peer
	equal(t, "statements", s.statements(func() {
		var err error
		found, err = s.Followers(x.request(0), ls)
		noError(t, err)
	}), 1)
	want, err := x.store.DB.Followers(t.Context(), ls)
	noError(t, err)
	for _, l := range ls {
		equal(t, fmt.Sprint(l), found[l], want[l])
	}
}

func TestAPageWithinAHeadIsWhatTheListHasThere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{0, 1, 5, headSize - 1, headSize, headSize + 1, headSize + 2} {
		list := make([]social.Peer, n)
		for i := range list {
			list[i] = social.Peer{ID: social.ID(i + 1), Since: social.Millis(rng.IntN(n/2 + 1))}
		}
		slices.SortFunc(list, func(a, b social.Peer) int {
			return -cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
		})
		head := list[:min(n, headSize+1)]
		for range 300 {
			p := social.Page{Limit: rng.IntN(30)}
			if rng.IntN(4) > 0 { // a cursor, of an entry or of one that has gone
				p.From = social.Cursor{MinTime: social.Millis(rng.IntN(n/2 + 2)), ID: social.ID(1 + rng.IntN(n+2))}
			}
			var want []social.Peer
			for _, peer := range list {
				behind := p.AtHead() || peer.Since < p.From.MinTime || peer.Since == p.From.MinTime && peer.ID < p.From.ID
				if behind && len(want) <= p.Limit {
					want = append(want, peer)
				}
			}
			got, ok := within(head, p)
			if ok && !slices.Equal(got, want) || !ok && n <= headSize {
				t.Fatalf("%+v of %d: %v %v, want %v", p, n, got, ok, want)
			}
		}
	}
}

func TestWhoIsAskedForOftenIsSoWhileItLasts(t *testing.T) {
	t.Parallel()
	now := time.Hour
	a := &asked{clock: func() time.Duration { return now }}
	ask := func(id social.ID, times int) (yes int) {
		for range times {
			if a.often(id) {
				yes++
			}
		}
		return yes
	}
	equal(t, "up to then", ask(1, often), 0)
	equal(t, "another", ask(2, often-1), 0)
	equal(t, "from then on", ask(1, 3), 3)
	now += 1700 * time.Millisecond
	equal(t, "in the next second", ask(1, 3), 3)
	equal(t, "another", ask(2, 1), 0)
	now += time.Second
	equal(t, "a second after that, with but 3 in between", ask(1, often), 0)
	equal(t, "often once more", ask(1, 1), 1)
	now += 2 * time.Second
	equal(t, "after a second without", ask(1, 1), 0)
	for id := range social.ID(2 * maxLocal) {
		a.often(id + 10)
	}
	equal(t, "bounded", len(a.now), maxLocal)
	equal(t, "who was known before", ask(1, often), 1)
	now += 2 * time.Second
	hot := 0
	for id := range social.ID(maxHot + 50) {
		hot += ask(id+1, often+1)
	}
	equal(t, "at once", hot, maxHot)
	equal(t, "of these, more", ask(7, 5), 5)
	equal(t, "another", ask(maxHot+50, 5), 0)
	now += time.Second
	equal(t, "another, in the next second", ask(maxHot+50, 5), 5)
}

// That nobody is there is kept in process like any other answer, until a person is made.
func TestWhoDoesNotExistIsAskedForOnce(t *testing.T) {
	x := newSite(t)
	s := x.server().still()
	s.begin()
	ctx := x.request(0)
	ask := func() (found string) {
		users, err := s.Users(ctx, []social.ID{77})
		noError(t, err)
		counts, err := s.Counts(ctx, []social.ID{77})
		noError(t, err)
		ids, err := s.Handles(ctx, []string{"somebody"})
		noError(t, err)
		return fmt.Sprint(users[77] != nil, counts[77].Followers, int64(ids["somebody"]))
	}
	trips := func() int64 { return s.statements(func() { ask() }) }
	equal(t, "nobody", ask(), "false 0 0")
	redis := s.Redis.Commands()
	for range 100 {
		equal(t, "statements", trips(), 0)
	}
	equal(t, "commands", s.Redis.Commands()-redis, 0)
	x.store.Exec(t, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES (77, 'somebody', 'x', '', '')")
	equal(t, "not heard yet", ask(), "false 0 0")
	s.Heard(social.UserBody{UserID: 77})
	equal(t, "heard", ask(), "true 0 77")
	s.wait(lifetime)
	equal(t, "statements a second later", trips(), 3)
}
