package db

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// Exec sends any statement in the transaction.
func (tx *Tx) Exec(ctx context.Context, query string) error { return tx.exec(ctx, "test", query) }

// Get reads one value by any statement.
func (tx *Tx) Get(ctx context.Context, into any, query string) error {
	return tx.get(ctx, "test", into, query)
}

// Plans has every statement that is read from now on explained, on MySQL: tell is given the
// key, empty for none, and the remarks of each of its tables.
func (tx *Tx) Plans(tell func(statement, key, remarks string)) { tx.on = explained{tx.on, tell} }

// explained is a transaction whose readings are explained first.
type explained struct {
	sqlx.ExtContext
	tell func(statement, key, remarks string)
}

func (e explained) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	e.explain(ctx, query, args)
	return e.ExtContext.QueryxContext(ctx, query, args...)
}

func (e explained) QueryRowxContext(ctx context.Context, query string, args ...any) *sqlx.Row {
	e.explain(ctx, query, args)
	return e.ExtContext.QueryRowxContext(ctx, query, args...)
}

func (e explained) explain(ctx context.Context, query string, args []any) {
	rows, err := e.ExtContext.QueryxContext(ctx, "EXPLAIN "+query, args...)
	if err != nil {
		e.tell(query, "", err.Error())
		return
	}
	defer rows.Close()
	for rows.Next() {
		table := map[string]any{}
		if err := rows.MapScan(table); err != nil {
			e.tell(query, "", err.Error())
		}
		key, _ := table["key"].([]byte)
		remarks, _ := table["Extra"].([]byte)
		e.tell(query, string(key), string(remarks))
	}
	if err := rows.Err(); err != nil {
		e.tell(query, "", err.Error())
	}
}

// Waiting is how many operations wait for the next batch.
func (g *Group[Op]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// Bounds that tests pass.
const (
	MaxBatch  = maxBatch
	MaxTries  = maxTries
	TrimPiece = trimPiece
)

// Migrating opens a connection as migrations have it.
func (d *DB) Migrating() (*sql.DB, error) { return d.migrating() }
