package rdb_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"kith/rdb"
	"kith/social"
)

var (
	minute = rdb.Policy{What: "minute", Max: 20, Window: time.Minute}
	day    = rdb.Policy{What: "day", Max: 30, Window: 24 * time.Hour}
)

// SEC-2 of the cases: what comes in at once from many servers.
func TestParallelTakesOfTwoServersLetExactlyMaxThrough(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		limiters, who := []*rdb.Limiter{w.limiter(w.a), w.limiter(w.b)}, someone()
		var passed atomic.Int64
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { passed.Add(int64(passes(t, limiters[i%2], 20, who, minute))) })
		}
		wg.Wait()
		if passed.Load() != minute.Max {
			t.Errorf("%d of 1,000 passed, want %d", passed.Load(), minute.Max)
		}
	})
}

func TestServersShareWindowsAndPeopleDoNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a, b, who := w.limiter(w.a), w.limiter(w.b), someone()
		if n := passes(t, a, 12, who, minute) + passes(t, b, 12, who, minute); n != 20 {
			t.Errorf("%d passed", n)
		}
		if n := passes(t, b, 21, someone(), minute); n != 20 {
			t.Errorf("another: %d passed", n)
		}
		other := minute
		other.What = "other"
		if n := passes(t, b, 21, who, other); n != 20 {
			t.Errorf("another policy: %d passed", n)
		}
	})
}

func TestPoliciesOfOneTakeAreAllOrNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		if n := passes(t, l, 25, who, minute, day); n != 20 {
			t.Fatalf("%d passed", n)
		}
		// The five that the minute refused are not in the day: ten are left of it.
		w.clock.Advance(2 * time.Minute)
		if n := passes(t, l, 15, who, day, minute); n != 10 {
			t.Errorf("%d passed, want what is left of the day", n)
		}
		if n := passes(t, l, 15, who, minute); n != 10 { // nor were those the day refused in the minute
			t.Errorf("%d passed, want what is left of the minute", n)
		}
		if wait := take(t, l, who, minute, day); wait < 23*time.Hour {
			t.Errorf("wait %s, want that of the day", wait)
		}
	})
}

func TestRetryAfterIsExact(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.limiter(w.a)
		for _, p := range []rdb.Policy{minute, {What: "one", Max: 1, Window: time.Minute}, {What: "odd", Max: 7, Window: 61_001 * time.Millisecond}} {
			who := someone()
			for _, pause := range []time.Duration{0, 59_999, 1, 1, 30_000, 777, 200_000, 59_000} {
				w.clock.Advance(pause * time.Millisecond)
				wait := take(t, l, who, p)
				for wait == 0 {
					wait = take(t, l, who, p)
				}
				w.clock.Advance(wait - time.Millisecond)
				if got := take(t, l, who, p); got != time.Millisecond {
					t.Errorf("%s: 1 ms early: %s left", p.What, got)
				}
				w.clock.Advance(time.Millisecond)
				if got := take(t, l, who, p); got != 0 {
					t.Errorf("%s: after retryAfter: %s left", p.What, got)
				}
			}
		}
	})
}

func TestClockThatStepsBackLosesNoCount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		w.clock.Advance(10 * time.Millisecond)
		if n := passes(t, l, 15, who, minute); n != 15 {
			t.Fatalf("%d passed", n)
		}
		w.clock.Advance(-5 * time.Second)
		if n := passes(t, l, 15, who, minute); n != 5 {
			t.Errorf("%d passed after the step, want 5", n)
		}
		if wait := take(t, l, who, minute); wait != time.Minute {
			t.Errorf("wait %s, want a minute: by then Redis has forgotten", wait)
		}
		w.clock.Advance(5*time.Second + time.Minute - 10*time.Millisecond)
		if n := passes(t, l, 5, who, minute); n != 0 {
			t.Errorf("%d passed 10 ms before the minute was over", n)
		}
		w.clock.Advance(-72 * time.Hour) // out of all reason: it is told to come back when Redis has forgotten
		if wait := take(t, l, who, minute); wait != time.Minute {
			t.Errorf("wait %s", wait)
		}
	})
}

