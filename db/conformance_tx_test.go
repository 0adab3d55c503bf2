package db_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

func handles(t testing.TB, s *socialtest.Store) int64 {
	t.Helper()
	return s.Int(t, "SELECT COUNT(*) FROM user")
}

func insert(ctx context.Context, tx *db.Tx, id social.ID) error {
	return tx.InsertUser(ctx, &social.User{ID: id, Handle: "user" + id.String(), Name: "x"}, "hash")
}

func TestErrorRollsBackAndIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		mine, runs := errors.New("mine"), 0
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			runs++
			if err := insert(t.Context(), tx, 1); err != nil {
				return err
			}
			return mine
		})
		if err != mine { //nolint:errorlint // as it is
			t.Errorf("got %v", err)
		}
		equal(t, "runs", runs, 1)
		equal(t, "rows", handles(t, s), 0)
	})
}

func TestTransactionReadsItsOwnWritesAndOthersDoNot(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			if err := insert(ctx, tx, 1); err != nil {
				return err
			}
			mine, err := tx.ExistingUsers(ctx, []social.ID{1})
			equal(t, "inside", len(mine), 1)
			others, err2 := s.DB.ExistingUsers(ctx, []social.ID{1})
			equal(t, "outside", len(others), 0)
			return errors.Join(err, err2)
		})
		equal(t, "after", handles(t, s), 1)
	})
}

func TestStatementsAreCounted(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		before := s.DB.Statements()
		people(t, s.DB, 1) // user, actor, counts
		_, err := s.DB.ExistingUsers(t.Context(), []social.ID{1})
		noError(t, err)
		publish(t, s.DB, 1) // lane, outbox
		equal(t, "statements", s.DB.Statements()-before, 3+1+2)
	})
}

func TestCancelledTransactionLeavesNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		err := s.DB.Transact(ended, func(*db.Tx) error { t.Error("begun"); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("before the begin: %v", err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		err = s.DB.Transact(ctx, func(tx *db.Tx) error {
			err := insert(ctx, tx, 1)
			cancel()
			return errors.Join(err, insert(ctx, tx, 2))
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("between statements: %v", err)
		}
		eventually(t, "nothing", func() bool { return handles(t, s) == 0 })
	})
}

// The transaction has been rolled back by the time of its commit: that is told as what
// ended it, not as an error of ours.
func TestContextThatEndsBeforeTheCommit(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		runs := 0
		err := s.DB.Transact(ctx, func(tx *db.Tx) error {
			runs++
			if err := insert(ctx, tx, 1); err != nil {
				return err
			}
			<-ctx.Done()
			eventually(t, "the roll-back", func() bool {
				return errors.Is(tx.Exec(context.WithoutCancel(ctx), "SELECT 1"), sql.ErrTxDone)
			})
			return nil
		})
		equal(t, "runs", runs, 1)
		hasCode(t, err, social.Unavailable)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v does not tell what ended it", err)
		}
		equal(t, "rows", handles(t, s), 0)
	})
}

func TestStatementThatTakesTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		query := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT COUNT(*) FROM n`
		if s.IsMySQL() {
			query = "SELECT SLEEP(60)"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		err := s.DB.Transact(ctx, func(tx *db.Tx) error {
			var n int
			return tx.Get(ctx, &n, query)
		})
		hasCode(t, err, social.Unavailable)
		noError(t, s.DB.Ping(t.Context()))
	})
}

// Nobody who waits for a lock of the store waits longer than their context.
func TestWaitingForTheStoreEndsWithTheContext(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1)
		holds, release := make(chan struct{}), make(chan struct{})
		held := make(chan error)
		go func() {
			held <- s.DB.Transact(t.Context(), func(tx *db.Tx) error {
				_, err := tx.LockUser(t.Context(), 1)
				close(holds)
				<-release
				return err
			})
		}()
		<-holds
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := s.DB.Transact(ctx, func(tx *db.Tx) error {
			_, err := tx.LockUser(ctx, 1)
			return err
		})
		hasCode(t, err, social.Unavailable)
		close(release)
		noError(t, <-held)
	})
}

// Whoever recovers the panic must find the store as it was: SQLite has one connection
// that writes.
func TestPanicGivesTheConnectionBack(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		func() {
			defer func() { _ = recover() }()
			_ = s.DB.Transact(t.Context(), func(tx *db.Tx) error {
				noError(t, tx.InsertUser(t.Context(), &social.User{ID: 7, Handle: "abc", Name: "A"}, "x"))
				panic("a fault")
			})
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		noError(t, s.DB.Transact(ctx, func(tx *db.Tx) error {
			return tx.InsertUser(ctx, &social.User{ID: 8, Handle: "abc", Name: "A"}, "x")
		}))
	})
}
