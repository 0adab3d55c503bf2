package rdb_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

// hear listens until stop, which waits for the end, and counts.
func hear(t testing.TB, r *rdb.Redis) (heard *atomic.Int64, stop func()) {
	t.Helper()
	heard = &atomic.Int64{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Rings(ctx, func() { heard.Add(1) }) }()
	t.Cleanup(cancel)
	return heard, func() {
		cancel()
		select {
		case err := <-ended:
			noError(t, err)
		case <-time.After(20 * time.Second):
			t.Error("it listens on after the end of its context")
		}
	}
}

// until polls a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func TestRingIsHeardByEveryServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		atA, stopA := hear(t, w.a)
		atB, stopB := hear(t, w.b)
		until(t, "both listen", func() bool { return atA.Load() > 0 && atB.Load() > 0 })
		for range 3 { // other tests ring too, so more may be heard
			a, b := atA.Load(), atB.Load()
			noError(t, w.a.Ring(t.Context()))
			until(t, "both hear", func() bool { return atA.Load() > a && atB.Load() > b })
		}
		stopA()
		stopB()
	})
}

func TestListenerConnectsAgain(t *testing.T) {
	t.Parallel()
	p, r := throughProxy(t)
	heard, stop := hear(t, r)
	until(t, "it listens", func() bool { return heard.Load() > 0 })
	p.Cut()
	if err := r.Ring(t.Context()); !social.HasCode(err, social.Unavailable) {
		t.Errorf("ringing without Redis: %v", err)
	}
	before := heard.Load()
	p.Mend(t)
	// Nobody needs to ring: that it listens again is as good as a ring.
	until(t, "it listens again", func() bool { return heard.Load() > before })
	stop()
}

func TestListenerEndsWithItsContextWithoutRedis(t *testing.T) {
	t.Parallel()
	r, err := rdb.Open(rdb.Config{URL: "redis://127.0.0.1:1"})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	heard, stop := hear(t, r)
	stop()
	if heard.Load() != 0 {
		t.Error("it has heard something")
	}
}
