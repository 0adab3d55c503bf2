package main

import (
	"fmt"
	"slices"
	"testing"

	"kith/socialtest"
)

// FEED-2: events that come again, a follow that was undone and done once more, and an author
// who becomes a star, so that a blog is in the inbox and in memory, make no blog appear twice.
func TestNoBlogAppearsTwice(t *testing.T) {
	eachCached(t, 2, starsPast(1, 1000), func(t *testing.T, w *cachedWorld) {
		defer w.close()
		u1, u2, u3 := w.person(t), w.person(t), w.person(t)
		u1.feed(t, 10, "") // makes the inbox, which the events then find
		u2.publish(t, "p1")
		u2.publish(t, "p2")
		u1.follow(t, u2)
		u1.unfollow(t, u2)
		u1.follow(t, u2)
		u3.follow(t, u2)
		same(t, "stars", w.stars(t), 1)
		u2.publish(t, "p3") // within the minute: it is brought to inboxes too
		for range 2 {
			w.drained(t)
			w.repeatAll(t)
		}
		w.drained(t)
		w.heard(t)
		for range 2 { // as it is, and as it is built anew
			same(t, "feed", fmt.Sprint(u1.feed(t, 10, "").titles), "[p3 p2 p1]")
			first := u1.feed(t, 2, "")
			same(t, "first page", fmt.Sprint(first.titles, first.next), "[p3 p2] true")
			second := u1.feed(t, 2, first.end)
			same(t, "second page", fmt.Sprint(second.titles, second.next), "[p1] false")
			w.redis.DropKeys(t, "inbox:*")
		}
	})
}

// repeatAll has the consumer take all events again.
func (w *cachedWorld) repeatAll(t testing.TB) {
	t.Helper()
	working := w.haltAll()
	w.Exec(t, "UPDATE consumed SET position = 0")
	for _, i := range working {
		w.begin(i)
	}
}

// CNT-3, steps 1 and 3: a count whose key is lost is counted anew, not from nothing.
func TestALostCountIsReadAgain(t *testing.T) {
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		u1 := w.person(t)
		others := w.persons(t, 12)
		count := func() int64 {
			return u1.OK(t, `query($u: ID!) { node(id: $u) { ... on User { followerCount } } }`, map[string]any{"u": u1.gid}).Get("node.followerCount").Int()
		}
		for _, o := range others[:10] {
			o.follow(t, u1)
		}
		same(t, "followers", count(), 10)
		if n := w.redis.DropKeys(t, "count:*"); n == 0 {
			t.Error("no count was in Redis")
		}
		for i, o := range others[10:] {
			same(t, "as the follower sees it", o.follow(t, u1).Get("user.followerCount").Int(), int64(11+i))
		}
		same(t, "followers", count(), 12)
		var handles []string
		for _, h := range u1.OK(t, `{ viewer { followers(first: 100) { nodes { handle } } } }`, nil).Get("viewer.followers.nodes.#.handle").Array() {
			handles = append(handles, h.String())
		}
		slices.Sort(handles)
		same(t, "listed", len(slices.Compact(handles)), 12)
	})
}

// INF-2: a Redis that has forgotten the scripts, or was started anew, fails no request, and
// nothing is done twice.
func TestLostScriptsAreSentAgain(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, w *cachedWorld){
		"flushed": func(t *testing.T, w *cachedWorld) {
			if r, ok := w.redis.(*socialtest.Redis); ok {
				r.ScriptFlush(t)
			}
		},
		"restarted": func(t *testing.T, w *cachedWorld) {
			w.redis.Kill(t)
			w.redis.Start(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
				defer w.close()
				author, other := w.person(t), w.person(t)
				readers := w.persons(t, 50)
				for _, r := range readers {
					r.follow(t, author)
					r.feed(t, 1, "")
				}
				lose(t, w)
				same(t, "followers", author.follow(t, other).Get("user.followerCount").Int(), 1)
				author.publish(t, "the blog")
				w.drained(t)
				for _, r := range readers {
					same(t, "feed", fmt.Sprint(r.feed(t, 10, "").titles), "[the blog]")
				}
				w.awaitOn(t)
				for _, r := range readers { // by now from inboxes again
					same(t, "feed", fmt.Sprint(r.feed(t, 10, "").titles), "[the blog]")
				}
			})
		})
	}
}
