package db_test

import (
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

func TestAStarIsOneForGood(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ctx := t.Context()
		for id, handle := range map[social.ID]string{1: "abc", 2: "abd", 3: "abe"} {
			u := &social.User{ID: id, Handle: handle, Name: "A"}
			if err := s.DB.Transact(ctx, func(tx *db.Tx) error { return tx.InsertUser(ctx, u, "x") }); err != nil {
				t.Fatal(err)
			}
		}
		s.Exec(t, "UPDATE user_count SET followers = 7 WHERE user_id = 2")
		stars := func() []social.ID {
			ids, err := s.DB.Stars(ctx)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(ids)
			return ids
		}
		if got := stars(); len(got) != 0 {
			t.Errorf("at first: %v", got)
		}
		makeStar := func(id social.ID) {
			t.Helper()
			if err := s.DB.Transact(ctx, func(tx *db.Tx) error { return tx.MakeStar(ctx, id) }); err != nil {
				t.Fatal(err)
			}
		}
		makeStar(2)
		s.Exec(t, "UPDATE user SET star_since = star_since - 60000")
		makeStar(2) // changes nothing
		makeStar(3)
		makeStar(99) // nobody
		if got := stars(); !slices.Equal(got, []social.ID{2, 3}) {
			t.Errorf("stars: %v", got)
		}
		got, err := s.DB.Standings(ctx, []social.ID{1, 2, 99})
		if err != nil || len(got) != 2 || got[2].Followers != 7 {
			t.Fatalf("%v %v", got, err)
		}
		if age, is := got[1].StarFor(); is || age != 0 {
			t.Errorf("no star: %v", age)
		}
		if age, is := got[2].StarFor(); !is || age < time.Minute || age > 2*time.Minute {
			t.Errorf("a star for %v, %v", age, is)
		}
	})
}
