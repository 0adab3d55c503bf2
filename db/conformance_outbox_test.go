package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// quoteNumber is a number as bytes in SQL.
func quoteNumber(n int) string { return fmt.Sprintf("x'%s'", fmt.Sprintf("%08d", n)) }

func userEvent(id social.ID) social.Event {
	return social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: id}}
}

func publish(t testing.TB, d *db.DB, id social.ID) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error { return tx.Publish(ctx, userEvent(id)) })
}

// publishAt writes an event, as if at a time.
func publishAt(t testing.TB, s *socialtest.Store, at social.Millis) {
	t.Helper()
	publish(t, s.DB, 1)
	s.Exec(t, "UPDATE outbox SET created_at = ? WHERE created_at > 1000000000000", at)
}

func TestSchemaHasItsLanes(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		want := 1
		if s.IsMySQL() {
			want = 16
		}
		equal(t, "after Migrate", s.DB.Lanes(), want)
		equal(t, "after CheckSchema", s.OpenServer(t).Lanes(), want)
	})
}

// Ids stand in bodies as text, digit for digit: a number would lose some beyond 2^53.
func TestEventIsStoredAsWritten(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const id, other = 9007199254740993, 653247040368672769
		for _, c := range []struct {
			event social.Event
			body  string
		}{
			{userEvent(id), `{"user":"9007199254740993"}`},
			{social.Event{Kind: social.BlogEvent, Body: social.BlogBody{BlogID: id, AuthorID: other, Deleted: true}},
				`{"blog":"9007199254740993","author":"653247040368672769","deleted":true}`},
			{social.Event{Kind: social.FollowEvent, Body: social.FollowBody{
				Changes: []social.FollowChange{{UserID: id, TargetID: other, State: following, Since: 5, Version: 3}}}},
				`{"changes":[{"user":"9007199254740993","target":"653247040368672769","state":1,"since":5,"version":3}]}`},
		} {
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.Publish(ctx, c.event) })
			var row struct {
				Lane      int    `db:"lane"`
				Seq       int64  `db:"seq"`
				Kind      string `db:"kind"`
				Body      string `db:"body"`
				CreatedAt int64  `db:"created_at"`
			}
			noError(t, s.SQL.Get(&row, "SELECT * FROM outbox WHERE kind = '"+string(c.event.Kind)+"'"))
			equal(t, "body", row.Body, c.body)
			if off := time.Since(time.UnixMilli(row.CreatedAt)); off.Abs() > time.Minute {
				t.Errorf("written %v ago by the store's clock", off)
			}
			equal(t, "number of the lane", s.Int(t, "SELECT seq FROM lane WHERE lane = "+strconv.Itoa(row.Lane)), row.Seq)
		}
	})
}

func TestBodyThatIsNoJSONIsAnError(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			return tx.Publish(t.Context(), social.Event{Kind: social.UserEvent, Body: func() {}})
		})
		if err == nil {
			t.Error("published")
		}
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM outbox"), 0)
	})
}

// logged is one row of the outbox, read while others write.
type logged struct {
	Lane int    `db:"lane"`
	Seq  int64  `db:"seq"`
	Body string `db:"body"`
}

// Two servers publish at once, every third transaction rolls back. A reader that takes
// from each lane what lies above its last number must see every number, one after the
// other: were numbers given in another order than commits, it would find a gap.
func TestLaneNumbersAreGaplessInTheOrderOfCommits(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const workers, each = 8, 24
		servers := []*db.DB{s.DB, s.OpenServer(t)}
		rollback := errors.New("rolled back on purpose")
		var writing sync.WaitGroup
		for w := range workers {
			writing.Go(func() {
				for i := range each {
					err := servers[w%2].Transact(t.Context(), func(tx *db.Tx) error {
						if err := tx.Publish(t.Context(), userEvent(social.ID(1000*w+i+1))); err != nil {
							return err
						}
						if i%3 == 0 {
							return rollback
						}
						return nil
					})
					if i%3 == 0 && !errors.Is(err, rollback) || i%3 != 0 && err != nil {
						t.Errorf("transaction %d of %d: %v", i, w, err)
					}
				}
			})
		}
		written := make(chan struct{})
		go func() { writing.Wait(); close(written) }()

		position, seen := map[int]int64{}, map[string]bool{}
		for last := false; ; {
			var rows []logged
			noError(t, s.SQL.Select(&rows, "SELECT lane, seq, body FROM outbox ORDER BY lane, seq"))
			for _, r := range rows {
				if r.Seq <= position[r.Lane] {
					continue
				}
				if r.Seq != position[r.Lane]+1 {
					t.Fatalf("lane %d goes from %d to %d", r.Lane, position[r.Lane], r.Seq)
				}
				position[r.Lane] = r.Seq
				seen[r.Body] = true
			}
			if last {
				break
			}
			select {
			case <-written:
				last = true
			default:
			}
		}
		equal(t, "events seen", len(seen), workers*each*2/3)
	})
}

func trimOutbox(t testing.TB, d *db.DB, before social.Millis) (more bool) {
	t.Helper()
	for lane := range d.Lanes() {
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			m, err := tx.TrimOutbox(ctx, lane, before, math.MaxInt64)
			more = more || m
			return err
		})
	}
	return more
}

func TestOldEventsAreTrimmedAndYoungerStay(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		for i := range social.Millis(20) {
			publishAt(t, s, 100+i)
		}
		equal(t, "more", trimOutbox(t, s.DB, 110), false)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM outbox"), 10)
		equal(t, "oldest", s.Int(t, "SELECT MIN(created_at) FROM outbox"), 110)
	})
}

func TestEventsAreTrimmedUpToANumber(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEvents(t, s, 10)
		for _, upTo := range []int64{0, 4, 4} {
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.TrimOutbox(ctx, 0, 1000, upTo)
				return err
			})
			equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM outbox"), 10-upTo)
		}
	})
}

func TestLaneNumbersAreNeverUsedAgain(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		for range 40 {
			publishAt(t, s, 100)
		}
		var before []logged
		noError(t, s.SQL.Select(&before, "SELECT lane, seq, body FROM outbox"))
		trimOutbox(t, s.DB, 200)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM outbox"), 0)
		for range 40 {
			publishAt(t, s, 300)
		}
		var after []logged
		noError(t, s.SQL.Select(&after, "SELECT lane, seq, body FROM outbox"))
		used := map[[2]int64]bool{}
		for _, r := range append(before, after...) {
			used[[2]int64{int64(r.Lane), r.Seq}] = true
		}
		equal(t, "different numbers", len(used), 80)
		equal(t, "sum of the lanes", s.Int(t, "SELECT SUM(seq) FROM lane"), 80)
	})
}

func TestEventsAreTrimmedInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		body, _ := json.Marshal(social.UserBody{UserID: 1})
		var rows []string
		for i := range db.TrimPiece + 5 {
			rows = append(rows, fmt.Sprintf("(0, %d, 'user', '%s', %d)", i+1, body, i))
		}
		s.Exec(t, "INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES "+strings.Join(rows, ","))
		equal(t, "more after the first", trimOutbox(t, s.DB, db.TrimPiece+3), true)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM outbox"), 5)
		equal(t, "more after the second", trimOutbox(t, s.DB, db.TrimPiece+3), false)
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM outbox"), 2)
	})
}
