package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/notify"
	"kith/social"
	"kith/socialtest"
)

// A line that is one too many, or 90 days old, is dropped with all who are behind it, and what
// it told is told no more; also when the dropping is cut off, or done by two at once.
func TestOldLinesAreDropped(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		const most = 5
		n := notify.New(w.DB, social.NewSnowflake(w.Clock.Now, socialtest.Node(7)), w.Clock.Now, notify.Config{Most: most})
		u := w.persons(t, 12)
		me := u[0]
		rows := func() int64 {
			return w.Int(t, "SELECT COUNT(*) FROM notification WHERE user_id = ?", me.id) +
				w.Int(t, "SELECT COUNT(*) FROM notification_actor WHERE user_id = ?", me.id)
		}
		blog := me.publish(t, "a blog")
		for _, p := range u[1:4] {
			p.like(t, blog)
		}
		for _, p := range u[1:11] {
			w.Clock.Advance(time.Millisecond)
			p.follow(t, me)
		}
		w.tell(t)
		same(t, "lines and those behind them", rows(), 11+13)
		ended, end := context.WithCancel(t.Context())
		end()
		if err := n.Trim(ended); err == nil {
			t.Error("a trim that was cut off told nothing")
		}
		for _, err := range atOnce(2, func(int) error { return n.Trim(t.Context()) }) {
			if err != nil {
				t.Error(err)
			}
		}
		same(t, "lines and those behind them", rows(), most+most)
		want := []string{`FOLLOWED 1 ["u11_test"]`, `FOLLOWED 1 ["u10_test"]`, `FOLLOWED 1 ["u9_test"]`, `FOLLOWED 1 ["u8_test"]`, `FOLLOWED 1 ["u7_test"]`}
		me.tells(t, most, want...)
		w.Exec(t, "UPDATE consumed SET position = 0")
		w.tell(t)
		me.tells(t, most, want...)
		same(t, "lines", w.Int(t, "SELECT line_count FROM notification_list WHERE user_id = ?", me.id), most)

		w.Clock.Advance(90*24*time.Hour + time.Millisecond)
		for _, p := range []*person{&me, &u[11]} { // whose tokens have expired
			p.renew(t, w)
		}
		u[11].follow(t, me)
		w.tell(t)
		if err := n.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		me.tells(t, 1, `FOLLOWED 1 ["u12_test"]`)
		w.Exec(t, "UPDATE consumed SET position = 0")
		w.tell(t)
		me.tells(t, 1, `FOLLOWED 1 ["u12_test"]`)
		same(t, "lines and those behind them", rows(), 2)
	})
}

