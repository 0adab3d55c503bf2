// Package socialtest is the harness of the tests: a fresh store of every kind for each
// test, a Redis and a network to break, a clock that the test holds, and a GraphQL client.
package socialtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"kith/db"
	"kith/social"
)

// Store is a fresh, migrated store of one test.
type Store struct {
	// Config opens the store; an embedded one is the file kith.db in a folder of its own.
	Config db.Config
	DB     *db.DB
	// SQL reads and breaks the store behind the back of what is tested.
	SQL   *sqlx.DB
	Clock *Clock
	// IDs makes ids on the clock, as node 1.
	IDs *social.Snowflake
}

// Each runs the test on every kind of store, in parallel.
func Each(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, NewMySQL(t)) })
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); test(t, NewSQLite(t)) })
}

// NewMySQL makes a store in a database of its own on the server that KITH_TEST_MYSQL
// names; the test fails without one.
func NewMySQL(t testing.TB) *Store {
	t.Helper()
	dsn := os.Getenv("KITH_TEST_MYSQL")
	if dsn == "" {
		t.Fatal("KITH_TEST_MYSQL names no server: run the tests by make test")
	}
	cfg, err := mysql.ParseDSN(dsn)
	must(t, err)
	admin := connect(t, "mysql", cfg.FormatDSN())
	name := "kith_test_" + random()
	admin.MustExec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4")
	t.Cleanup(func() { admin.MustExec("DROP DATABASE " + name) })
	cfg.DBName = name
	return newStore(t, db.Config{MySQL: cfg.FormatDSN()}, connect(t, "mysql", cfg.FormatDSN()))
}

// NewSQLite makes an embedded store in a folder of its own.
func NewSQLite(t testing.TB) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kith.db")
	s := newStore(t, db.Config{SQLite: path}, connect(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"))
	return s
}

func newStore(t testing.TB, cfg db.Config, raw *sqlx.DB) *Store {
	t.Helper()
	s := &Store{Config: cfg, SQL: raw, Clock: NewClock()}
	s.DB = s.Open(t)
	_, err := s.DB.Migrate(context.Background())
	must(t, err)
	s.IDs = social.NewSnowflake(s.Clock.Now, Node(1))
	return s
}

// Open opens the store once more, as another server would; it is closed with the test.
func (s *Store) Open(t testing.TB) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), s.Config)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// OpenServer opens the store once more, ready to write: its schema has been checked.
func (s *Store) OpenServer(t testing.TB) *db.DB {
	t.Helper()
	d := s.Open(t)
	must(t, d.CheckSchema(context.Background()))
	return d
}

// IsMySQL tells the kinds of stores apart.
func (s *Store) IsMySQL() bool { return s.Config.MySQL != "" }

// Int reads one number.
func (s *Store) Int(t testing.TB, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must(t, s.SQL.Get(&n, query, args...))
	return n
}

// Exec changes rows behind the back of what is tested.
func (s *Store) Exec(t testing.TB, query string, args ...any) {
	t.Helper()
	_, err := s.SQL.Exec(query, args...)
	must(t, err)
}

// Await polls until the query, one number, is not 0; the test fails after half a minute.
func (s *Store) Await(t testing.TB, query string) {
	t.Helper()
	// Asked without rest, it would take a core from what is waited for.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); s.Int(t, query) == 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("still 0: %s", query)
		}
	}
}

// Node is a node number that is never lost.
func Node(n int) social.NodeFunc { return func() (int, error) { return n, nil } }

func connect(t testing.TB, driver, dsn string) *sqlx.DB {
	t.Helper()
	d, err := sqlx.Connect(driver, dsn)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
