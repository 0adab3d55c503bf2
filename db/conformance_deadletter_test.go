package db_test

import (
	"context"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

func putDeadLetter(t testing.TB, d *db.DB, consumer string, seq int64, reason string) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		return tx.PutDeadLetter(ctx, consumer, db.StoredEvent{Lane: 0, Seq: seq, Kind: "user", Body: "no JSON: \U0001F600"}, reason)
	})
}

// deadLetters reads all, two at a time.
func deadLetters(t testing.TB, d *db.DB) (letters []db.DeadLetter) {
	t.Helper()
	for after := int64(0); ; after = letters[len(letters)-1].ID {
		page, err := d.DeadLetters(t.Context(), after, 2)
		noError(t, err)
		letters = append(letters, page...)
		if len(page) < 2 {
			return letters
		}
	}
}

func TestDeadLetterWrittenTwiceIsOne(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		for seq := range int64(5) {
			putDeadLetter(t, s.DB, "a", seq+1, "why")
		}
		putDeadLetter(t, s.DB, "b", 1, "why")
		putDeadLetter(t, s.DB, "a", 2, "the newer reason")
		letters := deadLetters(t, s.DB)
		equal(t, "letters", len(letters), 6)
		for i, l := range letters {
			if i > 0 && l.ID <= letters[i-1].ID {
				t.Errorf("id %d after %d", l.ID, letters[i-1].ID)
			}
		}
		equal(t, "reason", letters[1].Error, "the newer reason")
		equal(t, "body: not listed", letters[1].Body, "")
	})
}

func TestDeadLetterIsTakenOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putDeadLetter(t, s.DB, "a", 3, "why")
		id := deadLetters(t, s.DB)[0].ID
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			letter, err := tx.TakeDeadLetter(ctx, id)
			if err != nil {
				return err
			}
			equal(t, "what it was", []any{letter.Consumer, letter.Lane, letter.Seq, letter.Kind, letter.Body, letter.Error},
				[]any{"a", 0, 3, "user", "no JSON: \U0001F600", "why"})
			return tx.PublishAgain(ctx, letter)
		})
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			_, err := tx.TakeDeadLetter(t.Context(), id)
			return err
		})
		hasCode(t, err, social.NotFound)
		equal(t, "events", s.Int(t, "SELECT COUNT(*) FROM outbox WHERE kind = 'user' AND body LIKE 'no JSON: %'"), 1)
		putDeadLetter(t, s.DB, "a", 4, "why")
		if next := deadLetters(t, s.DB)[0].ID; next <= id {
			t.Errorf("the id %d is used again for the next", next)
		}
	})
}

func TestStateOfConsumersIsWhatTheyHaveNotPassedOrCouldNotTake(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		claimed(t, s.DB, "b", "first")
		claimed(t, s.DB, "a", "first")
		for id := range social.ID(12) {
			publish(t, s.DB, id+1)
		}
		s.Exec(t, "UPDATE consumed SET position = (SELECT seq FROM lane l WHERE l.lane = consumed.lane) WHERE consumer = 'a'")
		publish(t, s.DB, 13)
		putDeadLetter(t, s.DB, "a", 3, "why")
		putDeadLetter(t, s.DB, "a", 4, "why")
		states, err := s.DB.ConsumerStates(t.Context())
		noError(t, err)
		equal(t, "states", states, []db.ConsumerState{{Consumer: "a", Behind: 1, DeadLetters: 2}, {Consumer: "b", Behind: 13}})
	})
}
