package db

import (
	"context"
	"database/sql"
)

// Exec sends any statement in the transaction.
func (tx *Tx) Exec(ctx context.Context, query string) error { return tx.exec(ctx, "test", query) }

// Get reads one value by any statement.
func (tx *Tx) Get(ctx context.Context, into any, query string) error {
	return tx.get(ctx, "test", into, query)
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
