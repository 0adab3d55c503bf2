package cache

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

// lifetime is how old a value may be, counted from before its load began.
const lifetime = time.Second

// never lies after every time of the clock.
const never = time.Duration(math.MaxInt64)

// Local keeps what a batch reader found, for a second at most, and lets calls that ask for
// the same key at the same time share one read. Values are shared between callers: nobody
// may change them. Safe for parallel use.
//
// Otter is the bounded store alone. Its own loading counts a value's age from its arrival,
// hands late values to all who wait, and its InvalidateAll misses the loads in flight.
type Local[K comparable, V any] struct {
	load  func(context.Context, []K) (map[K]V, error)
	clock func() time.Duration
	known store[K, dated[V]]

	// mu guards flying and is held to change known: what lands is stored only if its
	// flight is still the key's.
	mu     sync.Mutex
	flying map[K]*flight[K, V]
}

// store is what Local asks of Otter. Named itself, Otter would be compiled for the same
// types once more in each package that reads by a Local, which takes as long as all else.
type store[K comparable, V any] interface {
	GetIfPresent(key K) (V, bool)
	Set(key K, value V) (V, bool)
	Invalidate(key K) (V, bool)
	InvalidateAll()
}

// dated is a value and a time before its load began.
type dated[V any] struct {
	value V
	began time.Duration
}

// answer is what one Get has so far.
type answer[K comparable, V any] struct {
	found  map[K]V
	oldest time.Duration       // when the first load of others in found began
	own    *flight[K, V]       // what this call loads
	joined map[K]*flight[K, V] // what it waits for
}

// NewLocal keeps at most maxEntries values (for less than 1, 1) in front of load, which
// reads keys, each given once, and leaves out those that are not there. The map that it
// answers is no longer its own.
func NewLocal[K comparable, V any](maxEntries int, load func(ctx context.Context, keys []K) (map[K]V, error)) *Local[K, V] {
	return &Local[K, V]{
		load:   load,
		clock:  bootTime,
		known:  otter.Must(&otter.Options[K, dated[V]]{MaximumSize: max(1, maxEntries)}),
		flying: map[K]*flight[K, V]{},
	}
}

// Get gives the values of the keys; a key that is missing in the map is not there, which is
// shared but not kept. All that nobody is loading is loaded at once, with this ctx; the rest
// is waited for until ctx ends. An error of a load goes to all who wait for it, unless it is
// its caller's ctx that ended. Nothing answered is older than a second, counted from before
// its load, except what this call has loaded itself.
func (l *Local[K, V]) Get(ctx context.Context, keys []K) (map[K]V, error) {
	if found, ok := l.kept(keys); ok {
		return found, nil
	}
	a := l.begin(keys)
	// Its own comes first: whom others wait for waits for nobody, so no calls wait in a ring.
	if err := l.fly(ctx, a.own); err != nil {
		return nil, err
	}
	a.take(a.own.found, a.own.keys...)
	usable, err := a.join(ctx)
	if err != nil {
		return nil, err
	}
	// What others loaded may have aged while this call loaded and waited.
	if !usable || !l.fresh(a.oldest) {
		if err := l.alone(ctx, a, without(keys, a.own.keys)); err != nil {
			return nil, err
		}
	}
	return a.found, nil
}

// Drop forgets the keys. What is being loaded for them now answers those who wait already,
// and nobody who asks after Drop has returned.
func (l *Local[K, V]) Drop(keys ...K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		delete(l.flying, k)
		l.known.Invalidate(k)
	}
}

// Clear is [Local.Drop] of every key.
func (l *Local[K, V]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.flying)
	l.known.InvalidateAll()
}

// fresh tells whether what began then may be answered now. It is asked after the values
// were read: asked before, it would not see how old one is that landed in between.
func (l *Local[K, V]) fresh(began time.Duration) bool { return l.clock()-began < lifetime }

// kept answers from what is kept, if all of it is there.
func (l *Local[K, V]) kept(keys []K) (found map[K]V, ok bool) {
	found, oldest := make(map[K]V, len(keys)), never
	for _, k := range keys {
		d, ok := l.known.GetIfPresent(k)
		if !ok {
			return nil, false
		}
		found[k], oldest = d.value, min(oldest, d.began)
	}
	return found, l.fresh(oldest)
}

// begin sorts the keys into those that are kept, those that are being loaded, and those that
// this call is to load, in a flight that others can join from now on. A flight too old to
// answer this call is replaced.
func (l *Local[K, V]) begin(keys []K) *answer[K, V] {
	now := l.clock()
	own := &flight[K, V]{began: now, done: make(chan struct{})}
	a := &answer[K, V]{found: make(map[K]V, len(keys)), oldest: never, own: own, joined: map[K]*flight[K, V]{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		d, ok := l.known.GetIfPresent(k)
		f := l.flying[k]
		switch {
		case ok && now-d.began < lifetime:
			a.found[k], a.oldest = d.value, min(a.oldest, d.began)
		case f == own: // the key was given twice
		case f != nil && now-f.began < lifetime:
			a.joined[k] = f
		default:
			l.flying[k] = own
			own.keys = append(own.keys, k)
		}
	}
	return a
}

// alone loads keys for this call only, once, and replaces what others answered. Nobody
// joins and nothing is kept, so it does not matter how long it takes.
func (l *Local[K, V]) alone(ctx context.Context, a *answer[K, V], keys []K) error {
	found, err := l.load(ctx, keys)
	a.take(found, keys...)
	return err
}

// take answers these keys by what a load found, whatever was answered before.
func (a *answer[K, V]) take(found map[K]V, keys ...K) {
	for _, k := range keys {
		delete(a.found, k)
		if v, ok := found[k]; ok {
			a.found[k] = v
		}
	}
}

// without gives the keys but for some, each once.
func without[K comparable](keys, some []K) []K {
	rest := make(map[K]struct{}, len(keys))
	for _, k := range keys {
		rest[k] = struct{}{}
	}
	for _, k := range some {
		delete(rest, k)
	}
	return slices.Collect(maps.Keys(rest))
}
