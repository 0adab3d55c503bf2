package account_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/account"
	"kith/social"
	"kith/socialtest"
)

const (
	secret   = "0123456789abcdef0123456789abcdef"
	password = "correct horse"
)

func accounts(t testing.TB, s *socialtest.Store) *account.Accounts {
	t.Helper()
	a, err := account.New(s.DB, s.IDs, s.Clock.Now, account.Config{Secret: secret, CheapHashes: true})
	noError(t, err)
	return a
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails asks for an error of this code, about field where one is named.
func fails(t testing.TB, what string, err error, code social.Code, field string) {
	t.Helper()
	var e *social.Error
	if !errors.As(err, &e) || e.Code != code || e.Field != field {
		t.Errorf("%s: got %v, want %s (%s)", what, err, code, field)
	}
}

func signUp(t testing.TB, a *account.Accounts, handle string) *account.Session {
	t.Helper()
	s, err := a.SignUp(t.Context(), handle, "Name", password)
	noError(t, err)
	return s
}

func TestSignedUpIsSignedIn(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		session := signUp(t, a, "Alice_1")
		if u := session.User; u.Handle != "alice_1" || u.Name != "Name" || u.Bio != "" || u.AvatarURL != nil || u.CreatedAt() != s.Clock.NowMS() {
			t.Errorf("got %+v", u)
		}
		id, err := a.Viewer(t.Context(), session.Token)
		noError(t, err)
		if id != session.User.ID {
			t.Errorf("the token names %d", id)
		}
		until := s.Clock.Now().Add(30 * 24 * time.Hour).Truncate(time.Second).UnixMilli()
		if session.ExpiresAt != social.Millis(until) {
			t.Errorf("ends at %d, want %d", session.ExpiresAt, until)
		}
		if got := s.Int(t, "SELECT COUNT(*) FROM outbox WHERE kind = 'user' AND body = ?", fmt.Sprintf(`{"user":"%d"}`, id)); got != 1 {
			t.Errorf("%d events", got)
		}
		for _, handle := range []string{"alice_1", "ALICE_1", "Alice_1"} {
			again, err := a.SignIn(t.Context(), handle, password)
			noError(t, err)
			if again.User.ID != id {
				t.Errorf("%s is %d", handle, again.User.ID)
			}
		}
	})
}

func TestSignUpInput(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		for _, c := range []struct{ handle, name, password, field string }{
			{"ab", "N", password, "handle"},
			{strings.Repeat("a", 31), "N", password, "handle"},
			{"a b", "N", password, "handle"},
			{"\u212aelvin", "N", password, "handle"},
			{"alice", "", password, "name"},
			{"alice", " ", password, "name"},
			{"alice", strings.Repeat("x", 51), password, "name"},
			{"alice", "\x00", password, "name"},
			{"alice", "a\nb", password, "name"},
			{"alice", "\xc3\x28", password, "name"},
			{"alice", "N", "1234567", "password"},
			{"alice", "N", strings.Repeat("x", 129), "password"},
			{"alice", "N", "        ", "password"},
			{"alice", "N", "12345678\x00", "password"},
			{"alice", "N", "12345678\xff", "password"},
		} {
			_, err := a.SignUp(t.Context(), c.handle, c.name, c.password)
			fails(t, fmt.Sprintf("%+v", c), err, social.BadUserInput, c.field)
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM user"); n != 0 {
			t.Errorf("%d people", n)
		}
		for i, c := range []struct{ handle, name, password string }{
			{"abc", "N", "12345678"},
			{strings.Repeat("a", 30), strings.Repeat("😀", 50), strings.Repeat("😀", 128)},
		} {
			_, err := a.SignUp(t.Context(), c.handle, c.name, c.password)
			noError(t, err)
			_, err = a.SignIn(t.Context(), c.handle, c.password)
			noError(t, err)
			if n := s.Int(t, "SELECT COUNT(*) FROM user"); n != int64(i+1) {
				t.Errorf("%d people", n)
			}
		}
	})
}

func TestSignInRefusals(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		signUp(t, a, "alice")
		_, wrong := a.SignIn(t.Context(), "alice", password+"x")
		_, unknown := a.SignIn(t.Context(), "nobody", password)
		_, standIn := a.SignIn(t.Context(), "nobody2", "nobody22") // whatever stands in for nobody lets nobody in
		for what, err := range map[string]error{"wrong password": wrong, "unknown handle": unknown, "stand-in": standIn} {
			fails(t, what, err, social.Unauthenticated, "")
		}
		if wrong.Error() != unknown.Error() {
			t.Errorf("%v and %v can be told apart", wrong, unknown)
		}
		_, err := a.SignIn(t.Context(), "a!", password)
		fails(t, "no handle", err, social.BadUserInput, "handle")
		_, err = a.SignIn(t.Context(), "alice", "short")
		fails(t, "no password", err, social.BadUserInput, "password")
	})
}

func TestTakenHandleIsConflictInAnyCase(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		signUp(t, a, "alice")
		for _, handle := range []string{"alice", "Alice", "ALICE"} {
			_, err := a.SignUp(t.Context(), handle, "Other", password)
			fails(t, handle, err, social.Conflict, "handle")
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM user"); n != 1 {
			t.Errorf("%d people", n)
		}
	})
}

// Twenty sign-ups of one handle through two servers: one wins, all others are told why not.
func TestOneOfManySignUpsOfAHandleWins(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const calls = 20
		other := *s
		other.DB = s.OpenServer(t)
		servers := []*account.Accounts{accounts(t, s), accounts(t, &other)}
		var all sync.WaitGroup
		results := make(chan error, calls)
		for i := range calls {
			all.Go(func() {
				_, err := servers[i%2].SignUp(t.Context(), []string{"alice", "ALICE"}[i/2%2], "Name", password)
				results <- err
			})
		}
		all.Wait()
		won := 0
		for range calls {
			if err := <-results; err == nil {
				won++
			} else {
				fails(t, "a loser", err, social.Conflict, "handle")
			}
		}
		if won != 1 {
			t.Errorf("%d won", won)
		}
		for _, table := range []string{"user", "actor", "user_count", "outbox"} {
			if n := s.Int(t, "SELECT COUNT(*) FROM "+table); n != 1 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

func TestPeopleAreFoundByHandle(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		id := signUp(t, a, "alice").User.ID
		u, err := a.ByHandle(t.Context(), "handle", "ALICE")
		noError(t, err)
		session, err := a.SessionOf(t.Context(), "Alice")
		noError(t, err)
		viewer, err := a.Viewer(t.Context(), session.Token)
		noError(t, err)
		if u.ID != id || session.User.ID != id || viewer != id {
			t.Errorf("got %d, %d and %d, want %d", u.ID, session.User.ID, viewer, id)
		}
		_, err = a.ByHandle(t.Context(), "name", "!")
		fails(t, "no handle", err, social.BadUserInput, "name")
		_, err = a.ByHandle(t.Context(), "handle", "bob")
		fails(t, "nobody's", err, social.NotFound, "")
		_, err = a.SessionOf(t.Context(), "bob")
		fails(t, "nobody's session", err, social.NotFound, "")
	})
}
