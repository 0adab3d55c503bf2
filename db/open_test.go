package db_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

func TestExactlyOneStoreIsNamed(t *testing.T) {
	t.Parallel()
	for _, cfg := range []db.Config{{}, {MySQL: "root@tcp(127.0.0.1)/kith", SQLite: "kith.db"}} {
		if d, err := db.Open(t.Context(), cfg); err == nil {
			t.Errorf("opened %+v", cfg)
			_ = d.Close()
		}
	}
}

func TestWrongNamesAreErrors(t *testing.T) {
	t.Parallel()
	for _, cfg := range []db.Config{{MySQL: "not a data source"}, {SQLite: filepath.Join(t.TempDir(), "no", "such", "folder", "kith.db")}} {
		if d, err := db.Open(t.Context(), cfg); err == nil {
			t.Errorf("opened %+v", cfg)
			_ = d.Close()
		}
	}
}

func TestSQLitePathIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "a b.db", "what?.db", "100%41.db", "#1.db", "é&x=y.db"} {
		path := filepath.Join(t.TempDir(), name)
		d, err := db.Open(t.Context(), db.Config{SQLite: path})
		noError(t, err)
		_, err = d.Migrate(t.Context())
		noError(t, err)
		noError(t, d.Close())
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStoreTellsTheTime(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		before := time.Now().UnixMilli()
		ms, err := s.DB.NowMS(t.Context())
		noError(t, err)
		if after := time.Now().UnixMilli(); ms < before-2 || ms > after+2 {
			t.Errorf("the store says %d, from %d to %d", ms, before, after)
		}
	})
}

func TestWhatIsCommittedIsThereWhenOpenedAgain(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1<<53+1)
		users, err := s.OpenServer(t).UsersByID(t.Context(), []social.ID{1<<53 + 1})
		noError(t, err)
		equal(t, "people", len(users), 1)
		equal(t, "id", users[0].ID, 1<<53+1)
	})
}

func TestClosedStoreIsAnError(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		d, err := db.Open(t.Context(), s.Config)
		noError(t, err)
		noError(t, d.Ping(t.Context()))
		noError(t, d.Close())
		if d.Ping(t.Context()) == nil {
			t.Error("a closed store answered")
		}
	})
}
