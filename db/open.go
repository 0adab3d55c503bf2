package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

// Config names the store: exactly one of the two.
type Config struct {
	// MySQL is a data source name as of go-sql-driver/mysql: user:password@tcp(host)/name.
	MySQL string
	// SQLite is the path of a file, made when absent. Its folder must exist, and one
	// process at a time may hold it.
	SQLite string
}

// DB is the store. Its own methods read what is committed; safe for parallel use.
type DB struct {
	queries
	read, write *sqlx.DB
	statements  atomic.Int64
	deadlocks   atomic.Int64
	lanes       int
	onEvents    func() // nil: nobody asked
	// migrating opens connections without time-outs; nil: the writing ones have none.
	migrating func() (*sql.DB, error)
	close     []func() error
}

// Open connects to the store without touching its schema. See [DB.Migrate].
func Open(ctx context.Context, cfg Config) (*DB, error) {
	var d *DB
	var err error
	switch {
	case (cfg.MySQL == "") == (cfg.SQLite == ""):
		return nil, errors.New("name one store: MySQL or SQLite")
	case cfg.MySQL != "":
		d, err = openMySQL(ctx, cfg.MySQL)
	default:
		d, err = openSQLite(ctx, cfg.SQLite)
	}
	if err != nil {
		return nil, err
	}
	d.queries.on, d.sent, d.edge = d.read, &d.statements, public
	return d, nil
}

// Close ends all connections.
func (d *DB) Close() error {
	var errs []error
	for _, c := range d.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Ping asks the store whether it is there; UNAVAILABLE when not.
func (d *DB) Ping(ctx context.Context) error {
	return public(d.read.PingContext(ctx))
}

// Statements is how many statements were sent since Open, begin and commit left out.
func (d *DB) Statements() int64 { return d.statements.Load() }

// Deadlocks is how many transactions lost in a deadlock since Open. The one order of locks
// leaves none: a rising number tells that a transaction breaks it.
func (d *DB) Deadlocks() int64 { return d.deadlocks.Load() }

// NowMS is the store's own clock, in milliseconds since 1970.
func (q *queries) NowMS(ctx context.Context) (int64, error) {
	var ms int64
	err := q.get(ctx, "read the store's clock", &ms, "SELECT "+q.dialect.nowMS)
	return ms, err
}

// pool sets the bounds of a pool of connections.
func pool(p *sql.DB, driver string, size int, idle time.Duration) *sqlx.DB {
	p.SetMaxOpenConns(size)
	p.SetMaxIdleConns(size)
	p.SetConnMaxIdleTime(idle)
	return sqlx.NewDb(p, driver)
}

func isMariaDB(version string) bool { return strings.Contains(strings.ToLower(version), "mariadb") }

func openError(store string, err error) error { return fmt.Errorf("open %s: %w", store, err) }
