package main

import (
	"strings"
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

func TestOperatorsSuspendRestoreAndDelete(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		callers(t, s, 2)
		for _, c := range []struct {
			args   string
			code   int
			told   string
			status social.UserStatus
		}{
			{"suspend nobody", 1, `nobody has the handle "nobody"`, social.Active},
			{"suspend no!", 1, `nobody has the handle "no!"`, social.Active},
			{"restore c0_x", 0, "c0_x was already active", social.Active},
			{"suspend C0_x", 0, "C0_x is now suspended", social.Suspended},
			{"suspend c0_x", 0, "c0_x was already suspended", social.Suspended},
			{"restore c0_x", 0, "c0_x is now active", social.Active},
			{"suspend c0_x", 0, "c0_x is now suspended", social.Suspended},
			{"delete c0_x", 0, "c0_x is now deleted", social.Deleted},
			{"delete c0_x", 0, "c0_x was already deleted", social.Deleted},
			{"restore c0_x", 1, "the account of c0_x is deleted, for good", social.Deleted},
			{"suspend c0_x", 1, "the account of c0_x is deleted, for good", social.Deleted},
		} {
			code, out, errs := kith(t, on(s, append([]string{"user"}, strings.Fields(c.args)...)...)...)
			if code != c.code || !strings.Contains(out+errs, c.told+"\n") || strings.Contains(errs, "goroutine") {
				t.Errorf("%s: exit code %d: %s%s", c.args, code, out, errs)
			}
			if got := s.Int(t, "SELECT status FROM user WHERE handle = 'c0_x'"); got != int64(c.status) {
				t.Errorf("%s: status %d, want %d", c.args, got, c.status)
			}
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM user WHERE status = 0"); n != 1 {
			t.Errorf("%d others are active", n)
		}
	})
}

func TestATokenForTheSuspendedIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	callers(t, s, 1)
	token := func() (int, string) {
		code, out, errs := kith(t, on(s, "token", "c0_x", "--jwt-secret", testSecret)...)
		return code, out + errs
	}
	for _, step := range []struct {
		verb, told string
		code       int
	}{{"suspend", "this account is suspended", 1}, {"restore", "", 0}, {"delete", "nobody has the handle", 1}} {
		if code, _, errs := kith(t, on(s, "user", step.verb, "c0_x")...); code != 0 {
			t.Fatal(errs)
		}
		if code, told := token(); code != step.code || !strings.Contains(told, step.told) {
			t.Errorf("after %s: exit code %d: %s", step.verb, code, told)
		}
	}
}

// The server that runs beside the command refuses the person's token within a second, also
// when it holds the embedded store.
func TestASuspensionReachesRunningServersWithinASecond(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		me := callers(t, s, 2)
		p := serve(t, s)
		in := func(c caller) bool {
			t.Helper()
			a, err := c.post(t.Context(), p.url, `{ viewer { id } }`, nil)
			if err != nil {
				t.Fatal(err)
			}
			if code := a.Get("errors.0.extensions.code").String(); code != "" {
				same(t, "code", code, "UNAUTHENTICATED")
				return false
			}
			return true
		}
		same(t, "before", in(me[0]), true)
		if code, _, errs := kith(t, on(s, "user", "suspend", "c0_x")...); code != 0 {
			t.Fatal(errs)
		}
		since := time.Now()
		for began := since; in(me[0]); began = time.Now() {
			if began.Sub(since) >= time.Second {
				t.Fatal("the token of the suspended lets in")
			}
		}
		same(t, "another person", in(me[1]), true)
		if code, _, errs := kith(t, on(s, "user", "restore", "c0_x")...); code != 0 {
			t.Fatal(errs)
		}
		same(t, "restored, by the token from before", in(me[0]), false)
		code, token, errs := kith(t, on(s, "token", "c0_x", "--jwt-secret", testSecret)...)
		if code != 0 {
			t.Fatal(errs)
		}
		same(t, "restored, by another token", in(caller{token: strings.TrimSpace(token)}), true)
	})
}
