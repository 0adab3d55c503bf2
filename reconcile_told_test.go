package main

import (
	"fmt"
	"testing"

	"kith/ops"
	"kith/social"
	"kith/socialtest"
)

// The blogs of somebody deleted go a while after the person, and counts that were read in
// between go with them.
func TestReconcileFindsNothingWrongWithTheDeleted(t *testing.T) {
	t.Parallel()
	r, w := newReconciled(t)
	gone := w.person(t)
	for range 3 {
		gone.publish(t, "a blog")
	}
	w.drained(t)
	counts, err := w.caches.Counts(t.Context(), []social.ID{gone.id}) // as a server does that has not heard
	if err != nil || counts[gone.id].Blogs != 3 {
		t.Fatalf("counted %v, %v", counts, err)
	}
	w.Exec(t, "UPDATE user SET status = ? WHERE id = ?", social.Deleted, gone.id)
	if err := w.feed.DeleteAll(t.Context(), gone.id); err != nil {
		t.Fatal(err)
	}
	w.drained(t)
	r.tells(t, "deleted", 0, nil)
}

// What is mended is told to the servers, also where it is about an edge of nobody.
func TestServersHearOfEveryCountThatIsMended(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, nil)
	t.Cleanup(w.close)
	r := &reconciled{world: w.world, drain: w.drained}
	followed := w.person(t)
	w.drained(t)
	w.Exec(t, "INSERT INTO follower (user_id, follower_id, state, since) VALUES (?, 5, 1, 7)", followed.id)
	w.Exec(t, "UPDATE user_count SET followers = 1 WHERE user_id = ?", followed.id)
	count := func(want int64) {
		t.Helper()
		counts, err := w.caches.Counts(t.Context(), []social.ID{followed.id})
		if err != nil || counts[followed.id].Followers != want {
			t.Errorf("counted %v, %v, want %d", counts, err, want)
		}
	}
	count(1)
	r.tells(t, "an edge of nobody", 0, []string{fmt.Sprintf("\n%s 1 1\n", ops.NoEdge)}, "--repair")
	w.drained(t)
	count(0)
}
