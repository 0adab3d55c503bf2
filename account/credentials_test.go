package account_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"kith/account"
	"kith/social"
	"kith/socialtest"
)

const another = "another horse"

// is holds whether a token lets its person in, and still stands.
func is(t testing.TB, a *account.Accounts, what, token string, in bool) {
	t.Helper()
	_, err := a.Viewer(t.Context(), token)
	for _, err := range []error{err, a.Standing(token)(t.Context())} {
		if in {
			noError(t, err)
		} else {
			fails(t, what, err, social.Unauthenticated, "")
		}
	}
}

// twoServers are servers over one store, neither of which hears of the other's events: what
// one has ended the other reads in the store.
func twoServers(t testing.TB, s *socialtest.Store) (a, b *account.Accounts) {
	t.Helper()
	other := *s
	other.DB = s.OpenServer(t)
	return accounts(t, s), accounts(t, &other)
}

func TestSignOutEndsThatTokenAlone(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a, b := twoServers(t, s)
		first := signUp(t, a, "alice")
		second, err := a.SignIn(t.Context(), "alice", password)
		noError(t, err)
		events := s.Int(t, "SELECT COUNT(*) FROM outbox")
		for range 2 { // signed out is signed out
			noError(t, a.SignOut(t.Context(), first.Token, false))
			noError(t, b.SignOut(t.Context(), first.Token, true)) // an ended token ends no other
			for _, server := range []*account.Accounts{a, b} {
				is(t, server, "signed out", first.Token, false)
				is(t, server, "another token", second.Token, true)
			}
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM revoked"); n != 1 {
			t.Errorf("%d rows", n)
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM outbox") - events; n != 1 {
			t.Errorf("%d events", n)
		}
		for _, garbage := range []string{"", "garbage", "e30.e30.e30"} {
			fails(t, garbage, a.SignOut(t.Context(), garbage, false), social.Unauthenticated, "")
		}
		// By the time that nobody need know of it, the token has long expired.
		until := social.Millis(s.Int(t, "SELECT until FROM revoked"))
		if until < first.ExpiresAt+social.Millis(time.Hour.Milliseconds()) {
			t.Errorf("known until %d, and expires at %d", until, first.ExpiresAt)
		}
	})
}

func TestSignOutEverywhereEndsAllTokens(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a, b := twoServers(t, s)
		first, bystander := signUp(t, a, "alice"), signUp(t, a, "bob")
		second, err := a.SignIn(t.Context(), "alice", password)
		noError(t, err)
		noError(t, a.SignOut(t.Context(), second.Token, true))
		third, err := b.SignIn(t.Context(), "alice", password)
		noError(t, err)
		for _, server := range []*account.Accounts{a, b} {
			is(t, server, "the first", first.Token, false)
			is(t, server, "the second", second.Token, false)
			is(t, server, "signed in since", third.Token, true)
			is(t, server, "another person", bystander.Token, true)
		}
	})
}

func TestExpiredTokensAreSignedOutAlready(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		session := signUp(t, a, "alice")
		stands := a.Standing(session.Token)
		noError(t, stands(t.Context()))
		s.Clock.Advance(31 * 24 * time.Hour)
		fails(t, "read before", stands(t.Context()), social.Unauthenticated, "")
		is(t, a, "expired", session.Token, false)
		noError(t, a.SignOut(t.Context(), session.Token, true))
		if n := s.Int(t, "SELECT COUNT(*) FROM revoked"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

func TestAnotherPasswordEndsAllTokensButTheNewOne(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a, b := twoServers(t, s)
		old := signUp(t, a, "alice")
		session, err := a.ChangePassword(t.Context(), old.User.ID, password, another)
		noError(t, err)
		if session.User.ID != old.User.ID || session.User.Handle != "alice" || session.ExpiresAt != old.ExpiresAt {
			t.Errorf("got %+v", session)
		}
		for _, server := range []*account.Accounts{a, b} {
			is(t, server, "the old token", old.Token, false)
			is(t, server, "the new token", session.Token, true)
			_, err := server.SignIn(t.Context(), "alice", password)
			fails(t, "the old password", err, social.Unauthenticated, "")
			again, err := server.SignIn(t.Context(), "alice", another)
			noError(t, err)
			is(t, server, "signed in", again.Token, true)
		}
	})
}

func TestPasswordChangesThatAreRefusedChangeNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		session := signUp(t, a, "alice")
		id := session.User.ID
		for _, c := range []struct {
			who           social.ID
			current, next string
			code          social.Code
			field         string
		}{
			{id, another, another, social.Forbidden, "current"},
			{id, "short", another, social.BadUserInput, "current"},
			{id, password, "short", social.BadUserInput, "new"},
			{id, password, "        ", social.BadUserInput, "new"},
			{id, password, "1234567\x00", social.BadUserInput, "new"},
			{99, password, another, social.Unauthenticated, ""},
		} {
			_, err := a.ChangePassword(t.Context(), c.who, c.current, c.next)
			fails(t, c.current+" to "+c.next, err, c.code, c.field)
		}
		fails(t, "deleting with another's", a.DeleteAccount(t.Context(), id, another), social.Forbidden, "password")
		fails(t, "deleting with none", a.DeleteAccount(t.Context(), id, ""), social.BadUserInput, "password")
		fails(t, "deleting nobody", a.DeleteAccount(t.Context(), 99, password), social.Unauthenticated, "")
		is(t, a, "the token", session.Token, true)
		_, err := a.SignIn(t.Context(), "alice", password)
		noError(t, err)
		if n := s.Int(t, "SELECT COUNT(*) FROM revoked") + s.Int(t, "SELECT COUNT(*) FROM settling") + s.Int(t, "SELECT COUNT(*) FROM outbox"); n != 1 {
			t.Errorf("%d rows beside the first event", n-1)
		}
	})
}

// Of two at once with the same current password one wins; the other's is wrong by then.
func TestOneOfManyPasswordChangesWins(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a, b := twoServers(t, s)
		servers := []*account.Accounts{a, b}
		id := signUp(t, a, "alice").User.ID
		const calls = 8
		results := make([]error, calls)
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				_, results[i] = servers[i%2].ChangePassword(t.Context(), id, password, another+string(rune('0'+i)))
			})
		}
		all.Wait()
		won := -1
		for i, err := range results {
			switch {
			case err != nil:
				fails(t, "a loser", err, social.Forbidden, "current")
			case won >= 0:
				t.Error("two won")
			default:
				won = i
			}
		}
		for i := range calls {
			_, err := a.SignIn(t.Context(), "alice", another+string(rune('0'+i)))
			if (err == nil) != (i == won) {
				t.Errorf("password %d of %d: %v", i, won, err)
			}
		}
		if v := s.Int(t, "SELECT token_version FROM user"); v != 1 {
			t.Errorf("version %d", v)
		}
	})
}

func TestPasswordsAreTriedWithinTheWindowsOfSigningIn(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	var tried []string
	a, err := account.New(s.DB, s.IDs, s.Clock.Now, account.Config{Secret: secret, CheapHashes: true,
		SignInLimit: func(_ context.Context, handle string) error {
			tried = append(tried, handle)
			return social.Errorf(social.RateLimited, "too soon")
		}})
	noError(t, err)
	id := signUp(t, a, "alice").User.ID
	_, err = a.ChangePassword(t.Context(), id, password, another)
	fails(t, "changing", err, social.RateLimited, "")
	fails(t, "deleting", a.DeleteAccount(t.Context(), id, password), social.RateLimited, "")
	if len(tried) != 2 || tried[0] != "alice" || tried[1] != "alice" {
		t.Errorf("tried %v", tried)
	}
}

func TestDeletedAccountsAreGoneForGood(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a, b := twoServers(t, s)
		session := signUp(t, a, "alice")
		id := session.User.ID
		text := "text"
		noError(t, a.UpdateProfile(t.Context(), id, account.ProfilePatch{Bio: &text}))
		noError(t, a.DeleteAccount(t.Context(), id, password))
		u, c, err := s.DB.UserByHandle(t.Context(), "alice")
		noError(t, err)
		if u.Status != social.Deleted || u.Name != "" || u.Bio != "" || u.AvatarURL != nil || c.Hash != "" || c.Version != 1 {
			t.Errorf("what is left: %+v, %+v", u, c)
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM settling WHERE user_id = ?", id); n != 1 {
			t.Errorf("%d notes to settle", n)
		}
		_, unknown := a.SignIn(t.Context(), "nobody", password)
		for _, server := range []*account.Accounts{a, b} {
			is(t, server, "the token", session.Token, false)
			_, err := server.SignIn(t.Context(), "alice", password)
			fails(t, "signing in", err, social.Unauthenticated, "")
			if err.Error() != unknown.Error() {
				t.Errorf("a deleted account is told apart: %v", err)
			}
			_, err = server.ByHandle(t.Context(), "handle", "alice")
			fails(t, "by handle", err, social.NotFound, "")
			_, err = server.SessionOf(t.Context(), "alice")
			fails(t, "an operator's token", err, social.NotFound, "")
			_, err = server.SignUp(t.Context(), "alice", "Name", password)
			fails(t, "the handle", err, social.Conflict, "handle")
			fails(t, "deleting again", server.DeleteAccount(t.Context(), id, password), social.Unauthenticated, "")
			fails(t, "the profile", server.UpdateProfile(t.Context(), id, account.ProfilePatch{Bio: &text}), social.Unauthenticated, "")
			_, err = server.ChangePassword(t.Context(), id, password, another)
			fails(t, "the password", err, social.Unauthenticated, "")
			noError(t, server.SignOut(t.Context(), session.Token, true))
		}
	})
}
