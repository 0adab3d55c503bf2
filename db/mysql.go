package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
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
	poolIdle    = time.Second
)

// session is sent on every new connection, before anything else.
var session = []string{
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION wait_timeout = 2, innodb_lock_wait_timeout = 2, time_zone = '+00:00'," +
		" sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
}

func openMySQL(ctx context.Context, dsn string) (*DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, openError("MySQL", err)
	}
	connector, err := newMySQLConnector(cfg)
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
	return d, nil
}

// mysqlConnector gives connections that have our session settings.
type mysqlConnector struct{ driver.Connector }

// newMySQLConnector keeps what the operator set and adds what we rely on: values are
// written into statements by the driver (one round trip instead of three), and no packet
// is awaited without bound.
func newMySQLConnector(cfg *mysql.Config) (*mysqlConnector, error) {
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
	return &mysqlConnector{c}, err
}

// Connect opens a connection and sets its session.
func (c *mysqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range session {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, s, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}
