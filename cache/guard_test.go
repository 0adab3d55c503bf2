package cache

import (
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/socialtest"
)

func TestGuardBeginsTheFirstEpochAtOnceAndThenRests(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.looks(1)
	equal(t, "known at once", s.believes(63), 1)
	for range 5 {
		s.looks(1)
		s.wait(time.Second)
	}
	s.knows("rests", "64 on in 1")
}

// Each time it may hold less, or older, than what has been answered.
func TestGuardBeginsANewEpochWhenRedisHasAnotherHistory(t *testing.T) {
	for name, lose := range map[string]func(*socialtest.Redis, *testing.T){
		"flush":      func(r *socialtest.Redis, t *testing.T) { r.Flush(t) },
		"restart":    func(r *socialtest.Redis, t *testing.T) { r.Kill(t); r.Start(t) },
		"restore":    func(r *socialtest.Redis, t *testing.T) { r.Restore(t) },
		"lost epoch": func(r *socialtest.Redis, t *testing.T) { r.DropKeys(t, "epoch:*") },
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			s, who := x.server(), x.person(5)
			s.begin()
			equal(t, "filled in 1", s.followers(who), 0)
			x.redis.Snapshot(t)
			lose(x.redis, t)
			s.answers()
			s.looks(1)
			s.knows("seen", "64 off in 1")
			s.wait(Trust - 1)
			s.looks(2)
			s.knows("somebody may believe", "64 off in 1")
			s.wait(1)
			s.looks(1)
			s.knows("begun", "64 on in 2")
			x.sets(who, 1)
			equal(t, "nothing of 1 is read in 2", s.followers(who), 1)
			s.looks(3)
			s.knows("rests", "64 on in 2")
		})
	}
}

// answers waits until the driver reaches Redis again.
func (s *server) answers() {
	s.site.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.Redis.Ping(s.site.Context()) != nil; {
		if time.Now().After(deadline) {
			s.site.Fatal("Redis does not answer")
		}
	}
}

func TestOneSilenceIsNoOutageTwoInARowAre(t *testing.T) {
	x := newSite(t)
	p, s := x.throughProxy()
	s.begin()
	for range 3 {
		p.Cut()
		s.looks(1)
		p.Mend(t)
		s.answers()
		s.looks(1)
	}
	s.knows("flickers", "64 on in 1")
	p.Cut()
	s.looks(2)
	s.knows("away", "64 off in 1")
	s.wait(time.Hour)
	s.looks(5)
	s.knows("away for long", "64 off in 1")
	p.Mend(t)
	s.answers()
	s.looks(1)
	s.knows("back", "64 on in 2")
}

func TestNodeThatFailsTakesItsOwnPartitionsAlone(t *testing.T) {
	t.Parallel()
	x := &site{T: t, store: socialtest.NewSQLite(t), redis: socialtest.NewRedisCluster(t), impatient: true}
	s := x.server()
	s.begin()
	x.redis.Nodes()[0].Freeze(t) // which has partitions 0 to 20
	s.looks(2)
	s.knows("one is away", "21 off in 1, 43 on in 1")
	low, high := x.person(0), x.person(63)
	equal(t, "read", []int64{s.followers(low), s.followers(high)}, []int64{0, 0})
	x.redis.Nodes()[0].Thaw(t)
	s.wait(time.Hour)
	for deadline := time.Now().Add(20 * time.Second); s.reads(0) != 2; s.looks(1) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come back")
		}
	}
	s.knows("back", "21 on in 2, 43 on in 1")
}

// The more often, the longer: what flickers is not worth filling again and again.
func TestWhatGoesOffAgainAndAgainWaitsLonger(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	s.wait(time.Hour)
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 16, 1} {
		if i == 6 {
			s.wait(calm*Trust + 1)
		}
		x.redis.Flush(t)
		s.looks(2)
		s.wait(want*Trust - 1)
		s.looks(1)
		equal(t, "not yet", s.believes(0), -1)
		s.wait(1)
		s.looks(1)
		equal(t, "on", s.believes(0), i+2)
	}
}

func TestGuardsAtOnceAgree(t *testing.T) {
	x := newSite(t)
	guards := []*server{x.server(), x.server(), x.server()}
	looks := func() {
		var all sync.WaitGroup
		for _, g := range guards {
			all.Go(func() {
				for range 3 {
					if err := g.guard.look(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	looks()
	for epoch := range int64(4) {
		guards[0].knows("on", summary(allOn(epoch+1)))
		x.redis.Flush(t)
		looks()
		guards[1].knows("off", summary(allOff(epoch+1)))
		for _, g := range guards {
			g.wait(time.Hour)
		}
		looks()
	}
	looks()
	guards[2].knows("rests", "64 on in 5")
}

func allOn(epoch int64) []db.CachePart {
	parts := allOff(epoch)
	for i := range parts {
		parts[i].On = true
	}
	return parts
}

func allOff(epoch int64) []db.CachePart {
	parts := make([]db.CachePart, rdb.Parts)
	for i := range parts {
		parts[i] = db.CachePart{Part: i, Epoch: epoch}
	}
	return parts
}

// A guard may stand still between its looks at SQL and at Redis. If another begins an epoch
// then, and Redis goes back afterwards, the slow one must not call that its history.
func TestSlowGuardDoesNotVouchForALaterHistory(t *testing.T) {
	x := newSite(t)
	fast := x.server()
	fast.begin()
	var stop func()
	r, err := rdb.Open(rdb.Config{URL: x.redis.URL(), Step: func() {
		if stop != nil {
			do := stop
			stop = nil
			do()
		}
	}})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	slow := &server{Caches: New(x.store.DB, r, fast.log, Config{}), site: x}
	slow.guard = NewGuard(slow.State)
	slow.clock = fast.clock
	who := x.person(5)

	x.redis.Flush(t)
	fast.looks(2)
	slow.looks(2)
	fast.wait(Trust)
	stop = func() {
		fast.looks(1)
		fast.knows("begun by the other", "64 on in 2")
		equal(t, "filled", fast.followers(who), 0)
		x.redis.Snapshot(t)
		x.sets(who, 1)
		noError(t, fast.Settle(t.Context(), drop(who)))
		x.redis.Restore(t)
	}
	_ = slow.guard.look(t.Context()) // which may find its connection broken
	fast.answers()
	fast.looks(1)
	fast.knows("another history", "64 off in 2")
	equal(t, "nobody believes what is old", fast.followers(who), 1)
}
