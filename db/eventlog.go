package db

import (
	"context"

	"kith/social"
)

// StoredEvent is an event as the outbox keeps it: Body is the JSON of its kind.
type StoredEvent struct {
	Lane      int              `db:"lane"`
	Seq       int64            `db:"seq"`
	Kind      social.EventKind `db:"kind"`
	Body      string           `db:"body"`
	CreatedAt social.Millis    `db:"created_at"` // by the store's clock
}

// OnEvents has ring called after every commit of a transaction that published, so that
// readers need not poll to be prompt. It must not block. Set it once, before the first
// transaction. A commit of which nobody knows whether it happened does not ring.
func (d *DB) OnEvents(ring func()) { d.onEvents = ring }

// LaneSeqs is the number of every lane's newest event, by lane; 0 where none ever was.
// Reads the primary key.
func (q *queries) LaneSeqs(ctx context.Context) ([]int64, error) {
	var seqs []int64
	err := q.all(ctx, "read the lanes' numbers", &seqs, `SELECT seq FROM lane ORDER BY lane`)
	return seqs, err
}

// EventsAfter reads up to limit events of the lane that follow a number, in order. They
// are numbered without a gap; where the first does not follow, those between were
// trimmed. Reads the primary key.
func (q *queries) EventsAfter(ctx context.Context, lane int, after int64, limit int) ([]StoredEvent, error) {
	var events []StoredEvent
	err := q.all(ctx, "read events", &events, `
		SELECT lane, seq, kind, body, created_at FROM outbox
		WHERE lane = ? AND seq > ? ORDER BY seq LIMIT ?`, lane, after, limit)
	return events, err
}
