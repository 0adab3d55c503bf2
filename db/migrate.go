package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// lockMigrations keeps two servers that start at once from migrating at once.
const lockMigrations = "kith_migrate"

// Migrate brings the schema up to this binary's. It may run on many servers at once, and
// twice; versions newer than this binary are left alone. It answers how many migrations
// it applied.
func (d *DB) Migrate(ctx context.Context) (int, error) {
	unlock, err := d.lockMigrate(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	defer unlock()
	p, err := d.goose()
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	done, err := p.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrate: %w", err)
	}
	return len(done), d.loadLanes(ctx)
}

// CheckSchema is an error where migrations of this binary have not been applied.
func (d *DB) CheckSchema(ctx context.Context) error {
	p, err := d.goose()
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

func (d *DB) goose() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations/"+d.dialect.name)
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectMySQL
	if d.dialect.name == "sqlite" {
		dialect = goose.DialectSQLite3
	}
	return goose.NewProvider(dialect, d.write.DB, folder, goose.WithDisableGlobalRegistry(true))
}

// lockMigrate takes a named lock on a connection of its own, which may stand idle for as
// long as the migrations run. SQLite needs none: one process holds the file.
func (d *DB) lockMigrate(ctx context.Context) (unlock func(), err error) {
	if d.dialect.name == "sqlite" {
		return func() {}, nil
	}
	conn, err := d.write.Connx(ctx)
	if err != nil {
		return nil, err
	}
	if err := takeLock(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return func() {
		// Also when ctx has ended; and a lock that is not released here ends with its
		// connection, whose wait_timeout is put back for that.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "DO RELEASE_LOCK(?)", lockMigrations)
		_, _ = conn.ExecContext(ctx, "SET SESSION wait_timeout = 2")
		_ = conn.Close()
	}, nil
}

func takeLock(ctx context.Context, conn *sqlx.Conn) error {
	if _, err := conn.ExecContext(ctx, "SET SESSION wait_timeout = 3600"); err != nil {
		return err
	}
	var got int
	for range 60 { // a second each: the driver waits no longer than ten for an answer
		if err := conn.GetContext(ctx, &got, "SELECT COALESCE(GET_LOCK(?, 1), 0)", lockMigrations); err != nil {
			return err
		}
		if got == 1 {
			return nil
		}
	}
	return errors.New("another server has been migrating for a minute")
}
