package events

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// tailChunk is how many events a tail reads at once.
	tailChunk = 1000
	// maxBehind is how far behind in a lane a tail still reads on; farther, looking at all
	// anew costs less.
	maxBehind = 10_000
	// maxSilence is how long a tail may have seen nothing and still be believed.
	maxSilence = 10 * time.Second
)

// Tail hands every event from now on to its handler, on each server that runs one, so that
// what is kept in process does not grow stale. It keeps no position: what it cannot see
// any more it tells as a gap.
type Tail struct {
	db     *db.DB
	bell   *Bell
	log    *slog.Logger
	handle func([]Event)
	gap    func()
	seen   func(at time.Time)
	poll   time.Duration
	clock  social.Clock

	positions []int64   // by lane; nil: not begun
	looked    time.Time // when it last had seen all; zero: it has not begun, though it should
	outage    outage
}

// NewTail makes a tail. handle gets events of one lane, in their order, and is called by
// one goroutine; a panic of it is a gap. gap is called when events were missed: all that
// is known from events may be stale then. Both should be quick, since all lanes wait.
func NewTail(d *db.DB, bell *Bell, log *slog.Logger, handle func([]Event), gap func()) *Tail {
	return &Tail{
		db: d, bell: bell, log: log, handle: handle, gap: gap, seen: func(time.Time) {}, poll: pollEvery, clock: time.Now,
		looked: time.Now(), outage: outage{log: log, failing: map[int]bool{}},
	}
}

// OnSeen makes the tail call seen after each look that has missed nothing, or has told so:
// of all that was committed before at, the handler knows, or it was from before the first
// look. Call it before Run.
func (t *Tail) OnSeen(seen func(at time.Time)) { t.seen = seen }

// Run follows the lanes until ctx ends, from their present numbers on.
func (t *Tail) Run(ctx context.Context) error {
	rings, stop := t.bell.listen()
	defer stop()
	poll := time.NewTicker(t.poll)
	defer poll.Stop()
	t.looked = t.clock()
	for {
		t.outage.tell(ctx, watching, t.look(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-rings:
		case <-poll.C:
		}
	}
}

// look reads the lanes' numbers, one statement, and the lanes that moved.
func (t *Tail) look(ctx context.Context) error {
	began := t.clock()
	seqs, err := t.db.LaneSeqs(ctx)
	if err != nil {
		if t.positions == nil {
			t.looked = time.Time{}
		}
		return err
	}
	silent := t.clock().Sub(t.looked) > maxSilence
	switch {
	case t.positions == nil && !silent:
		t.positions = seqs
	case silent, t.farBehind(seqs):
		t.skip(seqs, "too far behind")
	}
	for lane, seq := range seqs {
		if seen, err := t.read(ctx, lane, seq); err != nil {
			return err
		} else if !seen {
			t.skip(seqs, "they are gone from the log")
			break
		}
	}
	t.looked = t.clock()
	t.seen(began)
	return nil
}

// farBehind also tells a store that went back, as one restored from a backup does.
func (t *Tail) farBehind(seqs []int64) bool {
	for lane, seq := range seqs {
		if behind := seq - t.positions[lane]; behind > maxBehind || behind < 0 {
			return true
		}
	}
	return false
}

// skip goes on from now. Called after the numbers were read: what comes later is seen.
func (t *Tail) skip(seqs []int64, why string) {
	t.log.Warn("events missed", "why", why)
	t.positions = seqs
	t.gap()
}

// read hands on the lane's events up to seq; false when some of them are gone.
func (t *Tail) read(ctx context.Context, lane int, seq int64) (seen bool, err error) {
	for t.positions[lane] < seq {
		stored, err := t.db.EventsAfter(ctx, lane, t.positions[lane], tailChunk)
		if err != nil {
			return false, err
		}
		if len(stored) == 0 || stored[0].Seq != t.positions[lane]+1 {
			return false, nil
		}
		t.positions[lane] = stored[len(stored)-1].Seq
		t.hand(stored)
	}
	return true, nil
}

// hand gives the handler what this binary can read; the rest is for consumers to tell.
func (t *Tail) hand(stored []db.StoredEvent) {
	defer func() {
		if v := recover(); v != nil {
			t.log.Error("events missed", "why", "their handler panicked", "panic", v, "stack", string(debug.Stack()))
			t.gap()
		}
	}()
	events := make([]Event, 0, len(stored))
	for _, s := range stored {
		if e, err := decode(s); err == nil {
			events = append(events, e)
		}
	}
	if len(events) > 0 {
		t.handle(events)
	}
}