// The script decides as the Go function does, whatever happens, also with clocks apart.
func TestScriptIsTheFormula(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.limiter(w.a)
		rapid.Check(t, func(t *rapid.T) {
			var ps []rdb.Policy
			for i := range rapid.IntRange(1, 3).Draw(t, "policies") {
				ps = append(ps, rdb.Policy{What: string(rune('a' + i)), Max: rapid.Int64Range(1, 9).Draw(t, "max"),
					Window: time.Duration(rapid.Int64Range(60_000, 200_000).Draw(t, "window")) * time.Millisecond})
			}
			oracle, who, now := rdb.NewLocal(3), someone(), rapid.Int64Range(1e12, 3e12).Draw(t, "start")
			for range rapid.IntRange(1, 40).Draw(t, "takes") {
				now += rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 3000), rapid.Int64Range(-3000, 300_000)).Draw(t, "step")
				some := ps[:rapid.IntRange(1, len(ps)).Draw(t, "of")]
				n := int64(9)
				for _, p := range some {
					n = min(n, p.Max)
				}
				n = rapid.Int64Range(1, n).Draw(t, "n")
				got, err := l.Shared(context.Background(), who, now, n, some...)
				want := oracle.Take(who, now, n, some...)
				if err != nil || got != want {
					t.Fatalf("at %d: script %d, Go %d, %v", now, got, want, err)
				}
			}
		})
	})
}

// INF-2 of the cases.
func TestForgottenScriptIsLoadedAgainAndCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		for i := range 5 {
			noError(t, w.b.Client().ScriptFlush(t.Context()).Err())
			if wait := take(t, l, who, minute); wait != 0 {
				t.Errorf("take %d: wait %s", i, wait)
			}
		}
		if n := passes(t, l, 20, who, minute); n != 15 {
			t.Errorf("%d more passed: the first five did not count once each", n)
		}
	})
}

func TestTakeIsOneRoundTripWhateverTheNumberOfPolicies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		trips := func() int64 {
			before := w.a.Commands()
			passes(t, l, 1, who, minute, day)
			return w.a.Commands() - before
		}
		for range 40 { // refused ones too
			n := trips()
			for range 10 { // another test made Redis forget the script
				if n > 1 {
					n = trips()
				}
			}
			if n != 1 {
				t.Fatalf("%d round trips", n)
			}
		}
		before := w.a.Commands()
		_, err := w.a.Client().Pipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Get(t.Context(), who)
			p.Get(t.Context(), who)
			return nil
		})
		if n := w.a.Commands() - before; n < 1 || n > 2 || !errors.Is(err, redis.Nil) { // 2: a new connection
			t.Errorf("a pipeline is %d round trips, %v", n, err)
		}
	})
}

func TestWindowsLiveForTheirLength(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		short := rdb.Policy{What: "short", Max: 1, Window: 40 * time.Millisecond}
		passes(t, l, 25, who, minute, day)
		passes(t, l, 2, who, short)
		for _, p := range []rdb.Policy{minute, day} {
			key := rdb.Keys(who, p)[0]
			left, err := w.b.Client().PTTL(t.Context(), key).Result()
			if err != nil || left > p.Window || left < p.Window-time.Minute {
				t.Errorf("%s lives for %s, %v", key, left, err)
			}
			if size, err := w.b.Client().LLen(t.Context(), key).Result(); err != nil || size > 20 {
				t.Errorf("%s has %d entries, %v", key, size, err)
			}
		}
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) { //nolint:forbidigo // time passes in Redis
			n, err := w.b.Client().Exists(t.Context(), rdb.Keys(who, short)...).Result()
			noError(t, err)
			if n == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the window is still there")
			}
		}
		if wait := take(t, l, who, short); wait != 0 { // the clock of the server has not moved
			t.Errorf("a window that is gone still counts: wait %s", wait)
		}
	})
}

func TestEndOfTheContextIsItsError(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, who := w.limiter(w.a), someone()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Take(ctx, who, 1, minute); !errors.Is(err, context.Canceled) || social.HasCode(err, social.RateLimited) {
			t.Errorf("got %v", err)
		}
		if n := passes(t, l, 25, who, minute); n != 20 {
			t.Errorf("%d passed", n)
		}
	})
}
