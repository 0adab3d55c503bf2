package events

import (
	"context"
	"log/slog"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// keep is how long an event stays.
	keep = 24 * time.Hour
	// trimEvery is how often old rows are dropped.
	trimEvery = time.Minute
)

// Trimmer drops events, and the keys of publishing that have served their day, once they
// are a day old. It may run on every server at once.
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

// Trim drops all that is a day old, a thousand rows a transaction. A day by the store's
// clock: a server whose own is wrong must not drop what others still need.
func (t *Trimmer) Trim(ctx context.Context) error {
	now, err := t.db.NowMS(ctx)
	if err != nil {
		return err
	}
	before := social.Millis(now - keep.Milliseconds())
	for lane := range t.db.Lanes() {
		if err := t.pieces(ctx, func(tx *db.Tx) (bool, error) { return tx.TrimOutbox(ctx, lane, before) }); err != nil {
			return err
		}
	}
	return t.pieces(ctx, func(tx *db.Tx) (bool, error) { return tx.TrimPublishKeys(ctx, before) })
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
