package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kith/db"
	"kith/socialtest"
)

// putEvents writes n events into lane 0.
func putEvents(t testing.TB, s *socialtest.Store, n int) {
	t.Helper()
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`(0, %d, 'user', '{"user":"%d"}', 100)`, i+1, i+1))
	}
	s.Exec(t, "INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES "+strings.Join(rows, ","))
	s.Exec(t, fmt.Sprintf("UPDATE lane SET seq = %d WHERE lane = 0", n))
}

// claimed is the positions of the lanes that the holder has after it claimed them.
func claimed(t testing.TB, d *db.DB, consumer, holder string) (positions []int64) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		lanes, err := tx.ClaimLanes(ctx, consumer, holder, time.Minute)
		positions = nil
		for _, l := range lanes {
			positions = append(positions, l.Position)
		}
		return err
	})
	return positions
}

// advanced moves the position in lane 0.
func advanced(t testing.TB, d *db.DB, holder string, from, to int64) (ok bool) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) (err error) {
		ok, err = tx.AdvanceLane(ctx, "a", holder, 0, from, to)
		return err
	})
	return ok
}

func TestEventsAreReadInOrderAfterANumber(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEvents(t, s, 10)
		seqs, err := s.DB.LaneSeqs(t.Context())
		noError(t, err)
		equal(t, "lanes", len(seqs), s.DB.Lanes())
		equal(t, "number of lane 0", seqs[0], 10)
		got, err := s.DB.EventsAfter(t.Context(), 0, 7, 2)
		noError(t, err)
		equal(t, "events", got, []db.StoredEvent{
			{Seq: 8, Kind: "user", Body: `{"user":"8"}`, CreatedAt: 100}, {Seq: 9, Kind: "user", Body: `{"user":"9"}`, CreatedAt: 100},
		})
		got, err = s.DB.EventsAfter(t.Context(), 0, 10, 2)
		noError(t, err)
		equal(t, "events after the last", len(got), 0)
	})
}

func TestLanesAreHeldByOneUntilTheLeaseEnds(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		all := make([]int64, s.DB.Lanes())
		equal(t, "the first takes all", claimed(t, s.DB, "a", "first"), all)
		equal(t, "the second none", len(claimed(t, s.DB, "a", "second")), 0)
		equal(t, "of another consumer all", claimed(t, s.DB, "b", "second"), all)
		equal(t, "the first has its own again", claimed(t, s.DB, "a", "first"), all)
		if left := s.Int(t, "SELECT MIN(held_until) FROM consumed WHERE holder = 'first'") - time.Now().UnixMilli(); left < 50_000 || left > 70_000 {
			t.Errorf("held for %d ms, want a minute", left)
		}
		s.Exec(t, "UPDATE consumed SET held_until = 1 WHERE consumer = 'a' AND lane = 0")
		equal(t, "the second takes what has ended", len(claimed(t, s.DB, "a", "second")), 1)
		equal(t, "the first has the others", len(claimed(t, s.DB, "a", "first")), s.DB.Lanes()-1)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.ReleaseLanes(ctx, "a", "first") })
		equal(t, "released lanes are free", claimed(t, s.DB, "a", "second"), all)
	})
}

func TestWorkersThatClaimAtOnceShareTheLanes(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const workers = 6
		got := make(chan int, workers)
		for i := range workers {
			d := s.OpenServer(t)
			go func() { got <- len(claimed(t, d, "a", fmt.Sprint("worker", i))) }()
		}
		sum := 0
		for range workers {
			sum += <-got
		}
		equal(t, "lanes held", sum, s.DB.Lanes())
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM consumed"), int64(s.DB.Lanes()))
	})
}

func TestPositionMovesForItsHolderFromWhereItIs(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		claimed(t, s.DB, "a", "first")
		equal(t, "from 0", advanced(t, s.DB, "first", 0, 5), true)
		equal(t, "from 0 again", advanced(t, s.DB, "first", 0, 7), false)
		equal(t, "of another", advanced(t, s.DB, "second", 5, 7), false)
		equal(t, "position", s.Int(t, "SELECT position FROM consumed WHERE consumer = 'a' AND lane = 0"), 5)
		equal(t, "to where it is", advanced(t, s.DB, "first", 5, 5), true)
	})
}

func TestPassedIsWhatEveryConsumerHasPassed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		passed, err := s.DB.PassedLanes(t.Context())
		noError(t, err)
		equal(t, "without consumers", len(passed), 0)
		claimed(t, s.DB, "a", "first")
		claimed(t, s.DB, "b", "first")
		s.Exec(t, "UPDATE consumed SET position = 7")
		s.Exec(t, "UPDATE consumed SET position = 5 WHERE lane = 0 AND consumer = 'b'")
		passed, err = s.DB.PassedLanes(t.Context())
		noError(t, err)
		equal(t, "lanes", len(passed), s.DB.Lanes())
		for lane, position := range passed {
			equal(t, fmt.Sprint("passed in lane ", lane), position, map[bool]int64{true: 5, false: 7}[lane == 0])
		}
	})
}
