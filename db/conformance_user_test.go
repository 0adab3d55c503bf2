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
			Bio: strings.Repeat(wide, 500), AvatarURL: &url, IsPrivate: true,
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

		byHandle, c, err := s.DB.UserByHandle(t.Context(), u.Handle)
		noError(t, err)
		equal(t, "by handle", byHandle.ID, u.ID)
		equal(t, "credentials", c, db.Credentials{Hash: hash})

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
				u.Name, u.Bio, u.AvatarURL, u.IsPrivate = "New", "about\nme", avatar, avatar != nil
				return tx.UpdateProfile(ctx, u)
			})
			u, c, err := s.DB.UserByHandle(t.Context(), "user1")
			noError(t, err)
			if u.Name != "New" || u.Bio != "about\nme" || (u.AvatarURL == nil) != (avatar == nil) || u.IsPrivate != (avatar != nil) || c.Hash != "hash" {
				t.Errorf("got %+v with %+v", u, c)
			}
		}
		other, _, err := s.DB.UserByHandle(t.Context(), "user2")
		noError(t, err)
		equal(t, "the other", other.Name, "Person 2")
	})
}

// Whoever is not active is read by handle and for a decision, and by id is as if not there.
func TestOnlyActivePeopleAreFoundById(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3)
		set := func(id social.ID, status social.UserStatus) {
			t.Helper()
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.UpdateStatus(ctx, id, status) })
		}
		found := func(what string, want ...social.ID) {
			t.Helper()
			users, err := s.DB.UsersByID(t.Context(), []social.ID{1, 2, 3})
			noError(t, err)
			ids := []social.ID{}
			for _, u := range users {
				ids = append(ids, u.ID)
			}
			equal(t, what, sorted(ids), want)
			ids, err = s.DB.ExistingUsers(t.Context(), []social.ID{1, 2, 3})
			noError(t, err)
			equal(t, what+", existing", sorted(ids), want)
		}
		set(1, social.Suspended)
		set(2, social.Deleted)
		found("suspended and deleted", 3)
		for id, status := range map[social.ID]social.UserStatus{1: social.Suspended, 2: social.Deleted, 3: social.Active} {
			u, _, err := s.DB.UserByHandle(t.Context(), "user"+id.String())
			noError(t, err)
			equal(t, "by handle", u.Status, status)
			u, _, err = s.DB.UserWithCredentials(t.Context(), id)
			noError(t, err)
			equal(t, "by id", u.Status, status)
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				u, err := tx.LockUser(ctx, id)
				equal(t, "locked", u.Status, status)
				return err
			})
		}
		set(1, social.Active)
		found("restored", 1, 3)
	})
}

func TestEveryChangeOfAStatusIsNotedByTheStoresClock(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		for _, status := range []social.UserStatus{social.Suspended, social.Active, social.Deleted} {
			s.Exec(t, "UPDATE settling SET since = 0")
			before, err := s.DB.NowMS(t.Context())
			noError(t, err)
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.UpdateStatus(ctx, 1, status) })
			equal(t, "notes", s.Int(t, "SELECT COUNT(*) FROM settling"), 1)
			if since := s.Int(t, "SELECT since FROM settling WHERE user_id = 1"); since < before {
				t.Errorf("since %d, before %d", since, before)
			}
		}
	})
}

func TestCredentialsOfOnePersonAreUpdated(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		want := db.Credentials{Hash: "new", Version: 7}
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			_, c, err := tx.LockCredentials(ctx, 1)
			equal(t, "locked", c, db.Credentials{Hash: "hash"})
			return errors.Join(err, tx.UpdateCredentials(ctx, 1, want))
		})
		for id, want := range map[social.ID]db.Credentials{1: want, 2: {Hash: "hash"}} {
			_, c, err := s.DB.UserWithCredentials(t.Context(), id)
			noError(t, err)
			equal(t, "credentials", c, want)
		}
		_, _, err := s.DB.UserWithCredentials(t.Context(), 3)
		hasCode(t, err, social.NotFound)
	})
}

func TestTokensEndByNameOrBelowAVersion(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		all := []social.EndedTokens{
			{UserID: 1, Token: "a", Until: 5}, {UserID: 1, Token: "B", Until: 6},
			{UserID: 2, Version: 2, Until: 7}, {UserID: 2, Version: 4, Until: 8}, {UserID: 3, Token: strings.Repeat("f", 64), Until: 9},
		}
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			for _, e := range all {
				if err := tx.InsertEnded(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range []struct {
			user    social.ID
			token   string
			version int64
			ended   bool
		}{
			{1, "a", 0, true}, {1, "a", 9, true}, {1, "b", 0, false}, {1, "A", 0, false}, {1, "B", 0, true}, {2, "a", 5, false},
			{2, "x", 1, true}, {2, "x", 3, true}, {2, "x", 4, false}, {3, strings.Repeat("f", 64), 0, true}, {9, "a", 0, false},
		} {
			ended, err := s.DB.TokenEnded(t.Context(), c.user, c.token, c.version)
			noError(t, err)
			equal(t, "ended: "+c.user.String()+" "+c.token, ended, c.ended)
		}
		var read []social.EndedTokens
		for after := int64(0); ; {
			page, last, err := s.DB.EndedAfter(t.Context(), after, 2)
			noError(t, err)
			if len(page) == 0 {
				break
			}
			read, after = append(read, page...), last
		}
		equal(t, "read in pages", read, all)
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