// renew gives p a new token.
func (p *person) renew(t testing.TB, w *world) {
	t.Helper()
	u, _, err := w.DB.UserWithCredentials(t.Context(), p.id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.accounts.SessionOf(t.Context(), u.Handle)
	if err != nil {
		t.Fatal(err)
	}
	p.Token = s.Token
}

// What somebody has too many of goes by the piece, not line by line: else lines come faster than
// they go, and what reads them all reads more and more.
func TestManyLinesAreDroppedByThePiece(t *testing.T) {
	t.Parallel()
	w := newWorld(t, socialtest.NewMySQL(t))
	const lines = 5000
	me := w.person(t)
	now := w.Clock.NowMS()
	w.Exec(t, "INSERT INTO notification_list (user_id, version, line_count) VALUES (?, 1, ?)", me.id, lines)
	w.Exec(t, fmt.Sprintf(`INSERT INTO notification (user_id, id, kind, subject, open, actor_count, shown, updated_at, grown, version)
		SELECT %d, seq, 1, seq, 0, 1, 1, %d + seq, 1, 1 FROM seq_1_to_%d`, me.id, now, lines))
	w.Exec(t, fmt.Sprintf(`INSERT INTO notification_actor (user_id, kind, subject, actor_id, notification_id, since, hidden)
		SELECT %d, 1, seq, seq, seq, %d + seq, 0 FROM seq_1_to_%d`, me.id, now, lines))
	// As many that show nobody, of whom one may come back, and a very old one with many behind it.
	w.Exec(t, fmt.Sprintf(`INSERT INTO notification (user_id, id, kind, subject, open, actor_count, shown, updated_at, grown, version)
		SELECT %[1]d, %[3]d + seq, 1, %[3]d + seq, 0, 0, 0, %[2]d + seq, 1, 1 FROM seq_1_to_1500`, me.id, now, lines))
	w.Exec(t, fmt.Sprintf(`INSERT INTO notification_actor (user_id, kind, subject, actor_id, notification_id, since, hidden)
		SELECT %[1]d, 1, %[3]d + seq, %[3]d + seq, %[3]d + seq, %[2]d + seq, 1 FROM seq_1_to_1500`, me.id, now, lines))
	w.Exec(t, "INSERT INTO notification VALUES (?, 9999, 4, 9999, 0, 2000, 1, 5, 1, 1)", me.id)
	w.Exec(t, fmt.Sprintf(`INSERT INTO notification_actor (user_id, kind, subject, actor_id, notification_id, since, hidden)
		SELECT %d, 4, 9999, seq, 9999, 5, 0 FROM seq_1_to_2000`, me.id))
	w.Exec(t, "UPDATE notification_list SET line_count = line_count + 1501")
	before, began := w.store.db.Statements(), time.Now()
	if err := w.server.told.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := w.store.db.Statements() - before
	t.Logf("%d statements, %v for %d lines", sent, time.Since(began), lines-1000+501)
	for _, table := range []string{"notification", "notification_actor"} {
		same(t, table, w.Int(t, "SELECT COUNT(*) FROM "+table), 2000)
	}
	same(t, "lines", w.Int(t, "SELECT line_count FROM notification_list"), 2000)
	if sent > 20*lines/100 {
		t.Errorf("%d statements", sent)
	}
}

// A line that is marked takes nobody any more, and tells nobody again who is behind it.
func TestALineThatIsBeingDroppedTakesNobody(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		me := u[0]
		blog := me.publish(t, "a blog")
		for _, p := range u[1:3] {
			w.Clock.Advance(time.Millisecond)
			p.like(t, blog)
		}
		w.tell(t)
		if _, err := w.server.told.Forget(t.Context(), me.id); err != nil { // which marks all of them
			t.Fatal(err)
		}
		w.Exec(t, "UPDATE consumed SET position = 0")
		w.tell(t)
		me.tells(t, 0)
		u[1].unlike(t, blog)
		w.Clock.Advance(time.Millisecond)
		u[3].like(t, blog)
		w.tell(t)
		for range 2 {
			me.tells(t, 1, `BLOG_LIKED 1 ["u4_test"]`)
			if err := w.server.told.Trim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "behind lines", w.Int(t, "SELECT COUNT(*) FROM notification_actor"), 1)
		same(t, "lines", w.Int(t, "SELECT line_count FROM notification_list"), 1)
	})
}

// What a worker comes to after 90 days is not told any more.
func TestWhatIsOldIsNotTold(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		u[1].follow(t, u[0])
		w.Clock.Advance(90*24*time.Hour + time.Millisecond)
		w.tell(t)
		u[0].renew(t, w)
		u[0].tells(t, 0)
	})
}

// A line that shows nobody is dropped, and what is told late, though older, is told all the same.
func TestALineOfNobodyLeavesNoFloor(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me := u[0]
		blog := me.publish(t, "a blog")
		u[2].follow(t, me)
		w.Clock.Advance(time.Millisecond)
		liked := social.LikeBody{Changes: []social.LikeChange{{UserID: u[1].id, BlogID: mustID(t, blog)}}}
		for _, act := range []func(testing.TB, string) gjson.Result{u[1].like, u[1].unlike} {
			act(t, blog)
			if err := w.consume(t, social.LikeEvent, liked)(); err != nil {
				t.Fatal(err)
			}
		}
		if any, err := w.server.told.Forget(t.Context(), me.id); err != nil || !any {
			t.Fatalf("there was something: %v, %v", any, err)
		}
		w.tell(t)
		me.tells(t, 1, `FOLLOWED 1 ["u3_test"]`)
	})
}
