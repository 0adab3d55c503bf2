package feed_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"kith/cache"
	"kith/db"
	"kith/events"
	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// liveRig is a hub at work over rows that the test writes, which hears what the test tells.
type liveRig struct {
	*testing.T
	*socialtest.Store
	feed *feed.Feed
	live *feed.Live
	// now is called when the hub asks for the time; nil for nothing.
	now func()
	seq int64
}

// eachLive runs the test on every kind of store; people 1 to 9 are there.
func eachLive(t *testing.T, test func(r *liveRig)) {
	t.Helper()
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) { test(newLiveRig(t, s)) })
}

func newLiveRig(t *testing.T, s *socialtest.Store) *liveRig {
	t.Helper()
	r := &liveRig{T: t, Store: s}
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		for id := social.ID(1); id <= 9; id++ {
			if err := tx.InsertUser(t.Context(), &social.User{ID: id, Handle: "user" + id.String(), Name: "x"}, ""); err != nil {
				return err
			}
		}
		return nil
	}))
	clock := func() time.Time {
		if r.now != nil {
			r.now()
		}
		return s.Clock.Now()
	}
	r.feed = feed.New(s.DB, cache.None(s.DB), s.IDs, clock, feed.Config{})
	r.open()
	r.seen()
	return r
}

// open begins with another hub, whose tail has not looked yet.
func (r *liveRig) open() {
	r.live = feed.NewLive(r.feed, slog.New(slog.NewTextHandler(r.Output(), nil)))
	live := r.live
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = live.Run(ctx) }()
	r.Cleanup(func() { stop(); <-ended })
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// follows writes that a person follows another, and no event.
func (r *liveRig) follows(who social.ID, targets ...social.ID) {
	r.Helper()
	for _, t := range targets {
		r.Exec(r, "INSERT INTO following (user_id, target_id, state, since) VALUES (?, ?, 1, 5)", who, t)
	}
}

// row writes a blog whose id is of so long ago, and no event.
func (r *liveRig) row(author social.ID, ago time.Duration) social.BlogRef {
	r.Helper()
	r.seq++
	id := social.FirstIDAt(r.Clock.NowMS()-social.Millis(ago.Milliseconds())) + social.ID(r.seq)
	r.Exec(r, "INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES (?, ?, 0, 't', 'c', '[]')", id, author)
	return social.BlogRef{ID: id, AuthorID: author}
}

// event is of a blog, in a lane of its own, written so many ms after the rig's beginning.
func (r *liveRig) event(b social.BlogRef, at social.Millis) events.Event {
	r.seq++
	return events.Event{Lane: int(r.seq % 16), Seq: r.seq, At: at, Event: social.Event{
		Kind: social.BlogEvent, Body: social.BlogBody{BlogID: b.ID, AuthorID: b.AuthorID},
	}}
}

// change is of an edge.
func (r *liveRig) change(who, target social.ID, to social.FollowState, version int64, at social.Millis) events.Event {
	r.seq++
	return events.Event{Lane: int(r.seq % 16), Seq: r.seq, At: at, Event: social.Event{
		Kind: social.FollowEvent, Body: social.FollowBody{Changes: []social.FollowChange{
			{UserID: who, TargetID: target, State: to, Since: 5, Version: version},
		}},
	}}
}

// seen ends a look of the tail that has heard these.
func (r *liveRig) seen(evs ...events.Event) {
	for _, e := range evs { // of one lane each
		r.live.Heard([]events.Event{e})
	}
	r.live.Seen(r.Clock.Now())
}

func (r *liveRig) subscribe(who social.ID, since *social.Cursor) *feed.Subscription {
	r.Helper()
	s, err := r.live.Subscribe(r.Context(), who, since)
	noError(r, err)
	r.Cleanup(s.Close)
	return s
}

// gets asks that the next blogs of a subscription are these.
func (r *liveRig) gets(s *feed.Subscription, want ...social.BlogRef) {
	r.Helper()
	for i, w := range want {
		e, err := r.next(s)
		if err != nil || e.Blog.ID != w.ID || e.Author.ID != w.AuthorID || e.Cursor.ID != w.ID {
			r.Fatalf("the %dth: %+v, %v, want %v", i, e, err, w)
		}
	}
}

// getsNoMore asks that nothing waits: what is published now comes next.
func (r *liveRig) getsNoMore(s *feed.Subscription, author social.ID) {
	r.Helper()
	last := r.row(author, 0)
	r.seen(r.event(last, 1<<40))
	r.gets(s, last)
}

func (r *liveRig) next(s *feed.Subscription) (feed.Entry, error) {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	return s.Next(ctx)
}

// at is the place in a feed of so long ago.
func (r *liveRig) at(ago time.Duration) *social.Cursor {
	ms := r.Clock.NowMS() - social.Millis(ago.Milliseconds())
	return &social.Cursor{MinTime: ms, ID: social.FirstIDAt(ms)}
}

func (r *liveRig) wants(what string, err error, code social.Code) {
	r.Helper()
	if !social.HasCode(err, code) {
		r.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (r *liveRig) size(what string, viewers, authors int) {
	r.Helper()
	if v, a := r.live.Size(); v != viewers || a != authors {
		r.Errorf("%s: %s", what, fmt.Sprintf("%d viewers of %d authors, want %d of %d", v, a, viewers, authors))
	}
}
