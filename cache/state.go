package cache

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kith/db"
	"kith/rdb"
)

// Trust is how long a reading of the partitions' state is believed.
const Trust = 2 * time.Second

// failing is how long reads pass a server by that did not answer.
const failing = time.Second

// Config holds the settings. The zero Config has the defaults.
type Config struct {
	// Trust is how long a reading is believed, on all servers alike; 0 is [Trust]. The
	// state is read twice as often.
	Trust time.Duration
}

// State is what this server knows of the partitions of the caches. Safe for parallel use.
type State struct {
	db    *db.DB
	redis *rdb.Redis
	log   *slog.Logger
	clock func() time.Duration
	trust time.Duration

	last  atomic.Pointer[reading]
	fails [rdb.Parts]atomic.Int64 // the clock when a call failed, in ns

	mu  sync.Mutex
	off [rdb.Parts]offSince
}

// reading is the state of all partitions, and when it was asked for.
type reading struct {
	sentAt time.Duration
	parts  [rdb.Parts]db.CachePart
}

// offSince is when this server first knew that a partition was off in an epoch.
type offSince struct {
	epoch int64
	known bool
	at    time.Duration
}

// NewState knows nothing yet: all caches are passed by.
func NewState(d *db.DB, r *rdb.Redis, log *slog.Logger, cfg Config) *State {
	s := &State{db: d, redis: r, log: log, clock: bootTime, trust: cfg.Trust}
	if s.trust == 0 {
		s.trust = Trust
	}
	return s
}

// Run keeps the state known until ctx ends.
func (s *State) Run(ctx context.Context) error {
	tick := time.NewTicker(s.trust / 2)
	defer tick.Stop()
	for {
		reading, cancel := context.WithTimeout(ctx, s.trust) // later it would not be believed
		_, err := s.read(reading)
		cancel()
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the state of the caches is not known; passing them by", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Epoch is the epoch of a partition whose caches may be read now; none where they may not.
func (s *State) Epoch(part int) (epoch int64, on bool) {
	r := s.last.Load()
	now := s.clock()
	if r == nil || now-r.sentAt >= s.trust || !r.parts[part].On {
		return 0, false
	}
	if failed := s.fails[part].Load(); failed != 0 && now-time.Duration(failed) < failing {
		return 0, false
	}
	return r.parts[part].Epoch, true
}

// Failed tells that Redis did not answer a call to the partition: for a second, reads pass
// by all that share its server. Where ctx has ended that says nothing, and does nothing.
func (s *State) Failed(ctx context.Context, part int) {
	if ctx.Err() != nil {
		return
	}
	for _, p := range s.redis.Neighbours(ctx, part) {
		s.fails[p].Store(int64(s.clock()))
	}
}

// isFailing tells that Redis did not answer a moment ago.
func (s *State) isFailing(part int) bool {
	failed := s.fails[part].Load()
	return failed != 0 && s.clock()-time.Duration(failed) < failing
}

// read asks SQL for the state.
func (s *State) read(ctx context.Context) (*reading, error) {
	r := &reading{sentAt: s.clock()}
	parts, err := s.db.CacheParts(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		r.parts[p.Part] = p
	}
	s.note(r)
	return r, nil
}

// note keeps a reading if it is the latest, and since when what is off has been so.
func (s *State) note(r *reading) {
	for _, p := range r.parts {
		if !p.On {
			s.noteOff(p)
		}
	}
	for last := s.last.Load(); last == nil || last.sentAt <= r.sentAt; last = s.last.Load() {
		if s.last.CompareAndSwap(last, r) {
			return
		}
	}
}

// noteOff keeps that a partition is off in its epoch, which it then is for ever.
func (s *State) noteOff(p db.CachePart) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := &s.off[p.Part]; !o.known || o.epoch != p.Epoch {
		*o = offSince{epoch: p.Epoch, known: true, at: s.clock()}
	}
}

// offFor is for how long this server has known that the partition is off in the epoch, at
// least; 0 where it did not.
func (s *State) offFor(part int, epoch int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.off[part]; o.known && o.epoch == epoch {
		return s.clock() - o.at
	}
	return 0
}

// switchOff switches partitions off, if they are still in the epochs given.
func (s *State) switchOff(ctx context.Context, parts []db.CachePart, why error) error {
	if len(parts) == 0 {
		return nil
	}
	if err := s.db.SwitchCachesOff(ctx, parts); err != nil {
		return err
	}
	s.log.Warn("caches switched off", "partitions", len(parts), "error", why)
	for _, p := range parts {
		s.noteOff(p)
	}
	return nil
}

// awaitOff waits until no server believes the caches of these partitions, which are off in
// these epochs: until they have been off for as long as a reading is believed. In epoch 0,
// before the first, they never were on.
func (s *State) awaitOff(ctx context.Context, parts []db.CachePart) error {
	for _, p := range parts {
		left := s.trust - s.offFor(p.Part, p.Epoch)
		if left <= 0 || p.Epoch == 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return unavailable(ctx.Err())
		case <-time.After(left):
		}
	}
	return nil
}
