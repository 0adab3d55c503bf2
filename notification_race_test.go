package main

import (
	"testing"
	"time"

	"kith/events"
	"kith/social"
	"kith/socialtest"
)

// meet runs first until SQL has answered it the nth statement with a text in it, and then, when
// meanwhile has been done, second, which does not go through here, until it has ended or waits
// for first; then both to their ends.
func (h *heldSQL) meet(t testing.TB, s *socialtest.Store, text string, nth int, first func() error, meanwhile func(), second func() error) {
	t.Helper()
	var g *gate
	ended, done := make(chan error, 2), make(chan struct{})
	for i := range nth {
		next := h.hold(text)
		if i == 0 {
			go func() { ended <- first() }()
		} else {
			g.release()
		}
		g = next
		<-g.held
	}
	meanwhile()
	go func() { defer close(done); ended <- second() }()
	const waits = `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()
		AND COMMAND = 'Query' AND INFO LIKE '%notification_list%' AND TIME_MS > 300` // see awaitLockWait
	for deadline := time.Now().Add(30 * time.Second); !closed(done) && s.Int(t, waits) == 0; pause(nil, time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the second neither ends nor waits")
		}
	}
	h.mend()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// consume hands the makers of lines one event, as a worker of this server.
func (s *server) consume(t testing.TB, kind social.EventKind, body any) func() error {
	return func() error {
		return s.told.Consume(t.Context(), []events.Event{{Event: social.Event{Kind: kind, Body: body}}})
	}
}

// A line that is being made as its actor is hidden or its blog deleted, by a worker that has
// looked a moment before, is hidden by the worker that is told of that meanwhile.
func TestWhatIsHiddenWhileItsLineIsMadeIsHidden(t *testing.T) {
	t.Parallel()
	const walls, authors, statuses = "FROM mute WHERE", "author_id, status FROM blog WHERE id IN", "SELECT id, status FROM user WHERE id IN"
	for name, c := range map[string]struct {
		statement string
		nth       int // it is that of the transaction
		asks      bool
		hide      func(t *testing.T, w *world, me, fan person, blog string) func() error
	}{
		"muted": {walls, 1, false, func(t *testing.T, w *world, me, fan person, _ string) func() error {
			me.relate(t, "mute", fan)
			return w.consume(t, social.FollowEvent, social.FollowBody{Walls: []social.WallChange{{UserID: me.id, TargetID: fan.id}}})
		}},
		"blocks": {walls, 1, false, func(t *testing.T, w *world, me, fan person, _ string) func() error {
			fan.relate(t, "block", me)
			return w.consume(t, social.FollowEvent, social.FollowBody{Walls: []social.WallChange{{UserID: fan.id, TargetID: me.id}}})
		}},
		"deleted": {authors, 2, false, func(t *testing.T, w *world, me, _ person, blog string) func() error {
			me.delete(t, blog)
			return w.consume(t, social.BlogEvent, social.BlogBody{BlogID: mustID(t, blog), AuthorID: me.id, Deleted: true})
		}},
		"suspended": {statuses, 2, true, func(t *testing.T, w *world, _, fan person, _ string) func() error {
			w.setStatus(t, fan, social.Suspended)
			return w.consume(t, social.UserEvent, social.UserBody{UserID: fan.id})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, socialtest.NewMySQL(t))
			sql := newHeldSQL(t, w.Store)
			late := wired(t, w.Store, 3, func(cfg *settings) { cfg.store.MySQL = sql.dsn })
			u := w.persons(t, 2)
			me, fan := u[0], u[1]
			blog := me.publish(t, "a blog")
			var first func() error
			if c.asks {
				me.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
				fan.follow(t, me)
				first = late.consume(t, social.FollowEvent, social.FollowBody{Changes: []social.FollowChange{{UserID: fan.id, TargetID: me.id}}})
			} else {
				fan.like(t, blog)
				first = late.consume(t, social.LikeEvent, social.LikeBody{Changes: []social.LikeChange{{UserID: fan.id, BlogID: mustID(t, blog)}}})
			}
			var hidden func() error
			sql.meet(t, w.Store, c.statement, c.nth, first,
				func() { hidden = c.hide(t, w, me, fan, blog) }, func() error { return hidden() })
			me.tells(t, 0)
			same(t, "lines that show somebody", w.Int(t, "SELECT COUNT(*) FROM notification WHERE shown = 1"), 0)
		})
	}
}

// Whoever is behind a line that is being dropped, and begins anew meanwhile, is behind the new
// line, and goes from there.
func TestWhoBeginsAnewWhileTheirLineIsDroppedIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, socialtest.NewMySQL(t))
	sql := newHeldSQL(t, w.Store)
	trims := wired(t, w.Store, 3, func(cfg *settings) { cfg.store.MySQL = sql.dsn })
	u := w.persons(t, 2)
	me, fan := u[0], u[1]
	fan.follow(t, me)
	w.tell(t)
	w.Exec(t, "UPDATE notification SET updated_at = 5")
	w.Exec(t, "UPDATE notification_actor SET since = 5") // long ago, and anew since
	sql.meet(t, w.Store, "FROM notification_actor WHERE user_id", 1, func() error { return trims.told.Trim(t.Context()) }, func() {},
		w.consume(t, social.FollowEvent, social.FollowBody{Changes: []social.FollowChange{{UserID: fan.id, TargetID: me.id}}}))
	me.tells(t, 1, `FOLLOWED 1 ["u2_test"]`)
	same(t, "behind it", w.Int(t, "SELECT COUNT(*) FROM notification_actor"), 1)
	fan.unfollow(t, me)
	w.tell(t)
	me.tells(t, 0)
}

// A line that has grown since it was found to be old is kept.
func TestALineThatGrowsWhileItIsDroppedIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, socialtest.NewMySQL(t))
	sql := newHeldSQL(t, w.Store)
	trims := wired(t, w.Store, 3, func(cfg *settings) { cfg.store.MySQL = sql.dsn })
	u := w.persons(t, 3)
	me := u[0]
	blog := me.publish(t, "a blog")
	u[1].like(t, blog)
	w.tell(t)
	w.Exec(t, "UPDATE notification SET updated_at = 5")
	w.Clock.Advance(time.Millisecond)
	u[2].like(t, blog)
	sql.meet(t, w.Store, "FROM notification WHERE updated_at <", 1, func() error { return trims.told.Trim(t.Context()) }, func() {},
		w.consume(t, social.LikeEvent, social.LikeBody{Changes: []social.LikeChange{{UserID: u[2].id, BlogID: mustID(t, blog)}}}))
	me.tells(t, 1, `BLOG_LIKED 2 ["u3_test","u2_test"]`)
}
