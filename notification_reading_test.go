package main

import (
	"math"
	"testing"
	"time"

	"kith/social"
)

// Who hears of two readings at once hears of the one that went further, and of what is not read.
func TestOfTwoReadingsTheFurtherIsTold(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		me := u[0]
		blog, other := me.publish(t, "a blog"), me.publish(t, "another")
		w.Clock.Advance(time.Minute)
		u[1].follow(t, me)
		w.tell(t)
		watch, err := w.news.Watch(t.Context(), me.id)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		same(t, "left unread", me.markRead(t, ""), 0)
		for i, b := range []string{blog, other} { // told late, so they lie below
			u[2+i].like(t, b)
		}
		w.Exec(t, "UPDATE blog_like SET since = since - user_id % 1000 - 1000")
		w.tell(t)
		page := me.notices(t, 3, "")
		newest := page.Get("edges.0.node.updatedAt").String()
		same(t, "left unread", me.markRead(t, page.Get("edges.2.cursor").String()), 1)
		news, err := watch.News(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		unread := 0
		for i, n := range news {
			switch {
			case n.ReadUpTo != nil && n.ReadUpTo.Time().Format("2006-01-02T15:04:05.000Z") != newest:
				t.Errorf("read up to %v, want %s", n.ReadUpTo.Time(), newest)
			case n.Line != nil && !n.Line.IsRead:
				unread++
				if i != len(news)-1 {
					t.Error("what is not read is told before the reading")
				}
			}
		}
		same(t, "told as not read", unread, 1)
	})
}

// A cursor that nobody was given, of the far future, marks no more than there is, and what is told
// of that is a time of the list.
func TestAReadingGoesNoFurtherThanTheList(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me := u[0]
		u[1].follow(t, me)
		w.tell(t)
		watch, err := w.news.Watch(t.Context(), me.id)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		forged := social.Cursor{MinTime: math.MaxInt64, ID: math.MaxInt64, Version: math.MaxInt64}.Encode(social.NotificationsCursor, me.id)
		same(t, "left unread", me.markRead(t, forged), 0)
		news, err := watch.News(t.Context())
		if err != nil || len(news) != 1 || news[0].ReadUpTo == nil || *news[0].ReadUpTo > w.Clock.NowMS() {
			t.Errorf("heard %+v, %v", news, err)
		}
		past := social.Cursor{MinTime: 1, ID: 1, Version: math.MaxInt64}.Encode(social.NotificationsCursor, me.id)
		w.Clock.Advance(time.Millisecond)
		u[2].follow(t, me)
		w.tell(t)
		same(t, "left unread", me.markRead(t, past), 1)
	})
}

// Somebody who is suspended, and restored before their edges and likes have followed, is told of as
// before, though they were away when their lines were made.
func TestWhoIsRestoredBeforeTheyAreSettledIsTold(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me, fan, asker := u[0], u[1], u[2]
		blog := me.publish(t, "a blog")
		w.Clock.Advance(time.Millisecond)
		fan.like(t, blog)
		w.Clock.Advance(time.Millisecond)
		fan.follow(t, me)
		w.Clock.Advance(time.Millisecond)
		me.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		asker.follow(t, me)
		for _, p := range u[1:] {
			w.setStatus(t, p, social.Suspended)
		}
		w.tell(t)
		if lines, _ := me.told(t); len(lines) > 0 {
			t.Errorf("told %q of those who are away", lines)
		}
		for _, p := range u[1:] {
			w.setStatus(t, p, social.Active)
		}
		w.settleAll(t)
		w.tell(t)
		me.tells(t, 3, `FOLLOW_REQUESTED 1 ["u3_test"]`, `FOLLOWED 1 ["u2_test"]`, `BLOG_LIKED 1 ["u2_test"]`)
	})
}

// However many lines went, one update names a hundred of them.
func TestLinesThatWentAreToldByTheHundred(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		watch, err := w.news.Watch(t.Context(), me.id)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		w.Exec(t, "INSERT INTO notification_list (user_id, version, line_count) VALUES (?, 5, 250)", me.id)
		for _, i := range upTo(250) {
			w.Exec(t, "INSERT INTO notification VALUES (?, ?, 1, ?, 0, 0, 0, 5, 5, 5)", me.id, i+1, i+1)
		}
		news, err := watch.News(t.Context())
		if err != nil || len(news) != 3 || len(news[0].Removed) != 100 || len(news[2].Removed) != 50 {
			t.Errorf("heard %d: %+v, %v", len(news), news, err)
		}
	})
}

// What ended after it was read, and began anew before any worker came, is a new line.
func TestWhatBeganAnewUnseenIsANewLine(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		me := u[0]
		blog := me.publish(t, "a blog")
		u[1].like(t, blog)
		w.tell(t)
		same(t, "left unread", me.markRead(t, ""), 0)
		w.Clock.Advance(time.Millisecond)
		u[1].unlike(t, blog)
		u[1].like(t, blog)
		w.tell(t)
		me.tells(t, 1, `BLOG_LIKED 1 ["u2_test"]`)
	})
}
