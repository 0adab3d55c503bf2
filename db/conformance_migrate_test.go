package db_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// unmigrated opens the store anew with nothing in it.
func unmigrated(t testing.TB, s *socialtest.Store) *db.DB {
	t.Helper()
	if !s.IsMySQL() {
		s.Config.SQLite = filepath.Join(t.TempDir(), "kith.db")
		d := s.Open(t)
		raw, err := sqlx.Connect("sqlite", "file:"+s.Config.SQLite+"?_pragma=busy_timeout(5000)")
		noError(t, err)
		t.Cleanup(func() { noError(t, raw.Close()) })
		s.SQL = raw
		return d
	}
	s.Exec(t, "DROP TABLE "+strings.Join(tables(t, s), ", ")+", goose_db_version")
	return s.Open(t)
}

// tables are those of the schema, in alphabetical order.
func tables(t testing.TB, s *socialtest.Store) []string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
	if s.IsMySQL() {
		query = "SELECT table_name AS name FROM information_schema.TABLES WHERE table_schema = DATABASE()"
	}
	var names []string
	noError(t, s.SQL.Select(&names, "SELECT name FROM ("+query+") AS t WHERE name <> 'goose_db_version' ORDER BY name"))
	return names
}

func TestUnmigratedSchemaIsRefused(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		d := unmigrated(t, s)
		err := d.CheckSchema(t.Context())
		if err == nil || !strings.Contains(err.Error(), "kith migrate") {
			t.Fatalf("got %v", err)
		}
		equal(t, "tables", len(tables(t, s)), 0)
		_, err = d.Migrate(t.Context())
		noError(t, err)
		noError(t, d.CheckSchema(t.Context()))
	})
}

func TestMigrateRunTwiceDoesNothingMore(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		d := unmigrated(t, s)
		done, err := d.Migrate(t.Context())
		noError(t, err)
		if done == 0 {
			t.Error("nothing was migrated")
		}
		people(t, d, 1)
		publish(t, d, 1)
		done, err = d.Migrate(t.Context())
		noError(t, err)
		equal(t, "migrations of the second run", done, 0)
		equal(t, "rows that stayed", handles(t, s), 1)
		equal(t, "lanes that stayed", s.Int(t, "SELECT SUM(seq) FROM lane"), 1)
	})
}

// Four servers find an empty database at once: one of them migrates it.
func TestServersMigrateAtOnce(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		for range 4 { // they do not always meet
			servers := []*db.DB{unmigrated(t, s), s.Open(t), s.Open(t), s.Open(t)}
			equal(t, "servers that migrated", migrateAtOnce(t, servers), 1)
			for _, d := range servers {
				noError(t, d.CheckSchema(t.Context()))
				equal(t, "lanes", d.Lanes(), 16)
				publish(t, d, 1)
			}
		}
	})
}

// migrateAtOnce says how many of the servers migrated anything.
func migrateAtOnce(t *testing.T, servers []*db.DB) (migrated int) {
	t.Helper()
	type result struct {
		done int
		err  error
	}
	results, start := make(chan result), make(chan struct{})
	for _, d := range servers {
		noError(t, d.Ping(t.Context())) // connected
		go func() {
			<-start
			n, err := d.Migrate(t.Context())
			results <- result{n, err}
		}()
	}
	close(start)
	var errs []error
	for range servers {
		r := <-results
		errs = append(errs, r.err)
		if r.done > 0 {
			migrated++
		}
	}
	noError(t, errors.Join(errs...))
	return migrated
}

// During a rolling upgrade the old binary runs on the new schema.
func TestBinaryOlderThanTheSchemaRuns(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		s.Exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)")
		d := s.OpenServer(t)
		done, err := d.Migrate(t.Context())
		noError(t, err)
		equal(t, "migrations", done, 0)
		equal(t, "newer versions", s.Int(t, "SELECT COUNT(*) FROM goose_db_version WHERE version_id = 99999"), 1)
		people(t, d, 1)
	})
}

