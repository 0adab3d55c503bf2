package db

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"kith/social"
)

// queries run on one handle: the pool, or a transaction. Every statement of this package
// goes through its three methods, which count it.
type queries struct {
	on      sqlx.ExtContext
	dialect *dialect
	sent    *atomic.Int64
	// edge turns errors into those that leave this package. Inside a transaction it is
	// nil: there the driver's error decides whether to try again.
	edge func(error) error
}

// get reads one row, or is NOT_FOUND; doing says what for, in errors.
func (q *queries) get(ctx context.Context, doing string, into any, query string, args ...any) error {
	return q.read(doing, func() error { return sqlx.GetContext(ctx, q.on, into, query, args...) })
}

// all reads every row into a slice.
func (q *queries) all(ctx context.Context, doing string, into any, query string, args ...any) error {
	return q.read(doing, func() error {
		reflect.ValueOf(into).Elem().SetZero() // of what a broken connection left
		rows, err := q.on.QueryxContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // its error is that of Err
		return scan(rows.Rows, into)
	})
}

// scan is what sqlx.SelectContext does, but for the methods that *sqlx.Rows has from the
// *sql.Rows within: called through an interface, each leaves an entry on the stack that the
// race detector keeps for the goroutine (https://go.dev/issue/81478), and every goroutine
// that is started later costs the length of it. That was half of what the tests took.
func scan(rows *sql.Rows, into any) error {
	slice := reflect.ValueOf(into).Elem()
	of := slice.Type().Elem()
	if reflectx.Deref(of).Kind() == reflect.Struct {
		return sqlx.StructScan(rows, into)
	}
	for rows.Next() {
		v := reflect.New(of)
		if err := rows.Scan(v.Interface()); err != nil {
			return err
		}
		slice.Set(reflect.Append(slice, v.Elem()))
	}
	return rows.Err()
}

// read sends a reading. Outside a transaction one whose connection broke is sent once
// more: the store ends idle connections, perhaps just when one is taken from the pool.
func (q *queries) read(doing string, send func() error) error {
	q.sent.Add(1)
	err := send()
	if q.edge != nil && classify(err) == gone {
		q.sent.Add(1)
		err = send()
	}
	return q.wrap(doing, err)
}

// exec runs a statement whose effect on rows nobody asks for: how many were affected
// depends on settings of the connection, and decides nothing here.
func (q *queries) exec(ctx context.Context, doing, query string, args ...any) error {
	q.sent.Add(1)
	_, err := q.on.ExecContext(ctx, query, args...)
	return q.wrap(doing, err)
}

func (q *queries) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if classify(err) == notThere {
		return &social.Error{Code: social.NotFound, Message: "there is no such thing", Cause: err}
	}
	if q.edge != nil {
		return q.edge(err)
	}
	return err
}
