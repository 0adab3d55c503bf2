package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"kith/cache"
	"kith/rdb"
	"kith/socialtest"
)

// P2, while Redis is killed and started, emptied, frozen and thawed, or some servers are cut
// off from it and others are not. The caches come back each time before the next fault.
func TestAPersonReadsTheirWritesWhileRedisFails(t *testing.T) {
	links := make([]*socialtest.Proxy, 2)
	for name, open := range map[string]func(t *testing.T) (*cachedWorld, []fault){
		"mysql and redis": func(t *testing.T) (*cachedWorld, []fault) {
			r := socialtest.NewRedis(t)
			for i := range links {
				links[i] = socialtest.NewProxy(t, r.Addr())
			}
			w := newCachedWorld(t, socialtest.NewMySQL(t), r, 2, func(i int, cfg *settings) {
				cfg.clock, cfg.redis = nil, "redis://"+links[i].Addr()
			})
			faults := append(redisFaults(t, r), linkFaults(t, links)...)
			return w, faults
		},
		"mysql and cluster": func(t *testing.T) (*cachedWorld, []fault) {
			r := socialtest.NewRedisCluster(t)
			faults := redisFaults(t, r)[2:] // of all nodes: to start takes seconds
			for _, n := range r.Nodes() {
				faults = append(faults, fault{"freeze a node", func() { n.Freeze(t) }, func() { n.Thaw(t) }})
			}
			return newCachedWorld(t, socialtest.NewMySQL(t), r, 2, trueTime), faults
		},
		"embedded": func(t *testing.T) (*cachedWorld, []fault) {
			r := newEmbedded(t)
			return newCachedWorld(t, socialtest.NewSQLite(t), r, 1, trueTime), []fault{
				{"kill", func() { r.Kill(t) }, func() { r.Start(t) }}, {"flush", func() { r.Flush(t) }, func() {}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, faults := open(t)
			defer w.close()
			actors, times := w.cast(t, 25), timesOn(t)
			began := time.Now()
			done := make(chan struct{})
			go func() { defer close(done); play(actors, times, nil) }()
			happened := w.breakAgain(t, done, faults)
			<-done
			n := actors[0].tally
			t.Logf("%d times each: %s in %v; %v", len(actors)*times, n, time.Since(began).Round(time.Millisecond), happened)
			if n.cached.Load() < n.answered.Load()/10 || len(happened) == 0 {
				t.Error("the caches were hardly ever on, or nothing failed")
			}
		})
	}
}

// fault is something that happens to Redis, and its end.
type fault struct {
	name      string
	do, after func()
}

func redisFaults(t testing.TB, r *socialtest.Redis) []fault {
	return []fault{
		{"kill", func() { r.Kill(t) }, func() { r.Start(t) }},
		{"kill, started at once", func() { r.Kill(t); r.Start(t) }, func() {}},
		{"flush", func() { r.Flush(t) }, func() {}},
		{"freeze", func() { r.Freeze(t) }, func() { r.Thaw(t) }},
	}
}

// linkFaults are of one server alone: the other still reads what the first cannot change.
func linkFaults(t testing.TB, links []*socialtest.Proxy) (faults []fault) {
	for i, l := range links {
		mend := func() { l.Mend(t) }
		faults = append(faults, fault{fmt.Sprint("cut off ", i), l.Cut, mend},
			fault{fmt.Sprint("black hole of ", i), l.BlackHole, mend}, fault{fmt.Sprint("answers lost to ", i), l.LoseAnswers, mend})
	}
	return faults
}

// breakAgain does one fault after the other until done, each once the caches are on again,
// and tells how often each happened.
func (w *cachedWorld) breakAgain(t testing.TB, done <-chan struct{}, faults []fault) map[string]int {
	happened := map[string]int{}
	for !closed(done) {
		f := faults[rand.IntN(len(faults))]
		stop := w.freshGuard()
		if w.onAgain(t, done) && !closed(done) {
			// Long enough that they are on for a good part of the time: to come on again takes 2 s.
			pause(done, time.Duration(200+rand.IntN(400))*time.Millisecond)
			f.do()
			pause(done, time.Duration(rand.IntN(800))*time.Millisecond)
			f.after()
			happened[f.name]++
		}
		stop()
	}
	return happened
}

// freshGuard watches beside the servers' own, which grow patient with caches that fail
// again and again.
func (w *cachedWorld) freshGuard() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cache.NewGuard(w.servers[rand.IntN(len(w.servers))].caches.State).Run(ctx)
	}()
	return func() { cancel(); <-ended }
}

// onAgain waits until every server knows that all caches are on, or done.
func (w *cachedWorld) onAgain(t testing.TB, done <-chan struct{}) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); pause(done, time.Millisecond) {
		if closed(done) || w.allOn() {
			return true
		}
	}
	t.Error("the caches do not come back")
	return false
}

func (w *cachedWorld) allOn() bool {
	for _, s := range w.servers {
		for part := range rdb.Parts {
			if _, on := s.caches.Epoch(part); !on {
				return false
			}
		}
	}
	return true
}

// pause lets the time pass that a fault lasts.
func pause(done <-chan struct{}, d time.Duration) {
	select {
	case <-done:
	case <-time.After(d):
	}
}
