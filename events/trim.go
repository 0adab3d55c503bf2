package events

import (
	"context"
	"log/slog"
	"math"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// keep is how long an event stays where there is no consumer, and a key of publishing.
	keep = 24 * time.Hour
	// keepPassed is how long an event stays that every consumer has passed: for tails.
	keepPassed = time.Minute
	// trimEvery is how often old rows are dropped.
	trimEvery = time.Minute
)

// Trimmer drops events that are a minute old and that every consumer has passed, the keys
// of publishing that have served their day, and what is known of tokens that have expired
// by now. What a consumer has not passed stays, however old: one that is no more is to be
// taken out of the store (CONTRIBUTING.md). A trimmer may run on every server at once.
type Trimmer struct {
	db  *db.DB
	log *slog.Logger
}

// NewTrimmer makes a trimmer of the store.
func NewTrimmer(d *db.DB, log *slog.Logger) *Trimmer {
	return &Trimmer{db: d, log: log}
}

// Run trims every minute until ctx ends.
func (t *Trimmer) Run(ctx context.Context) error {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := t.Trim(ctx); err != nil && ctx.Err() == nil {
			t.log.Warn("events not trimmed", "error", err)
		}
	}
}

// Trim drops what has served its time, a thousand rows a transaction. Time is the store's
// clock: a server whose own is wrong must not drop what others still need.
func (t *Trimmer) Trim(ctx context.Context) error {
	now, err := t.db.NowMS(ctx)
	if err != nil {
		return err
	}
	// By the rows of the store, not by the consumers of this binary: during a rolling
	// upgrade the new ones have others. Positions only rise, so what was read holds.
	passed, err := t.db.PassedLanes(ctx)
	if err != nil {
		return err
	}
	for lane := range t.db.Lanes() {
		before, upTo := social.Millis(now-keep.Milliseconds()), int64(math.MaxInt64)
		if position, ok := passed[lane]; ok {
			before, upTo = social.Millis(now-keepPassed.Milliseconds()), position
		}
		if err := t.pieces(ctx, func(tx *db.Tx) (bool, error) { return tx.TrimOutbox(ctx, lane, before, upTo) }); err != nil {
			return err
		}
	}
	before := social.Millis(now - keep.Milliseconds())
	if err := t.pieces(ctx, func(tx *db.Tx) (bool, error) { return tx.TrimPublishKeys(ctx, before) }); err != nil {
		return err
	}
	return t.pieces(ctx, func(tx *db.Tx) (bool, error) { return tx.TrimEnded(ctx, social.Millis(now)) })
}

// pieces repeats a trimming until nothing is left to trim.
func (t *Trimmer) pieces(ctx context.Context, trim func(*db.Tx) (bool, error)) error {
	for more := true; more; {
		err := t.db.Transact(ctx, func(tx *db.Tx) (err error) {
			more, err = trim(tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
