package events

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"kith/db"
)

const (
	// lease is how long a worker that is gone keeps its lanes from others, by the store's
	// clock; it renews them every leaseRenew.
	lease      = 10 * time.Second
	leaseRenew = 3 * time.Second
	// pollEvery is how often readers look without the bell.
	pollEvery = 200 * time.Millisecond
	// chunk is how many events a handler gets at once.
	chunk = 100
	// atOnce is how many lanes of one consumer are worked on at once.
	atOnce = 4
	// releaseTime is how long the end of a worker waits for the store.
	releaseTime = 2 * time.Second
)

// Consumer hands every event to its handler, on one server at a time for each lane. It may
// run on every server: one holds the lanes, and when it ends or dies another goes on where
// it was.
type Consumer struct {
	db     *db.DB
	bell   *Bell
	name   string
	handle func(context.Context, []Event) error
	log    *slog.Logger
	holder string // this worker's name in SQL
	poll   time.Duration
	pause  time.Duration // before the second try of what failed
	lanes  []*lane
	lost   chan struct{} // a lane is another's, or may be: claim now
	slots  chan struct{} // taken by lanes that are worked on
	outage outage
}

// NewConsumer makes a worker of the consumer called name, which says whose positions it
// moves: it is stored, and at most 40 letters. The store's schema must be there.
//
// handle gets events of one lane, in their order; of different lanes, several at once. It
// must be idempotent: a chunk that was cut off, by an error or a crash, comes again. An
// error that is UNAVAILABLE or of a context stops the lane until it is gone. Any other, or
// a panic, is of an event, which becomes a dead letter when it fails a few times alone.
func NewConsumer(d *db.DB, bell *Bell, log *slog.Logger, name string, handle func(ctx context.Context, events []Event) error) *Consumer {
	holder := make([]byte, 16)
	_, _ = rand.Read(holder) // never fails
	log = log.With("consumer", name)
	c := &Consumer{
		db: d, bell: bell, log: log, name: name, handle: handle, holder: hex.EncodeToString(holder),
		poll: pollEvery, pause: minPause,
		lost: make(chan struct{}, 1), slots: make(chan struct{}, atOnce),
		outage: outage{log: log, failing: map[int]bool{}},
	}
	for n := range d.Lanes() {
		c.lanes = append(c.lanes, &lane{number: n, moved: make(chan struct{}, 1)})
	}
	return c
}

// Run consumes until ctx ends, and then gives its lanes to the next at once.
func (c *Consumer) Run(ctx context.Context) error {
	rings, stop := c.bell.listen()
	defer stop()
	defer c.release(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	for _, l := range c.lanes {
		work.Go(func() { c.work(ctx, l) })
	}
	poll, renew := time.NewTicker(c.poll), time.NewTicker(leaseRenew)
	defer poll.Stop()
	defer renew.Stop()
	for claim := true; ; {
		err := c.watch(ctx, claim)
		c.outage.tell(ctx, watching, err)
		claim = claim && err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-renew.C:
			claim = true
		case <-c.lost:
			claim = true
		case <-rings:
		case <-poll.C:
		}
	}
}

// watch claims the lanes when it is time, and wakes those whose number has moved: a
// statement for all.
func (c *Consumer) watch(ctx context.Context, claim bool) error {
	if claim {
		if err := c.claim(ctx); err != nil {
			return err
		}
	}
	seqs, err := c.db.LaneSeqs(ctx)
	if err != nil {
		return err
	}
	for _, l := range c.lanes {
		l.see(seqs[l.number])
	}
	return nil
}

// claim takes what nobody holds, and renews what is ours.
func (c *Consumer) claim(ctx context.Context) error {
	until := time.Now().Add(lease) // counted from before the reading of the store's clock
	var held []db.LanePosition
	err := c.db.Transact(ctx, func(tx *db.Tx) (err error) {
		held, err = tx.ClaimLanes(ctx, c.name, c.holder, lease)
		return err
	})
	if err != nil {
		return err // what is held is so until its lease ends
	}
	positions := make(map[int]int64, len(held))
	for _, h := range held {
		positions[h.Lane] = h.Position
	}
	for _, l := range c.lanes {
		if position, ok := positions[l.number]; ok {
			l.hold(position, until)
		} else {
			l.drop()
		}
	}
	return nil
}

// release gives the lanes back, at the end of ctx.
func (c *Consumer) release(ctx context.Context) {
	for _, l := range c.lanes {
		l.drop()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	err := c.db.Transact(ctx, func(tx *db.Tx) error { return tx.ReleaseLanes(ctx, c.name, c.holder) })
	if err != nil {
		c.log.Warn("lanes not released: the next worker waits for the end of their lease", "error", err)
	}
}
