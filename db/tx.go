package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
)

// Tx is an open transaction. It reads what DB reads, and writes.
type Tx struct {
	queries
	lanes     int
	published bool
}

// maxTries bounds how often one transaction is begun. A lock wait lasts up to two
// seconds, so a frozen server's locks are outlived by the second try.
const maxTries = 10

// Transact runs do in a transaction and commits when it returns nil; any error rolls back
// and is returned. A transaction that lost against another, or whose connection broke
// before the commit was sent, is run again from the start: do must keep nothing from an
// earlier run, and touch nothing but SQL. A connection lost during the commit is
// UNAVAILABLE: it may have happened or not.
func (d *DB) Transact(ctx context.Context, do func(*Tx) error) error {
	for try := 1; ; try++ {
		err := d.once(ctx, do)
		if err == nil {
			return nil
		}
		if !retryable(err) || try == maxTries {
			return public(err)
		}
		if isDeadlock(err) {
			d.deadlocks.Add(1)
		}
		// Jitter, or the losers meet again; it grows with the crowd.
		pause := rand.N(time.Duration(1<<min(try, 6)) * time.Millisecond)
		select {
		case <-ctx.Done():
			return public(fmt.Errorf("%w, while trying again after: %w", ctx.Err(), err))
		case <-time.After(pause):
		}
	}
}

// commitError is a commit of which nobody knows whether it happened.
type commitError struct{ error }

// Unwrap gives the cause.
func (e commitError) Unwrap() error { return e.error }

func retryable(err error) bool {
	switch classify(err) {
	case again:
		return true
	case gone:
		_, committing := err.(commitError) //nolint:errorlint // never wrapped: once returns it as it is
		return !committing
	}
	return false
}

// once is one try.
func (d *DB) once(ctx context.Context, do func(*Tx) error) error {
	tx, err := d.write.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// After a commit it does nothing; after an error that one is the one to tell; and
	// after a panic nothing else would give the connection back.
	defer func() { _ = tx.Rollback() }()
	t := d.tx(tx)
	if err := do(t); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
			err = ctx.Err() // it ended first, and rolled back
		}
		return commitError{fmt.Errorf("commit: %w", err)}
	}
	if t.published && d.onEvents != nil {
		d.onEvents()
	}
	return nil
}

func (d *DB) tx(tx *sqlx.Tx) *Tx {
	q := queries{on: tx, dialect: d.dialect, sent: d.sent}
	return &Tx{queries: q, lanes: d.lanes}
}
