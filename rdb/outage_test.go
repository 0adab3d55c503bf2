package rdb_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/rdb"
	"kith/socialtest"
)

// outage is a server whose Redis can fail, with the clocks of windows and of the breaker.
type outage struct {
	*socialtest.Proxy
	redis   *rdb.Redis // by way of the proxy
	look    *rdb.Redis // straight
	limiter *rdb.Limiter
	clock   *socialtest.Clock
	breaker *socialtest.Clock
	log     *logged
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	o := &outage{clock: socialtest.NewClock(), breaker: socialtest.NewClock(), log: &logged{}}
	o.clock.Set(start)
	o.Proxy, o.redis = throughProxy(t)
	o.look = open(t, urlOf(t, "KITH_TEST_REDIS"))
	o.limiter = rdb.NewLimiter(o.redis, o.clock.Now, slog.New(slog.NewTextHandler(o.log, nil)))
	o.limiter.SetBreakerClock(o.breaker.Now)
	return o
}

func (o *outage) logs(t *testing.T, want ...string) {
	t.Helper()
	lines := o.log.all()
	ok := len(lines) == len(want)
	for i := range min(len(lines), len(want)) {
		ok = ok && strings.Contains(lines[i], want[i])
	}
	if !ok {
		t.Errorf("logged %q, want %q", lines, want)
	}
}

// recovered lets the seconds pass until Redis is asked and answers. After many failures
// the driver itself tries once a true second.
func (o *outage) recovered(t *testing.T) {
	t.Helper()
	answered := func() bool {
		o.breaker.Advance(20 * time.Millisecond)
		who := someone()
		noError(t, o.limiter.Take(t.Context(), who, 1, minute))
		n, err := o.look.Client().Exists(t.Context(), rdb.Keys(who, minute)...).Result()
		return err == nil && n == 1
	}
	o.breaker.Advance(time.Second)
	for deadline := time.Now().Add(20 * time.Second); !answered(); time.Sleep(10 * time.Millisecond) { //nolint:forbidigo // true time passes
		if time.Now().After(deadline) {
			t.Fatal("it does not recover")
		}
	}
}

func TestServerLimitsByItselfWhileRedisIsAwayAndRecovers(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	other := rdb.NewLimiter(o.look, o.clock.Now, slog.New(slog.DiscardHandler))
	who := someone()
	if n := passes(t, o.limiter, 5, who, minute); n != 5 {
		t.Fatalf("%d passed", n)
	}
	o.Cut()
	if n := passes(t, o.limiter, 50, who, minute, day); n != 20 {
		t.Errorf("%d passed without Redis, want 20", n)
	}
	for range 10 { // every second one asks, in vain
		o.breaker.Advance(time.Second)
		if n := passes(t, o.limiter, 5, who, minute); n != 0 {
			t.Errorf("%d more passed", n)
		}
	}
	o.logs(t, "does not answer")
	o.Mend(t)
	if n := passes(t, o.limiter, 1, who, minute); n != 0 {
		t.Error("Redis was asked within the second")
	}
	o.recovered(t)
	if n := passes(t, o.limiter, 7, who, minute); n != 7 { // five are in Redis
		t.Errorf("%d passed after the recovery, want 7", n)
	}
	if n := passes(t, other, 30, who, minute); n != 8 {
		t.Errorf("another server let %d through, want 8", n)
	}
	o.logs(t, "does not answer", "answers again")
}

func TestAnotherOutageIsLoggedAgainButNotAFlicker(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	who := someone()
	for range 3 {
		o.Cut()
		passes(t, o.limiter, 2, who, minute)
		o.Mend(t)
		o.recovered(t)
	}
	o.logs(t, "does not answer", "answers again")
	o.breaker.Advance(2 * time.Minute)
	o.Cut()
	passes(t, o.limiter, 2, who, minute)
	o.logs(t, "does not answer", "answers again", "does not answer")
}

// Of all who ask in 5 s of a Redis that takes connections and never answers, those before
// the first time-out wait, and then one a second. Counted, not timed.
func TestBlackHoleHoldsOneCallerASecond(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	who := someone()
	passes(t, o.limiter, 1, who, minute)
	o.BlackHole()
	before := o.redis.Commands()
	passes(t, o.limiter, 1, someone(), minute)
	for range 5 {
		o.breaker.Advance(time.Second)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { passes(t, o.limiter, 20, who, minute) })
		}
		wg.Wait()
	}
	if waited := o.redis.Commands() - before; waited != 6 {
		t.Errorf("%d of 5,001 waited for Redis, want 6", waited)
	}
	if n := passes(t, o.limiter, 5, who, minute); n != 0 {
		t.Errorf("%d more passed in the black hole", n)
	}
	o.logs(t, "does not answer")
	o.Mend(t)
	o.recovered(t)
	o.logs(t, "does not answer", "answers again")
}

// A caller whose time is over says nothing about Redis, and does not stop the next probe.
func TestCallerWhoGivesUpIsNoOutage(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	passes(t, o.limiter, 1, someone(), minute)
	o.BlackHole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := o.limiter.Take(ctx, someone(), 1, minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	o.logs(t)
	passes(t, o.limiter, 1, someone(), minute)
	o.logs(t, "does not answer")

	o.breaker.Advance(time.Second)
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := o.limiter.Take(ctx, someone(), 1, minute); !errors.Is(err, context.DeadlineExceeded) { // the probe
		t.Errorf("got %v", err)
	}
	o.Mend(t)
	o.recovered(t)
	o.logs(t, "does not answer", "answers again")
}
