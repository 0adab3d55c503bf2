package main

import (
	"fmt"
	"testing"
	"time"

	"kith/social"
)

const countQuery = `subscription($b: ID!) { likeCountChanged(blogId: $b) { id likeCount viewerHasLiked } }`

// watch subscribes as somebody to the likes of a blog.
func (l lives) watch(t testing.TB, viewer social.ID, blog string) *stream {
	t.Helper()
	return l.subscribe(t, viewer, "likeCountChanged", countQuery, map[string]any{"b": blog})
}

// counts waits until the likes are so many, by counts that differ from each other.
func (s *stream) counts(t testing.TB, want int64) {
	t.Helper()
	for last := int64(-1); ; {
		b, code := s.next()
		n := b.Get("likeCount").Int()
		if code != "" || n == last {
			t.Fatalf("%s %s, after %d; want %d", code, b, last, want)
		}
		if last = n; n == want {
			return
		}
	}
}

// A count is told as it changes, also one that changes while nobody asks; with what the one
// who listens thinks of the blog now.
func TestALikeCountIsToldAsItChanges(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	author, fans := w.person(t), w.persons(t, 3)
	blog, other := author.publish(t, "a blog"), author.publish(t, "another")
	fans[0].like(t, blog) // what was before is not told
	mine, nobodys := live.watch(t, fans[1].id, blog), live.watch(t, 0, blog)
	told := make(chan string, 1)
	go func() {
		b, code := mine.next()
		told <- fmt.Sprint(code, b)
	}()
	fans[0].like(t, other)
	fans[0].like(t, blog) // changes nothing
	fans[1].like(t, blog)
	same(t, "told", <-told, fmt.Sprintf(`{"id":%q,"likeCount":2,"viewerHasLiked":true}`, blog))
	nobodys.counts(t, 2)
	fans[2].like(t, blog)
	fans[0].unlike(t, blog)
	fans[1].unlike(t, blog)
	mine.counts(t, 1)
	nobodys.counts(t, 1)
	w.servers[0].counts.Missed()
	fans[2].unlike(t, blog)
	mine.counts(t, 0)
	mine.end()
	if mine.handler(mine.ctx) != nil {
		t.Error("it goes on")
	}
	nobodys.end()
}

// P6, for subscriptions to likes.
func TestWhoDoesNotSeeABlogHearsNothingOfItsLikes(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	u := w.persons(t, 4)
	author, blocked, fan, listener := u[0], u[1], u[2], u[3]
	blog := author.publish(t, "a blog")
	author.relate(t, "block", blocked)
	for _, id := range []string{"", "5", author.gid, blog + "A"} {
		live.watch(t, listener.id, id).ends(t, social.BadUserInput)
	}
	live.watch(t, listener.id, social.GlobalID(social.BlogNode, unknownID)).ends(t, social.NotFound)
	live.watch(t, blocked.id, blog).ends(t, social.NotFound)
	s := live.watch(t, listener.id, blog)
	fan.like(t, blog)
	s.counts(t, 1)
	author.relate(t, "block", listener)
	fan.unlike(t, blog)
	s.ends(t, "")
	s = live.watch(t, fan.id, blog)
	fan.like(t, blog)
	s.counts(t, 1)
	fan.unlike(t, blog)
	author.delete(t, blog)
	s.ends(t, "")
	live.watch(t, fan.id, blog).ends(t, social.NotFound)
}

// A subscription ends when its blog is hidden from the viewer, also when its count never changes
// again; of another blog, or of who still sees it, it goes on.
func TestASubscriptionToLikesEndsWhenTheBlogIsHidden(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	for what, hide := range map[string]func(author, viewer person, blog string){
		"deleted":     func(author, _ person, blog string) { author.delete(t, blog) },
		"blocked":     func(author, viewer person, _ string) { author.about(t, "block", viewer) },
		"blocking":    func(author, viewer person, _ string) { viewer.about(t, "block", author) },
		"not let in":  func(author, viewer person, _ string) { author.about(t, "removeFollower", viewer) },
		"suspended":   func(author, _ person, _ string) { w.setStatus(t, author, social.Suspended) },
		"account end": func(author, _ person, _ string) { w.setStatus(t, author, social.Deleted) },
	} {
		author, viewer, fan := w.person(t), w.person(t), w.person(t)
		for _, p := range []person{viewer, fan} {
			p.follow(t, author)
		}
		author.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		blog, other := author.publish(t, "a blog"), fan.publish(t, "another")
		s, stays := live.watch(t, viewer.id, blog), live.watch(t, viewer.id, other)
		fan.like(t, blog)
		s.counts(t, 1)
		hide(author, viewer, blog)
		late := time.AfterFunc(20*time.Second, s.end)
		b, code := s.next()
		if !late.Stop() || code != "" || b.Exists() {
			t.Errorf("%s: %s %s, or never", what, code, b)
		}
		s.end()
		fan.like(t, other)
		stays.counts(t, 1)
		stays.end()
	}
}