func TestBothDialectsHaveTheSameTablesAndColumns(t *testing.T) {
	t.Parallel()
	my, lite := socialtest.NewMySQL(t), socialtest.NewSQLite(t)
	equal(t, "tables", tables(t, lite), tables(t, my))
	for _, table := range tables(t, my) {
		var ours, theirs []struct {
			Name     string `db:"name"`
			Nullable bool   `db:"nullable"`
			Key      bool   `db:"pk"`
		}
		noError(t, lite.SQL.Select(&ours,
			`SELECT name, "notnull" = 0 AS nullable, pk > 0 AS pk FROM pragma_table_info(?) ORDER BY cid`, table))
		noError(t, my.SQL.Select(&theirs, `
			SELECT column_name AS name, is_nullable = 'YES' AS nullable, column_key = 'PRI' AS pk
			FROM information_schema.COLUMNS WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`, table))
		equal(t, "columns of "+table, ours, theirs)
		equal(t, "indexes of "+table, lite.Int(t,
			`SELECT COUNT(*) FROM pragma_index_list(?) WHERE origin <> 'pk'`, table), my.Int(t, `
			SELECT COUNT(DISTINCT index_name) FROM information_schema.STATISTICS
			WHERE table_schema = DATABASE() AND table_name = ? AND index_name <> 'PRIMARY'`, table))
	}
}

// MySQL commits every CREATE TABLE by itself, so a migration can be cut off half way.
func TestMigrationThatWasCutOffRunsAgain(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	s.Exec(t, "DROP TABLE node_lease, outbox, dead_letter, settling")
	s.Exec(t, "DELETE FROM cache_state WHERE part >= 40")
	s.Exec(t, "DELETE FROM goose_db_version WHERE version_id > 0")
	_, err := s.DB.Migrate(t.Context())
	noError(t, err)
	equal(t, "lanes", s.Int(t, "SELECT COUNT(*) FROM lane"), 16)
	equal(t, "leases", s.Int(t, "SELECT COUNT(*) FROM node_lease"), 0)
	equal(t, "partitions", s.Int(t, "SELECT COUNT(*) FROM cache_state"), 64)
	equal(t, "dead letters", s.Int(t, "SELECT COUNT(*) FROM dead_letter"), 0)
	equal(t, "to settle", s.Int(t, "SELECT COUNT(*) FROM settling"), 0)
}

// Rows from before there were statuses and versions of tokens are of who is active, with
// tokens of version 0; and a binary from then goes on writing such.
func TestRowsFromBeforeStatusesAreOfActivePeople(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const insert = "INSERT INTO user (id, handle, name, bio, avatar_url, password_hash) VALUES "
		for _, table := range []string{"settling", "revoked", "block", "mute", "blog_like", "blog_liker", "blog_count", "hot_list", "notification", "notification_actor", "notification_list"} {
			s.Exec(t, "DROP TABLE "+table)
		}
		if s.IsMySQL() {
			s.Exec(t, "DROP INDEX user_star ON user")
		} else {
			s.Exec(t, "DROP INDEX user_star")
		}
		for table, columns := range map[string][]string{
			"user": {"status", "is_private", "token_version", "star_since"}, "actor": {"pending", "blocking", "muting", "like_version"}, "user_count": {"requests"}, "following": {"accepted"},
		} {
			for _, column := range columns {
				s.Exec(t, "ALTER TABLE "+table+" DROP COLUMN "+column)
			}
		}
		s.Exec(t, "DELETE FROM goose_db_version WHERE version_id >= 3")
		s.Exec(t, insert+"(1, 'old', 'Old', '', NULL, 'hash')")
		n, err := s.DB.Migrate(t.Context())
		noError(t, err)
		equal(t, "migrations", n, 5)
		s.Exec(t, insert+"(2, 'older', 'Older', '', NULL, 'hash')")
		for id, handle := range map[social.ID]string{1: "old", 2: "older"} {
			u, c, err := s.DB.UserByHandle(t.Context(), handle)
			noError(t, err)
			equal(t, "person", *u, social.User{ID: id, Handle: handle, Name: u.Name, Status: social.Active})
			equal(t, "credentials", c, db.Credentials{Hash: "hash"})
		}
	})
}

// Altering a large table takes longer than any query may.
func TestMigrationsOutlastTheTimeOuts(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	d, err := db.Open(t.Context(), db.Config{MySQL: s.Config.MySQL + "?readTimeout=300ms"})
	noError(t, err)
	defer func() { noError(t, d.Close()) }()
	p, err := d.Migrating()
	noError(t, err)
	defer func() { noError(t, p.Close()) }()
	_, err = p.ExecContext(t.Context(), "DO SLEEP(1)")
	noError(t, err)
	var idle int
	noError(t, p.QueryRowContext(t.Context(), "SELECT @@wait_timeout").Scan(&idle))
	equal(t, "seconds of idling", idle, 24*3600)
}
