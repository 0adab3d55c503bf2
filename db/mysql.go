package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	// mysqlConnections bounds what one server takes of MySQL's.
	mysqlConnections = 64
	// A frozen server must not hold locks for long: MySQL ends a connection that is idle
	// for idleSeconds, in a transaction too, and nobody waits longer than lockSeconds in
	// one statement. Our pool drops idle ones before that.
	idleSeconds = 2
	lockSeconds = 2
	// Nobody waits for a connection that migrates, except for another that does.
	idleSecondsMigrating = 24 * 3600
	poolIdle             = time.Second
)

// session is sent on every new connection, before anything else; idle is when MySQL ends
// it.
func session(idle int) []string {
	return []string{
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		fmt.Sprintf("SET SESSION wait_timeout = %d, innodb_lock_wait_timeout = %d, time_zone = '+00:00',"+
			" sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'", idle, lockSeconds),
	}
}

func openMySQL(ctx context.Context, dsn string) (*DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, openError("MySQL", err)
	}
	if cfg.DBName == "" {
		return nil, openError("MySQL", errors.New("name a database: user:password@tcp(host)/database"))
	}
	connector, err := newMySQLConnector(cfg, idleSeconds)
	if err != nil {
		return nil, openError("MySQL", err)
	}
	p := pool(sql.OpenDB(connector), "mysql", mysqlConnections, poolIdle)
	var version string
	if err := p.GetContext(ctx, &version, "SELECT version()"); err != nil {
		_ = p.Close()
		return nil, openError("MySQL", err)
	}
	d := &DB{read: p, write: p, close: []func() error{p.Close}}
	d.dialect = mysqlDialect(isMariaDB(version))
	d.migrating = func() (*sql.DB, error) {
		connector, err := newMySQLConnector(patient(cfg), idleSecondsMigrating)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(connector), nil
	}
	return d, nil
}

// mysqlConnector gives connections that have our session settings.
type mysqlConnector struct {
	driver.Connector
	session []string
}

// newMySQLConnector keeps what the operator set and adds what we rely on: values are
// written into statements by the driver (one round trip instead of three), and no packet
// is awaited without bound.
func newMySQLConnector(cfg *mysql.Config, idle int) (*mysqlConnector, error) {
	cfg.InterpolateParams = true
	cfg.Collation = "utf8mb4_bin"
	cfg.Logger = &mysql.NopLogger{} // what it would tell is in the errors too
	for _, t := range []struct {
		set   *time.Duration
		value time.Duration
	}{{&cfg.Timeout, 2 * time.Second}, {&cfg.ReadTimeout, 10 * time.Second}, {&cfg.WriteTimeout, 10 * time.Second}} {
		if *t.set == 0 {
			*t.set = t.value
		}
	}
	c, err := mysql.NewConnector(cfg)
	return &mysqlConnector{c, session(idle)}, err
}

// patient is cfg for statements that take as long as they take: altering a large table
// outlasts any time-out.
func patient(cfg *mysql.Config) *mysql.Config {
	cfg = cfg.Clone()
	cfg.ReadTimeout, cfg.WriteTimeout = 24*time.Hour, 24*time.Hour
	return cfg
}

// Connect opens a connection and sets its session.
func (c *mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, connectError{err}
	}
	for _, s := range c.session {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, s, nil); err != nil {
			_ = conn.Close()
			return nil, connectError{err}
		}
	}
	return conn, nil
}
