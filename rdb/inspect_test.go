package rdb_test

import (
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

func TestWhoHasKeysIsToldAndWhatTheyHold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		followed, counted, nobody := w.person(t), w.person(t), w.person(t)
		followed.follows(7, 3, 4)
		tok, want := token(), social.Counts{Followers: 1 << 40, Following: 5000, Blogs: 3}
		counted.run(rdb.TakeCounts(counted.id, tok).Call)
		counted.does("fill", rdb.FillCounts(counted.id, tok, want), int64(1))

		keyed, err := w.a.Keyed(t.Context(), []social.ID{nobody.id, followed.id, counted.id}, inEpoch1)
		noError(t, err)
		equal(t, "who has keys", keyed, []social.ID{followed.id, counted.id})
		keyed, err = w.a.Keyed(t.Context(), nil, inEpoch1)
		noError(t, err)
		equal(t, "of nobody", len(keyed), 0)

		k, err := w.a.FeedKeys(t.Context(), followed.id, 1)
		noError(t, err)
		equal(t, "followed", []any{k.Following.There, k.Following.Version, k.Following.Followed}, []any{true, int64(7), []social.ID{3, 4}})
		equal(t, "no counts", k.Counts.There, false)
		k, err = w.a.FeedKeys(t.Context(), counted.id, 1)
		noError(t, err)
		equal(t, "counts", []any{k.Counts.There, k.Counts.Counts}, []any{true, want})
		if k.Counts.Age < 0 || k.Counts.Age > time.Minute {
			t.Errorf("their age: %s", k.Counts.Age)
		}

		followed.run(rdb.DropFollowing(followed.id))
		noError(t, w.a.Client().Persist(t.Context(), k.Counts.Key).Err())
		k, err = w.a.FeedKeys(t.Context(), counted.id, 1)
		noError(t, err)
		if k.Counts.Age >= 0 {
			t.Errorf("counts without an end are %s old", k.Counts.Age)
		}
		noError(t, w.a.Client().Set(t.Context(), k.Counts.Key, "nonsense", time.Minute).Err())
		if _, err := w.a.FeedKeys(t.Context(), counted.id, 1); err == nil || social.HasCode(err, social.Unavailable) {
			t.Errorf("counts that cannot be read: %v", err)
		}
		keyed, err = w.a.Keyed(t.Context(), []social.ID{followed.id, counted.id}, inEpoch1)
		noError(t, err)
		equal(t, "who has keys still", keyed, []social.ID{counted.id})
	})
}
