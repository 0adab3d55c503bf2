package account_test

import (
	"testing"
	"time"

	"kith/account"
	"kith/social"
	"kith/socialtest"
)

func TestOperatorsChangeTheStatusOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		session := signUp(t, a, "alice")
		bystander := signUp(t, a, "bob")
		for _, c := range []struct {
			to       social.UserStatus
			changed  bool
			refused  social.Code
			versions int64 // how often tokens have ended
			events   int64
		}{
			{social.Active, false, "", 0, 2},
			{social.Suspended, true, "", 1, 3},
			{social.Suspended, false, "", 1, 3},
			{social.Active, true, "", 1, 4},
			{social.Suspended, true, "", 2, 5},
			{social.Deleted, true, "", 3, 6},
			{social.Deleted, false, "", 3, 6},
			{social.Active, false, social.Conflict, 3, 6},
			{social.Suspended, false, social.Conflict, 3, 6},
		} {
			s.Exec(t, "DELETE FROM settling")
			changed, err := account.SetStatus(t.Context(), s.DB, s.Clock.Now, "Alice", c.to)
			if c.refused != "" {
				fails(t, "refused", err, c.refused, "")
			} else {
				noError(t, err)
			}
			settling := int64(0)
			if c.changed {
				settling = 1
			}
			got := []int64{s.Int(t, "SELECT COUNT(*) FROM revoked"), s.Int(t, "SELECT token_version FROM user WHERE handle = 'alice'"),
				s.Int(t, "SELECT COUNT(*) FROM outbox"), s.Int(t, "SELECT COUNT(*) FROM settling")}
			if changed != c.changed || got[0] != c.versions || got[1] != c.versions || got[2] != c.events || got[3] != settling {
				t.Errorf("%+v: changed %v, rows %v", c, changed, got)
			}
		}
		is(t, a, "the token", session.Token, false)
		is(t, a, "another person", bystander.Token, true)
		for handle, code := range map[string]social.Code{"nobody": social.NotFound, "no!": social.BadUserInput} {
			_, err := account.SetStatus(t.Context(), s.DB, s.Clock.Now, handle, social.Suspended)
			if !social.HasCode(err, code) {
				t.Errorf("%s: %v", handle, err)
			}
		}
	})
}

func TestSuspendedPeopleAreToldSoOnceTheirPasswordWasRight(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		session := signUp(t, a, "alice")
		set := func(to social.UserStatus) {
			t.Helper()
			_, err := account.SetStatus(t.Context(), s.DB, s.Clock.Now, "alice", to)
			noError(t, err)
		}
		set(social.Suspended)
		_, unknown := a.SignIn(t.Context(), "nobody", another)
		_, err := a.SignIn(t.Context(), "alice", another)
		fails(t, "a wrong password", err, social.Unauthenticated, "")
		if err.Error() != unknown.Error() {
			t.Errorf("whoever knows no password learns of it: %v", err)
		}
		_, err = a.SignIn(t.Context(), "alice", password)
		fails(t, "the right password", err, social.Forbidden, "")
		_, err = a.ByHandle(t.Context(), "handle", "alice")
		fails(t, "by handle", err, social.NotFound, "")
		_, err = a.SessionOf(t.Context(), "alice")
		fails(t, "an operator's token", err, social.Forbidden, "")
		name := "New"
		fails(t, "the profile", a.UpdateProfile(t.Context(), session.User.ID, account.ProfilePatch{Name: &name}), social.Unauthenticated, "")
		_, err = a.ChangePassword(t.Context(), session.User.ID, password, another)
		fails(t, "the password", err, social.Unauthenticated, "")
		fails(t, "deleting", a.DeleteAccount(t.Context(), session.User.ID, password), social.Unauthenticated, "")

		set(social.Active)
		u, err := a.ByHandle(t.Context(), "handle", "alice")
		noError(t, err)
		if u.Name != "Name" {
			t.Errorf("came back as %+v", u)
		}
		is(t, a, "the token from before", session.Token, false)
		again, err := a.SignIn(t.Context(), "alice", password)
		noError(t, err)
		is(t, a, "signed in again", again.Token, true)
	})
}

// What ends all tokens is known until the last that there can be has expired.
func TestEndedTokensStayKnownUntilTheyHaveExpired(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	a := accounts(t, s)
	session := signUp(t, a, "alice")
	_, err := account.SetStatus(t.Context(), s.DB, s.Clock.Now, "alice", social.Suspended)
	noError(t, err)
	if until := social.Millis(s.Int(t, "SELECT until FROM revoked")); until < session.ExpiresAt+social.Millis(time.Hour.Milliseconds()) {
		t.Errorf("known until %d, and expires at %d", until, session.ExpiresAt)
	}
}
