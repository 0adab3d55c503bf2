package db_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// wide is a character of four bytes.
const wide = "😀"

func TestUserComesBackAsWritten(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		url := "https://example.com/" + strings.Repeat("é", 2048-20)
		u := &social.User{
			ID: 1<<63 - 1, Handle: strings.Repeat("a", 30), Name: strings.Repeat(wide, 50),
			Bio: strings.Repeat(wide, 500), AvatarURL: &url,
		}
		hash := strings.Repeat("$", 200)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.InsertUser(ctx, u, hash) })
		people(t, s.DB, 2)

		got, err := s.DB.UsersByID(t.Context(), []social.ID{u.ID})
		noError(t, err)
		if len(got) != 1 || *got[0].AvatarURL != url {
			t.Fatalf("got %+v", got)
		}
		got[0].AvatarURL = u.AvatarURL
		equal(t, "user", *got[0], *u)

		byHandle, gotHash, err := s.DB.UserByHandle(t.Context(), u.Handle)
		noError(t, err)
		equal(t, "by handle", byHandle.ID, u.ID)
		equal(t, "hash", gotHash, hash)

		plain, _, err := s.DB.UserByHandle(t.Context(), "user2")
		noError(t, err)
		if plain.AvatarURL != nil || plain.Bio != "" {
			t.Errorf("a person without avatar and bio came back as %+v", plain)
		}
	})
}

func TestUsersThatDoNotExistAreLeftOut(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3)
		ask := []social.ID{3, 99, 1, 1}
		users, err := s.DB.UsersByID(t.Context(), ask)
		noError(t, err)
		var ids []social.ID
		for _, u := range users {
			ids = append(ids, u.ID)
		}
		equal(t, "users", sorted(ids), []social.ID{1, 3})
		found, err := s.DB.ExistingUsers(t.Context(), ask)
		noError(t, err)
		equal(t, "existing", sorted(found), []social.ID{1, 3})
		none, err := s.DB.UsersByID(t.Context(), nil)
		noError(t, err)
		equal(t, "of no ids", len(none), 0)
		found, err = s.DB.ExistingUsers(t.Context(), seq(1, db.MaxIn))
		noError(t, err)
		equal(t, "of the most ids", sorted(found), []social.ID{1, 2, 3})
	})
}

func TestUnknownHandleIsNotFound(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1)
		for _, h := range []string{"nobody", "", "USER1"} {
			_, _, err := s.DB.UserByHandle(t.Context(), h)
			hasCode(t, err, social.NotFound)
		}
	})
}

func TestTakenHandleIsConflictAndLeavesNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1)
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			return tx.InsertUser(t.Context(), &social.User{ID: 2, Handle: "user1", Name: "Other"}, "hash")
		})
		hasCode(t, err, social.Conflict)
		var e *social.Error
		if !errors.As(err, &e) || e.Field != "handle" {
			t.Errorf("got %v, want a conflict about handle", err)
		}
		for _, table := range []string{"user", "actor", "user_count"} {
			equal(t, table, s.Int(t, "SELECT COUNT(*) FROM "+table), 1)
		}
	})
}

func TestNewUserHasActorAndCountsOfZero(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 7)
		counts, err := s.DB.CountsByID(t.Context(), []social.ID{7, 8})
		noError(t, err)
		equal(t, "counts", counts, map[social.ID]social.Counts{7: {}})
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			actors, err := tx.LockActors(ctx, []social.ID{7, 8})
			equal(t, "actors", len(actors), 1)
			equal(t, "actor", *actors[7], db.Actor{UserID: 7})
			return err
		})
	})
}

func TestProfileOfOnePersonIsUpdated(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		url := "https://example.com/a.png"
		for _, avatar := range []*string{&url, nil} {
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				u, err := tx.LockUser(ctx, 1)
				if err != nil {
					return err
				}
				u.Name, u.Bio, u.AvatarURL = "New", "about\nme", avatar
				return tx.UpdateProfile(ctx, u)
			})
			u, hash, err := s.DB.UserByHandle(t.Context(), "user1")
			noError(t, err)
			if u.Name != "New" || u.Bio != "about\nme" || (u.AvatarURL == nil) != (avatar == nil) || hash != "hash" {
				t.Errorf("got %+v with hash %q", u, hash)
			}
		}
		other, _, err := s.DB.UserByHandle(t.Context(), "user2")
		noError(t, err)
		equal(t, "the other", other.Name, "Person 2")
	})
}

func TestLockingAnUnknownUserIsNotFound(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			_, err := tx.LockUser(t.Context(), 1)
			return err
		})
		hasCode(t, err, social.NotFound)
	})
}

// A read of the row under its lock is of what was committed last, so that two changes of
// different fields both last.
func TestLockedUserIsWaitedFor(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1)
		const n = 8
		done := make(chan error, n)
		for range n {
			go func() {
				done <- s.DB.Transact(t.Context(), func(tx *db.Tx) error {
					u, err := tx.LockUser(t.Context(), 1)
					if err != nil {
						return err
					}
					u.Bio += "x"
					return tx.UpdateProfile(t.Context(), u)
				})
			}()
		}
		for range n {
			noError(t, <-done)
		}
		u, _, err := s.DB.UserByHandle(t.Context(), "user1")
		noError(t, err)
		equal(t, "bio", u.Bio, strings.Repeat("x", n))
	})
}
