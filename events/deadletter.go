package events

import (
	"context"

	"kith/db"
)

// Replay gives the event of a dead letter to every consumer once more, as a new one at the
// end of the log, and forgets the letter, both or neither. Events are hints, so those who
// took it before only look again. NOT_FOUND where there is no such letter.
func Replay(ctx context.Context, d *db.DB, id int64) error {
	return d.Transact(ctx, func(tx *db.Tx) error {
		letter, err := tx.TakeDeadLetter(ctx, id)
		if err != nil {
			return err
		}
		return tx.PublishAgain(ctx, letter)
	})
}

// Drop forgets a dead letter. NOT_FOUND where there is no such letter.
func Drop(ctx context.Context, d *db.DB, id int64) error {
	return d.Transact(ctx, func(tx *db.Tx) error {
		_, err := tx.TakeDeadLetter(ctx, id)
		return err
	})
}
