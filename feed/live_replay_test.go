package feed_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"kith/events"
	"kith/social"
)

// A blog may be committed with an id some seconds old: a replay looks back, not farther.
func TestAReplayLooksBackTenSeconds(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		r.row(2, time.Minute+10*time.Second+time.Millisecond)
		late := r.row(2, time.Minute+9*time.Second)
		after := r.row(2, time.Second)
		r.row(3, 0)
		s := r.subscribe(1, r.at(time.Minute))
		r.gets(s, late, after)
		r.getsNoMore(s, 2)
	})
}

// 800 blogs are replayed, oldest first, whatever lies within the seconds before; one more is
// LIMIT_EXCEEDED.
func TestAReplayHasAtMost800New(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		var want []social.BlogRef
		for i := range 850 {
			ago := time.Minute - time.Duration(i)*time.Millisecond
			if i < 50 { // before since
				ago += time.Second
			}
			want = append(want, r.row(2, ago))
		}
		since := r.at(time.Minute)
		s := r.subscribe(1, since)
		r.gets(s, want...)
		r.getsNoMore(s, 2) // which is the 801st
		_, err := r.live.Subscribe(r.Context(), 1, since)
		r.wants("801", err, social.LimitExceeded)
		r.size("the refused is gone", 1, 1)
	})
}

// Who does not read falls out at 800 that wait, is told why, and holds nothing.
func TestASlowReaderIsToldToReload(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		r.follows(4, 2)
		slow, quick := r.subscribe(1, nil), r.subscribe(4, nil)
		for range 801 {
			b := r.row(2, 0)
			r.seen(r.event(b, 1))
			r.gets(quick, b)
		}
		<-slow.Failed()
		_, err := r.next(slow)
		r.wants("next", err, social.LimitExceeded)
		r.size("one is left", 1, 1)
		slow.Close()
		r.getsNoMore(quick, 2)
	})
}

// What the tail has missed is replayed, to each subscription where it stands; a follow that
// was missed is known.
func TestAGapIsReplayed(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2, 3)
		slow, quick := r.subscribe(1, nil), r.subscribe(1, nil)
		before, more := r.row(2, 2*time.Second), r.row(3, time.Second)
		r.seen(r.event(before, 1), r.event(more, 1))
		r.gets(quick, before, more)
		missed := r.row(2, 0)
		r.follows(1, 4)
		missedToo := r.row(4, 0)
		r.live.Missed()
		after := r.row(4, 0)
		r.seen(r.event(after, 2))
		r.gets(quick, missed, missedToo, after)
		r.gets(slow, before, more, missed, missedToo, after)
		r.getsNoMore(slow, 4)
	})
}

// A gap is replayed from where all had been sent, however long ago; told twice, it is one.
func TestAGapIsReplayedFromItsBeginning(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		s := r.subscribe(1, nil)
		r.Clock.Advance(time.Minute)
		missed := r.row(2, 30*time.Second)
		r.live.Missed()
		r.live.Missed()
		r.gets(s, missed)
		r.getsNoMore(s, 2)
	})
}

// Of many ids the oldest are forgotten, but none that a replay may read again; and it reads
// what came since the last look, not all since the subscription began.
func TestAnIDComesOnceHoweverManyCame(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		s := r.subscribe(1, nil)
		sends := func() {
			b := r.row(2, 0)
			r.seen(r.event(b, 1))
			r.gets(s, b)
		}
		for range 801 {
			sends()
		}
		r.Clock.Advance(5 * time.Second)
		sends()
		sends() // so all is known to have been sent up to the one before
		r.live.Missed()
		r.getsNoMore(s, 2)
	})
}

// Nor is one forgotten that still waits, since it was replayed and heard, however old it is.
func TestAnIDComesOnceHoweverLongItWaits(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		listener := r.subscribe(1, nil) // so that what is heard is known to be queued
		hears := func(blogs ...social.BlogRef) {
			var evs []events.Event
			for _, b := range blogs {
				evs = append(evs, r.event(b, 1))
			}
			r.seen(evs...)
			r.gets(listener, blogs...)
		}
		var replayed []social.BlogRef
		for range 800 {
			replayed = append(replayed, r.row(2, time.Second))
		}
		unread, both := r.row(2, time.Minute), replayed[799]
		r.now = func() { // when it registers; then when it is about to read
			r.now = func() { r.now = nil; hears(unread, both) }
		}
		s := r.subscribe(1, r.at(2*time.Second))
		r.gets(s, replayed...)
		r.Clock.Advance(20 * time.Second)
		next, last := r.row(2, 0), r.row(2, 0)
		hears(next)
		hears(last) // so all is known to have been sent up to the one before
		r.gets(s, unread, next, last)
	})
}

// More than 800 missed: reload.
func TestAGapTooLargeEndsTheSubscription(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		s := r.subscribe(1, nil)
		r.Clock.Advance(time.Second)
		for range 801 {
			r.row(2, 0)
		}
		r.live.Missed()
		r.live.Seen(r.Clock.Now())
		_, err := r.next(s)
		r.wants("next", err, social.LimitExceeded)
	})
}

// A server that ends tells all, and takes no more until it works again.
func TestTheEndOfTheServerEndsSubscriptions(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		s, other := r.subscribe(1, nil), r.subscribe(4, nil)
		r.live.End()
		for _, s := range []interface{ Failed() <-chan struct{} }{s, other} {
			<-s.Failed()
		}
		_, err := r.next(s)
		r.wants("next", err, social.Unavailable)
		_, err = r.live.Subscribe(r.Context(), 1, nil)
		r.wants("subscribe", err, social.Unavailable)
		r.size("nobody", 0, 0)
	})
}

// Whoever waits goes when their context ends.
func TestNextEndsWithItsContext(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		s := r.subscribe(1, nil)
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
			r.Error(err)
		}
		s.Close()
		s.Close()
		r.size("closed twice", 0, 0)
	})
}
