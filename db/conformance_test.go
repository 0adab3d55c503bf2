package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// The conformance suite says what every store does alike. Each test runs on MariaDB and
// on SQLite, on a database of its own.

// write commits what do writes.
func write(t testing.TB, d *db.DB, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	noError(t, d.Transact(t.Context(), func(tx *db.Tx) error { return do(t.Context(), tx) }))
}

// people writes a person of each id, with handle user<id>.
func people(t testing.TB, d *db.DB, ids ...social.ID) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		for _, id := range ids {
			u := &social.User{ID: id, Handle: "user" + id.String(), Name: "Person " + id.String()}
			if err := tx.InsertUser(ctx, u, "hash"); err != nil {
				return err
			}
		}
		return nil
	})
}

func edge(user, target social.ID, state social.FollowState, since social.Millis) social.Edge {
	return social.Edge{Pair: social.Pair{UserID: user, TargetID: target}, State: state, Since: since}
}

// putEdges writes edges from both sides, whatever their order.
func putEdges(t testing.TB, d *db.DB, edges ...social.Edge) {
	t.Helper()
	for chunk := range slices.Chunk(edges, 2000) {
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			if err := tx.PutFollowing(ctx, chunk); err != nil {
				return err
			}
			return tx.PutFollower(ctx, chunk)
		})
	}
}

func seq(from, to social.ID) []social.ID {
	var ids []social.ID
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

func sorted[S ~[]social.ID](ids S) S {
	slices.Sort(ids)
	return ids
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func hasCode(t testing.TB, err error, code social.Code) {
	t.Helper()
	if !social.HasCode(err, code) {
		t.Errorf("got %v, want %s", err, code)
	}
}

// eventually waits for a condition of another session or goroutine.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

// onMySQL runs a test of what only MySQL can do.
func onMySQL(t *testing.T, test func(t *testing.T, s *socialtest.Store)) {
	t.Helper()
	t.Parallel()
	test(t, socialtest.NewMySQL(t))
}
