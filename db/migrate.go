package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrationLock keeps two servers that start at once from migrating at once.
const migrationLock = "kith_migrate_"

// Migrate brings the schema up to this binary's. It may run on many servers at once, and
// twice; versions newer than this binary are left alone. It answers how many migrations
// it applied.
func (d *DB) Migrate(ctx context.Context) (int, error) {
	n, err := d.migrate(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return n, d.loadLanes(ctx)
}

func (d *DB) migrate(ctx context.Context) (int, error) {
	on := d.write.DB
	if d.migrating != nil {
		p, err := d.migrating()
		if err != nil {
			return 0, err
		}
		defer func() { _ = p.Close() }()
		conn, err := p.Conn(ctx)
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close() }() // and with the pool the lock ends
		if err := lockMigrate(ctx, conn); err != nil {
			return 0, err
		}
		on = p
	}
	p, err := d.goose(on)
	if err != nil {
		return 0, err
	}
	done, err := p.Up(ctx)
	return len(done), err
}

// CheckSchema is an error where migrations of this binary have not been applied.
func (d *DB) CheckSchema(ctx context.Context) error {
	p, err := d.goose(d.write.DB)
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	pending, err := p.HasPending(ctx)
	if err != nil {
		return fmt.Errorf("check the schema: %w", err)
	}
	if pending {
		return errors.New("the schema is older than this binary: run kith migrate")
	}
	return d.loadLanes(ctx)
}

func (d *DB) goose(on *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations/"+d.dialect.name)
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectMySQL
	if d.dialect.name == "sqlite" {
		dialect = goose.DialectSQLite3
	}
	return goose.NewProvider(dialect, on, folder, goose.WithDisableGlobalRegistry(true))
}

// lockMigrate takes a lock of this database that lasts as long as the connection. SQLite
// needs none: one process holds the file.
func lockMigrate(ctx context.Context, conn *sql.Conn) error {
	for range 3600 { // a second each, so that the end of ctx is noticed
		var got int
		if err := conn.QueryRowContext(ctx, "SELECT COALESCE(GET_LOCK(CONCAT(?, SHA1(DATABASE())), 1), 0)", migrationLock).Scan(&got); err != nil {
			return err
		}
		if got == 1 {
			return nil
		}
	}
	return errors.New("another server has been migrating for an hour")
}
