package main

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

const (
	signOutDoc  = `mutation($e: Boolean) { signOut(input: {everywhere: $e}) { signedOut } }`
	passwordDoc = `mutation($c: String!, $n: String!) { changePassword(input: {current: $c, new: $n}) { token expiresAt user { id isPrivate } } }`
	deleteMeDoc = `mutation($p: String!) { deleteAccount(input: {password: $p}) { deletedUserId } }`
)

// signIn gives one more token of the person.
func (p person) signIn(t testing.TB, handle, password string) person {
	t.Helper()
	p.Token = ""
	p.Token = p.OK(t, signInDoc, map[string]any{"h": handle, "p": password}).Get("signIn.token").String()
	return p
}

// isIn tells whether the person's token lets them in, or is refused as it should be.
func (p person) isIn(t testing.TB) bool {
	t.Helper()
	a := p.Do(t, `{ viewer { id } }`, nil)
	if a.Status == 401 && a.Code() == "UNAUTHENTICATED" && !a.Data().Exists() {
		return false
	}
	if a.Status != 200 || a.Data().Get("viewer.id").String() != p.gid {
		t.Errorf("answered %d: %s", a.Status, a.Body)
	}
	return true
}

// out holds that the token is refused through the server, by every request that begins a
// second after it ended.
func (p person) out(t testing.TB, what string, since time.Time) {
	t.Helper()
	for {
		began := time.Now()
		if !p.isIn(t) {
			return
		}
		if began.Sub(since) >= time.Second {
			t.Errorf("%s: lets in after %v", what, began.Sub(since))
			return
		}
	}
}

func TestSignedOutIsSignedOutAlsoTwice(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		first := w.person(t)
		second := first.signIn(t, "u1_test", "password")
		for range 3 {
			if d := first.OK(t, signOutDoc, nil); d.Raw != `{"signOut":{"signedOut":true}}` {
				t.Errorf("answered %s", d)
			}
			same(t, "the first", first.isIn(t), false)
			same(t, "the second", second.isIn(t), true)
		}
		// With an ended token nothing else is done: neither for its person nor beside it.
		first.OK(t, signOutDoc, map[string]any{"e": true})
		same(t, "the second, after the first signed out everywhere", second.isIn(t), true)
		a := first.Do(t, `mutation { signOut(input: {}) { signedOut } updateProfile(input: {name: "New"}) { userId } }`, nil)
		if a.Status != 401 {
			t.Errorf("beside another field: %d %s", a.Status, a.Body)
		}
		second.OK(t, signOutDoc, map[string]any{"e": nil})
		third, fourth := first.signIn(t, "u1_test", "password"), first.signIn(t, "u1_test", "password")
		third.OK(t, signOutDoc, map[string]any{"e": true})
		same(t, "everywhere, itself", third.isIn(t), false)
		same(t, "everywhere, another", fourth.isIn(t), false)
		w.Clock.Advance(31 * 24 * time.Hour)
		fourth.OK(t, signOutDoc, nil)
		for _, garbage := range []string{"garbage", "e30.e30.e30"} {
			a := socialtest.Client{Handler: w.handler, Token: garbage}.Do(t, signOutDoc, nil)
			if a.Status != 401 || a.Code() != "UNAUTHENTICATED" {
				t.Errorf("%s answered %d: %s", garbage, a.Status, a.Body)
			}
		}
	})
}

// Tokens from before they had versions and names are of version 0, and end like others.
func TestOldTokensWorkUntilTheyAreEnded(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		old := func(p person, life time.Duration) person {
			t.Helper()
			var err error
			p.Token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
				Subject: p.id.String(), ExpiresAt: jwt.NewNumericDate(w.Clock.Now().Add(life)),
			}).SignedString([]byte(testSecret))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		a, b, c := old(me, time.Hour), old(me, 2*time.Hour), old(other, time.Hour)
		same(t, "a", a.isIn(t), true)
		a.OK(t, signOutDoc, nil)
		same(t, "a, signed out", a.isIn(t), false)
		same(t, "b", b.isIn(t), true)
		me.OK(t, signOutDoc, map[string]any{"e": true})
		same(t, "b, signed out everywhere", b.isIn(t), false)
		same(t, "another person", c.isIn(t), true)
	})
}

// What a client learns of a token: nothing that the store or other people know.
func TestTokensHoldNoSecret(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		var claims jwt.MapClaims
		if _, _, err := jwt.NewParser().ParseUnverified(me.Token, &claims); err != nil {
			t.Fatal(err)
		}
		for name := range claims {
			if !strings.Contains(" sub jti iat exp ver ", " "+name+" ") {
				t.Errorf("the token tells %s", name)
			}
		}
	})
}

func TestAWrongPasswordIsToldByItsField(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		wantError(t, me.Do(t, passwordDoc, map[string]any{"c": "passwort", "n": "passw0rd"}), social.Forbidden, "current")
		wantError(t, me.Do(t, deleteMeDoc, map[string]any{"p": "passwort"}), social.Forbidden, "password")
		same(t, "still signed in", me.isIn(t), true)
	})
}

func TestPasswordsCannotBeGuessedFasterThanBySigningIn(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	w := &world{server: wired(t, s, 2, func(*settings) {}), Store: s}
	me := w.person(t)
	for i := range signInLimitOfHandle.Max + 3 {
		doc, vars, field := passwordDoc, map[string]any{"c": "passwort", "n": "passw0rd"}, "current"
		if i%2 == 1 {
			doc, vars, field = deleteMeDoc, map[string]any{"p": "passwort"}, "password"
		}
		code := social.Forbidden
		if i >= signInLimitOfHandle.Max {
			code, field = social.RateLimited, ""
		}
		wantError(t, me.Do(t, doc, vars), code, field)
	}
	wantError(t, w.nobody().Do(t, signInDoc, map[string]any{"h": "u1_test", "p": "password"}), social.RateLimited, "")
}

func TestAnAccountIsPrivateWhenItSaysSo(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		set := func(input any) gjson.Result {
			t.Helper()
			return me.OK(t, `mutation($i: UpdateProfileInput!) { updateProfile(input: $i) { viewer { isPrivate name } } }`, map[string]any{"i": input}).Get("updateProfile.viewer")
		}
		for _, step := range []struct {
			input map[string]any
			want  string
		}{
			{map[string]any{}, `{"isPrivate":false,"name":"User 1"}`},
			{map[string]any{"isPrivate": true}, `{"isPrivate":true,"name":"User 1"}`},
			{map[string]any{"name": "New"}, `{"isPrivate":true,"name":"New"}`},
			{map[string]any{"isPrivate": false}, `{"isPrivate":false,"name":"New"}`},
		} {
			if got := set(step.input); got.Raw != step.want {
				t.Errorf("%v: %s, want %s", step.input, got, step.want)
			}
			read := other.OK(t, `{ user(handle: "u1_test") { isPrivate name } }`, nil).Get("user")
			if read.Raw != step.want {
				t.Errorf("%v: read as %s, want %s", step.input, read, step.want)
			}
		}
		a := me.Do(t, `mutation { updateProfile(input: {name: "Half", isPrivate: null}) { userId } }`, nil)
		wantError(t, a, social.BadUserInput, "isPrivate")
	})
}
