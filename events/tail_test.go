package events_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/events"
	"kith/social"
	"kith/socialtest"
)

// tail is one that is looked with by hand, on the clock of the store.
func tail(t testing.TB, s *socialtest.Store) (*events.Tail, *seen) {
	t.Helper()
	got := newSeen()
	tl := events.NewTail(s.DB, events.NewBell(nil), quiet, got.tail, got.gap)
	tl.SetClock(s.Clock.Now)
	noError(t, tl.Look(t.Context()))
	return tl, got
}

// sees checks what one more look brings: how many users and gaps there are after it.
func sees(t testing.TB, tl *events.Tail, got *seen, users, gaps int) {
	t.Helper()
	noError(t, tl.Look(t.Context()))
	equal(t, "users", got.users(), users)
	equal(t, "gaps", got.gaps, gaps)
	got.inOrder(t)
}

func TestTailSeesEveryEventOfParallelWritersOnceInTheOrderOfItsLane(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		publishUsers(t, s.DB, 1001, 1010)
		bell, got, begun := events.NewBell(nil), newSeen(), make(chan struct{})
		s.DB.OnEvents(bell.Ring)
		start(t, bell.Run)
		tl := events.NewTail(s.DB, bell, quiet, got.tail, got.gap)
		noError(t, tl.Look(t.Context())) // what was before is none of its business
		close(begun)
		start(t, tl.Run)
		var writers sync.WaitGroup
		for w := range social.ID(4) {
			writers.Go(func() { <-begun; publishUsers(t, s.DB, w*60+1, w*60+60) })
		}
		writers.Wait()
		eventually(t, "all are seen", func() bool { return got.users() == 240 })
		got.inOrder(t)
		equal(t, "gaps", got.gaps, 0)
	})
}

func TestTailBeginsNow(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		publishUsers(t, s.DB, 1, 10)
		tl, got := tail(t, s)
		sees(t, tl, got, 0, 0)
		publishUsers(t, s.DB, 11, 13)
		sees(t, tl, got, 3, 0)
		before := s.DB.Statements()
		sees(t, tl, got, 3, 0)
		equal(t, "statements of an idle look", s.DB.Statements()-before, 1)
	})
}

func TestEventsThatWereTrimmedUnseenAreAGap(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		tl, got := tail(t, s)
		fill(t, s, 20, s.Clock.NowMS())
		s.Exec(t, "DELETE FROM outbox WHERE seq = 1")
		sees(t, tl, got, 0, 1)
		fill(t, s, 5, s.Clock.NowMS())
		sees(t, tl, got, 5, 1)
		fill(t, s, 5, s.Clock.NowMS())
		s.Exec(t, "DELETE FROM outbox")
		sees(t, tl, got, 5, 2)
		sees(t, tl, got, 5, 2)
	})
}

func TestTailThatIsTooFarBehindSkips(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		tl, got := tail(t, s)
		fill(t, s, events.MaxBehind, s.Clock.NowMS())
		sees(t, tl, got, events.MaxBehind, 0)
		fill(t, s, events.MaxBehind+1, s.Clock.NowMS())
		sees(t, tl, got, events.MaxBehind, 1)
	})
}

func TestTailThatCouldNotLookForLongSkips(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		tl, got := tail(t, s)
		fill(t, s, 5, s.Clock.NowMS())
		s.Clock.Advance(9 * time.Second)
		sees(t, tl, got, 5, 0)
		fill(t, s, 5, s.Clock.NowMS())
		s.Clock.Advance(11 * time.Second)
		sees(t, tl, got, 5, 1)
		fill(t, s, 5, s.Clock.NowMS())
		sees(t, tl, got, 10, 1)
	})
}

func TestTailThatCouldNotBeginAtOnceTellsAGap(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		got := newSeen()
		tl := events.NewTail(s.DB, events.NewBell(nil), quiet, got.tail, got.gap)
		tl.SetClock(s.Clock.Now)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := tl.Look(ended); err == nil {
			t.Error("it has looked")
		}
		fill(t, s, 5, s.Clock.NowMS())
		sees(t, tl, got, 0, 1)
	})
}

// A store that is restored from a backup gives the same numbers to other events.
func TestStoreThatWentBackIsAGap(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 20, s.Clock.NowMS())
		tl, got := tail(t, s)
		s.Exec(t, "DELETE FROM outbox WHERE seq > 10")
		s.Exec(t, "UPDATE lane SET seq = 10 WHERE lane = 0")
		sees(t, tl, got, 0, 1)
		fill(t, s, 2, s.Clock.NowMS())
		sees(t, tl, got, 2, 1)
	})
}

func TestPanicOfATailsHandlerIsAGap(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		gaps := 0
		tl := events.NewTail(s.DB, events.NewBell(nil), quiet, func([]events.Event) { panic("fault") }, func() { gaps++ })
		tl.SetClock(s.Clock.Now)
		noError(t, tl.Look(t.Context()))
		fill(t, s, 5, s.Clock.NowMS())
		noError(t, tl.Look(t.Context()))
		equal(t, "gaps", gaps, 1)
	})
}

// Who is told that all was seen up to a time has been handed all that was committed before,
// or told of a gap: by the same goroutine, first.
func TestTailTellsUpToWhenAllIsSeen(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		tl, got := tail(t, s)
		var told []string
		tl.OnSeen(func(at time.Time) {
			equal(t, "seen at", at, s.Clock.Now())
			told = append(told, fmt.Sprint(got.users(), " users, ", got.gaps, " gaps"))
		})
		sees(t, tl, got, 0, 0)
		fill(t, s, 5, s.Clock.NowMS())
		s.Clock.Advance(time.Second)
		sees(t, tl, got, 5, 0)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := tl.Look(ended); err == nil {
			t.Error("it has looked")
		}
		fill(t, s, 5, s.Clock.NowMS())
		s.Exec(t, "DELETE FROM outbox")
		s.Clock.Advance(time.Second)
		sees(t, tl, got, 5, 1)
		equal(t, "told", strings.Join(told, "; "), "0 users, 0 gaps; 5 users, 0 gaps; 5 users, 1 gaps")
	})
}

func TestTailPassesByWhatItCannotRead(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		tl, got := tail(t, s)
		fill(t, s, 5, s.Clock.NowMS())
		s.Exec(t, "UPDATE outbox SET kind = 'newer' WHERE seq = 2")
		s.Exec(t, "UPDATE outbox SET body = 'garbage' WHERE seq = 5")
		sees(t, tl, got, 3, 0)
	})
}
