package db

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"kith/social"
)

// loadLanes reads how many lanes the schema has; any of them orders any event.
func (d *DB) loadLanes(ctx context.Context) error {
	return d.get(ctx, "count lanes", &d.lanes, "SELECT COUNT(*) FROM lane")
}

// Lanes is how many lanes the outbox has.
func (d *DB) Lanes() int { return d.lanes }

// Publish writes the event as the last step of the transaction: the next number of a
// lane, whose row stays locked until the commit, and the row. So a lane's numbers rise in
// the order of commits, without a gap, over all servers. Its time is the store's, since
// a server's clock may be wrong.
func (tx *Tx) Publish(ctx context.Context, e social.Event) error {
	body, err := json.Marshal(e.Body)
	if err != nil {
		return fmt.Errorf("write %s event: %w", e.Kind, err)
	}
	return tx.publish(ctx, e.Kind, string(body))
}

func (tx *Tx) publish(ctx context.Context, kind social.EventKind, body string) error {
	lane := rand.IntN(tx.lanes)
	seq, err := tx.nextSeq(ctx, lane)
	if err != nil {
		return err
	}
	tx.published = true
	return tx.exec(ctx, "insert event",
		`INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES (?, ?, ?, ?, `+tx.dialect.nowMS+`)`,
		lane, seq, kind, body)
}

func (tx *Tx) nextSeq(ctx context.Context, lane int) (int64, error) {
	if tx.dialect.name == "sqlite" {
		var seq int64
		err := tx.get(ctx, "next number of a lane", &seq, `UPDATE lane SET seq = seq + 1 WHERE lane = ? RETURNING seq`, lane)
		return seq, err
	}
	tx.sent.Add(1)
	// LAST_INSERT_ID(x) hands x back in the answer of the update itself.
	r, err := tx.on.ExecContext(ctx, `UPDATE lane SET seq = LAST_INSERT_ID(seq + 1) WHERE lane = ?`, lane)
	if err != nil {
		return 0, tx.wrap("next number of a lane", err)
	}
	seq, err := r.LastInsertId()
	return seq, tx.wrap("next number of a lane", err)
}

// trimPiece is how many rows one transaction of a trimming looks at.
const trimPiece = 1000

// TrimOutbox drops up to a thousand of the lane's oldest rows that were written before
// the given time and are numbered upTo at most, and says whether there may be more. The
// lane's number stays: no number is used again. Reads the primary key.
func (tx *Tx) TrimOutbox(ctx context.Context, lane int, before social.Millis, upTo int64) (more bool, err error) {
	var rows []struct {
		Seq       int64         `db:"seq"`
		CreatedAt social.Millis `db:"created_at"`
	}
	err = tx.all(ctx, "read oldest events", &rows,
		`SELECT seq, created_at FROM outbox WHERE lane = ? AND seq <= ? ORDER BY seq LIMIT ?`, lane, upTo, trimPiece)
	if err != nil {
		return false, err
	}
	n := 0
	for n < len(rows) && rows[n].CreatedAt < before {
		n++
	}
	if n == 0 {
		return false, nil
	}
	err = tx.exec(ctx, "drop old events", `DELETE FROM outbox WHERE lane = ? AND seq <= ?`, lane, rows[n-1].Seq)
	return n == trimPiece, err
}
