package db_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// Two transactions that take two rows in opposite order: MariaDB ends one of them, and
// that one is run again.
func TestDeadlockIsRunAgain(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		var runs atomic.Int32
		met := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
		ended := make(chan error, 2)
		for i, order := range [][2]social.ID{{1, 2}, {2, 1}} {
			go func() {
				first := true
				ended <- s.DB.Transact(t.Context(), func(tx *db.Tx) error {
					runs.Add(1)
					for j, id := range order {
						if _, err := tx.LockActors(t.Context(), []social.ID{id}); err != nil {
							return err
						}
						if j == 0 && first {
							first = false
							close(met[i])
							<-met[1-i]
						}
					}
					return tx.AddCounts(t.Context(), []db.CountChange{{UserID: 1, Followers: 1}})
				})
			}()
		}
		noError(t, <-ended)
		noError(t, <-ended)
		equal(t, "runs", runs.Load(), 3)
		equal(t, "deadlocks", s.DB.Deadlocks(), 1)
		equal(t, "counted", s.Int(t, "SELECT followers FROM user_count WHERE user_id = 1"), 2)
	})
}

// A frozen server holds a row for longer than anybody waits: the transaction is run again
// until the row is free.
func TestLockWaitTimeoutIsRunAgain(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1)
		frozen, err := s.SQL.Begin()
		noError(t, err)
		_, err = frozen.Exec("SELECT * FROM actor WHERE user_id = 1 FOR UPDATE")
		noError(t, err)
		runs := 0
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			if runs++; runs == 2 {
				noError(t, frozen.Rollback())
			}
			_, err := tx.LockActors(ctx, []social.ID{1})
			return err
		})
		equal(t, "runs", runs, 2)
	})
}

// kill ends the connection of a transaction from a second session.
func kill(t testing.TB, s *socialtest.Store, tx *db.Tx) {
	t.Helper()
	var id int64
	noError(t, tx.Get(t.Context(), &id, "SELECT CONNECTION_ID()"))
	s.Exec(t, fmt.Sprintf("KILL CONNECTION %d", id))
	eventually(t, "the connection's end", func() bool {
		return s.Int(t, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", id) == 0
	})
}

func TestConnectionKilledBeforeTheCommitIsRunAgain(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		runs := 0
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			runs++
			if err := insert(ctx, tx, 1); err != nil {
				return err
			}
			if runs == 1 {
				kill(t, s, tx)
			}
			return insert(ctx, tx, 2)
		})
		equal(t, "runs", runs, 2)
		equal(t, "rows", handles(t, s), 2)
	})
}

func TestConnectionKilledAtTheCommitIsNotRunAgain(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		runs := 0
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			runs++
			err := insert(t.Context(), tx, 1)
			kill(t, s, tx)
			return err
		})
		hasCode(t, err, social.Unavailable)
		equal(t, "runs", runs, 1)
		equal(t, "rows", handles(t, s), 0)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return insert(ctx, tx, 1) })
	})
}

// The commit happened, but its answer is lost with the connection: run again, it would
// happen twice.
func TestLostAnswerOfACommitIsNotRunAgain(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		p, d := throughProxy(t, s)
		runs := 0
		err := d.Transact(t.Context(), func(tx *db.Tx) error {
			runs++
			err := insert(t.Context(), tx, social.ID(runs))
			p.LoseAnswers()
			return err
		})
		hasCode(t, err, social.Unavailable)
		equal(t, "runs", runs, 1)
		eventually(t, "the commit", func() bool { return handles(t, s) == 1 })
	})
}

// A connection of the pool that died while idle is not the caller's concern.
func TestDeadIdleConnectionsAreReplaced(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		p, d := throughProxy(t, s)
		for range 3 {
			noError(t, d.Ping(t.Context()))
			p.Drop()
			_, err := d.ExistingUsers(t.Context(), []social.ID{1})
			noError(t, err)
			p.Drop()
			write(t, d, func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.ExistingUsers(ctx, []social.ID{1})
				return err
			})
		}
	})
}

// Frozen servers must not hold locks for long.
func TestSessionsAreBoundedInTime(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			var got string
			err := tx.Get(ctx, &got, `SELECT CONCAT_WS(' ', @@wait_timeout, @@innodb_lock_wait_timeout, @@tx_isolation, @@time_zone)`)
			equal(t, "session", got, "2 2 READ-COMMITTED +00:00")
			return err
		})
	})
}
