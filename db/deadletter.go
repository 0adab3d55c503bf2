package db

import (
	"context"
	"strings"

	"kith/social"
)

// maxReason is how much of an error a dead letter keeps, in characters.
const maxReason = 1000

// DeadLetter is an event that a consumer could not take, kept whole since the outbox drops
// its own.
type DeadLetter struct {
	ID       int64            `db:"id"`
	Consumer string           `db:"consumer"`
	Lane     int              `db:"lane"`
	Seq      int64            `db:"seq"`
	Kind     social.EventKind `db:"kind"`
	Body     string           `db:"body"`
	// Error is why, at most 1,000 characters of it.
	Error     string        `db:"error"`
	CreatedAt social.Millis `db:"created_at"` // by the store's clock
}

// PutDeadLetter keeps an event that the consumer could not take. The same event once more
// is the same letter, with the newer reason.
func (tx *Tx) PutDeadLetter(ctx context.Context, consumer string, e StoredEvent, reason string) error {
	return tx.exec(ctx, "write dead letter", `
		INSERT INTO dead_letter (consumer, lane, seq, kind, body, error, created_at)
		VALUES (?, ?, ?, ?, ?, ?, `+tx.dialect.nowMS+`) `+
		tx.dialect.onConflict("consumer, lane, seq")+`error = `+tx.dialect.excluded("error"),
		consumer, e.Lane, e.Seq, e.Kind, e.Body, bounded(reason))
}

// bounded is text that the column takes: errors may quote bytes that are no text.
func bounded(reason string) string {
	runes := []rune(strings.ToValidUTF8(reason, "\uFFFD"))
	return string(runes[:min(len(runes), maxReason)])
}

// DeadLetters reads up to limit dead letters whose id is above after, ascending, without
// their bodies, which may be large. Reads the primary key.
func (q *queries) DeadLetters(ctx context.Context, after int64, limit int) ([]DeadLetter, error) {
	var letters []DeadLetter
	err := q.all(ctx, "read dead letters", &letters, `
		SELECT id, consumer, lane, seq, kind, error, created_at
		FROM dead_letter WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	return letters, err
}

// TakeDeadLetter deletes a dead letter and answers what it was; NOT_FOUND where it is not
// there. Reads the primary key.
func (tx *Tx) TakeDeadLetter(ctx context.Context, id int64) (*DeadLetter, error) {
	letter := &DeadLetter{}
	err := tx.get(ctx, "read dead letter", letter, `
		SELECT id, consumer, lane, seq, kind, body, error, created_at
		FROM dead_letter WHERE id = ?`+tx.dialect.forUpdate, id)
	if err != nil {
		return nil, err
	}
	return letter, tx.exec(ctx, "drop dead letter", `DELETE FROM dead_letter WHERE id = ?`, id)
}

// PublishAgain writes the event of a dead letter anew, as [Tx.Publish] does: with a new
// number, for every consumer.
func (tx *Tx) PublishAgain(ctx context.Context, letter *DeadLetter) error {
	return tx.publish(ctx, letter.Kind, letter.Body)
}
