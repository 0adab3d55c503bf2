package cache

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// p2Trust is short, for many an outage in a few seconds. The clocks are the machine's.
const p2Trust = 150 * time.Millisecond

// told is somebody's number, as SQL has it and as was answered.
type told struct {
	id       social.ID
	mu       sync.Mutex // its writers
	number   int64
	answered atomic.Int64
}

// P2 of the promises: whatever becomes of A's way to Redis, and of Redis, once a write
// through A or B has been answered, nobody reads through either what was before it.
func TestNobodyReadsWhatWasBeforeAnAnsweredWrite(t *testing.T) {
	t.Parallel()
	x := &site{T: t, store: socialtest.NewMySQL(t), redis: socialtest.NewRedis(t), impatient: true}
	p := socialtest.NewProxy(t, x.redis.Addr())
	servers := []*server{
		x.serverOver(x.store.DB, "redis://"+p.Addr(), p2Trust),
		x.serverOver(x.store.OpenServer(t), x.redis.URL(), p2Trust),
	}
	people := make([]*told, 4)
	for i := range people {
		people[i] = &told{id: x.person(i * 16)}
	}
	var workers, all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for _, s := range servers {
		s.clock = bootTime
		workers.Go(func() { _ = s.Run(ctx) })
		workers.Go(func() { _ = s.guard.Run(ctx) })
	}
	var writes, fromRedis atomic.Int64
	done := make(chan struct{})
	for i, who := range people {
		for _, s := range servers {
			all.Go(func() {
				for !closed(done) {
					if x.writes(s, who) {
						writes.Add(1)
					}
				}
			})
			all.Go(func() {
				for !closed(done) {
					if _, on := servers[i%2].Epoch(rdb.Partition(who.id)); on {
						fromRedis.Add(1)
					}
					x.reads(s, who)
				}
			})
		}
	}
	x.breaks(p, func() { // lets some be answered, unless all have to wait
		enough, deadline := writes.Load()+1+rand.Int64N(60), time.Now().Add(400*time.Millisecond)
		for writes.Load() < enough && time.Now().Before(deadline) {
			<-time.After(time.Millisecond)
		}
	})
	close(done)
	all.Wait()
	stop()
	workers.Wait()
	t.Log(writes.Load(), "writes answered;", fromRedis.Load(), "readings while on")
	if writes.Load() == 0 || fromRedis.Load() == 0 {
		t.Error("nothing was tried")
	}
}

// writes raises the number, brings that to the caches, and answers.
func (x *site) writes(s *server, who *told) (answered bool) {
	who.mu.Lock()
	who.number++
	n := who.number
	_, err := x.store.SQL.Exec("UPDATE user_count SET followers = ? WHERE user_id = ?", n, who.id)
	who.mu.Unlock()
	if err != nil {
		x.Error(err)
	}
	if err := s.Settle(x.Context(), drop(who.id)); err != nil {
		return false // nobody was told
	}
	for old := who.answered.Load(); old < n && !who.answered.CompareAndSwap(old, n); {
		old = who.answered.Load()
	}
	return true
}

// reads asks a server, and fails where it does not know what was answered before.
func (x *site) reads(s *server, who *told) {
	least := who.answered.Load()
	counts, err := s.Counts(x.Context(), []social.ID{who.id})
	if err != nil {
		x.Error(err)
		return
	}
	if got := counts[who.id].Followers; got < least {
		x.Errorf("%d of %d, after %d was answered", got, who.id, least)
	}
}

// breaks lets A's way to Redis, and Redis, fail and come back.
func (x *site) breaks(p *socialtest.Proxy, rest func()) {
	x.Helper()
	for range 12 {
		rest()
		switch rand.IntN(6) {
		case 0, 1:
			p.Cut()
		case 2:
			p.BlackHole()
		case 3:
			p.LoseAnswers()
		case 4:
			x.redis.Freeze(x)
		case 5:
			x.redis.Flush(x)
		}
		rest()
		x.redis.Thaw(x)
		p.Mend(x)
	}
	rest()
}

func closed(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
