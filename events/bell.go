package events

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/rdb"
)

// bellRest is the least time from ring to ring. Under load every commit rings; a hundred
// looks a second are prompt enough, and cost the store little.
const bellRest = 10 * time.Millisecond

// Bell tells the readers of events on all servers that there are new ones. It may miss
// some, as when Redis is away: readers poll too. Safe for parallel use.
type Bell struct {
	redis *rdb.Redis
	here  chan struct{} // a ring that readers of this process wait for
	there chan struct{} // a ring that other servers wait for

	mu      sync.Mutex
	readers map[chan struct{}]struct{}
}

// NewBell makes a bell that rings by Redis; nil: for this process alone. It is silent
// until [Bell.Run].
func NewBell(redis *rdb.Redis) *Bell {
	return &Bell{
		redis: redis, here: make(chan struct{}, 1), there: make(chan struct{}, 1),
		readers: map[chan struct{}]struct{}{},
	}
}

// Ring wakes all readers. It returns at once, and rings that come together are one.
func (b *Bell) Ring() {
	mark(b.here)
	mark(b.there)
}

// Run carries rings until ctx ends.
func (b *Bell) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error {
		return carry(ctx, b.here, b.wake)
	})
	if b.redis != nil {
		g.Go(func() error {
			// One that fails is lost: readers poll, and the next is no less likely to pass.
			return carry(ctx, b.there, func() { _ = b.redis.Ring(ctx) })
		})
		g.Go(func() error {
			return b.redis.Rings(ctx, func() { mark(b.here) })
		})
	}
	return g.Wait()
}

// carry hands rings on, one at a time and with a rest after each.
func carry(ctx context.Context, rings <-chan struct{}, on func()) error {
	rest := time.NewTicker(bellRest)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
		}
		on()
		rest.Reset(bellRest)
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
		}
	}
}

// wake wakes the readers of this process.
func (b *Bell) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.readers {
		mark(r)
	}
}

// listen gives what is sent to at each ring, until stop. A ring that comes while the
// reader is at work is kept for it.
func (b *Bell) listen() (rings <-chan struct{}, stop func()) {
	r := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers[r] = struct{}{}
	return r, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.readers, r)
	}
}

// mark leaves one sign in the channel, however many are asked for.
func mark(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
