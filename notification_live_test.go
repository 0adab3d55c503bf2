package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
)

const updatesDoc = `subscription { notificationUpdated {
	edge { cursor node { id kind actorCount isRead actors { handle } } } removedIds readUpTo viewer { unreadNotificationCount } } }`

// hear subscribes as somebody to their notifications.
func (l lives) hear(t testing.TB, viewer social.ID) *stream {
	t.Helper()
	return l.subscribe(t, viewer, "notificationUpdated", updatesDoc, nil)
}

// updated waits for the next update, which is to be of such a line, or to tell such a thing.
func (s *stream) updated(t testing.TB, want string) gjson.Result {
	t.Helper()
	u, code := s.next()
	got := string(code)
	n := u.Get("edge.node")
	switch {
	case n.Exists():
		got = fmt.Sprintf("%s %d %s", n.Get("kind"), n.Get("actorCount").Int(), n.Get("actors.#.handle"))
	case len(u.Get("removedIds").Array()) > 0:
		got = fmt.Sprintf("%d went", len(u.Get("removedIds").Array()))
	case u.Get("readUpTo").String() != "":
		got = "read"
	}
	if got = fmt.Sprintf("%s, %d unread", got, u.Get("viewer.unreadNotificationCount").Int()); got != want {
		t.Fatalf("heard %s: %s; want %s", got, u, want)
	}
	return u
}

// awaitLines waits until p is told so many lines.
func (p person) awaitLines(t testing.TB, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; pause(nil, 5*time.Millisecond) {
		lines, _ := p.told(t)
		if len(lines) == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("told %q, want %d lines", lines, n)
		}
	}
}

// What appears, grows, goes and is read elsewhere is told, and to nobody else; what was missed
// is made up for.
func TestNotificationsAreToldAsTheyChange(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	u := w.persons(t, 4)
	me, fan, other, listener := u[0], u[1], u[2], u[3]
	blog := me.publish(t, "a blog")
	other.follow(t, me)
	me.awaitLines(t, 1)
	live.hear(t, 0).ends(t, social.Unauthenticated)
	s, elsewhere, others := live.hear(t, me.id), live.hear(t, me.id), live.hear(t, listener.id)
	defer others.end()

	fan.follow(t, me)
	line := s.updated(t, `FOLLOWED 1 ["u2_test"], 2 unread`)
	fan.like(t, blog)
	s.updated(t, `BLOG_LIKED 1 ["u2_test"], 3 unread`)
	other.like(t, blog)
	s.updated(t, `BLOG_LIKED 2 ["u3_test","u2_test"], 3 unread`)
	fan.unfollow(t, me)
	gone := s.updated(t, "1 went, 2 unread")
	same(t, "what went", gone.Get("removedIds.0").String(), line.Get("edge.node.id").String())
	same(t, "left unread", me.markRead(t, ""), 0)
	read := s.updated(t, "read, 0 unread")
	same(t, "read up to", read.Get("readUpTo").String(), me.notices(t, 1, "").Get("edges.0.node.updatedAt").String())
	me.relate(t, "mute", fan)
	s.updated(t, `BLOG_LIKED 1 ["u3_test"], 0 unread`)

	w.servers[0].news.Missed()
	fan.follow(t, me) // whom one mutes: nothing
	listener.like(t, blog)
	s.updated(t, `BLOG_LIKED 1 ["u4_test"], 1 unread`)
	s.end()
	if s.handler(s.ctx) != nil {
		t.Error("it goes on")
	}

	// Who did not listen meanwhile hears of it all, each thing once, as it is now.
	elsewhere.updated(t, "1 went, 1 unread")
	elsewhere.updated(t, "read, 1 unread")
	elsewhere.updated(t, `BLOG_LIKED 1 ["u3_test"], 1 unread`)
	elsewhere.updated(t, `BLOG_LIKED 1 ["u4_test"], 1 unread`)
	elsewhere.end()
	fan.follow(t, listener)
	others.updated(t, `FOLLOWED 1 ["u2_test"], 1 unread`)
}

// A line that grew while its page was shown is left unread by a reading up to there, and
// whoever hears of the reading hears so.
func TestAReadingTellsWhatItLeft(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	s := livesOf(w.servers[0])
	u := w.persons(t, 3)
	me := u[0]
	blog := me.publish(t, "a blog")
	u[1].like(t, blog)
	me.awaitLines(t, 1)
	cursor := me.notices(t, 1, "").Get("edges.0.cursor").String()
	u[1].follow(t, me)
	me.awaitLines(t, 2)
	newest := me.notices(t, 1, "").Get("edges.0.cursor").String()
	hears := s.hear(t, me.id)
	u[2].like(t, blog)
	hears.updated(t, `BLOG_LIKED 2 ["u3_test","u2_test"], 2 unread`)
	same(t, "left unread by a page from before", me.markRead(t, cursor), 2)
	same(t, "left unread", me.markRead(t, newest), 1)
	hears.updated(t, "read, 1 unread")
	hears.end()
}
