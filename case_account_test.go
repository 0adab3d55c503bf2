package main

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

const (
	signUpDoc = `mutation($h: String!) { signUp(input: {handle: $h, name: "Name", password: "password"}) { token expiresAt user { id handle name bio avatarUrl followerCount } } }`
	signInDoc = `mutation($h: String!, $p: String!) { signIn(input: {handle: $h, password: $p}) { token expiresAt user { id handle } } }`
)

func TestAHandleIsOnePersonsInAnyCase(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		spellings := []string{"ada_l", "Ada_L", "ADA_L", "aDA_l"}
		won := 0
		for _, a := range atOnce(12, func(i int) socialtest.Answer {
			return w.nobody().Do(t, signUpDoc, map[string]any{"h": spellings[i%len(spellings)]})
		}) {
			if u := a.Data().Get("signUp.user"); u.Exists() {
				won++
				if u.Get("handle").String() != "ada_l" || u.Get("bio").Raw != `""` || u.Get("avatarUrl").Type != gjson.Null || u.Get("followerCount").Int() != 0 {
					t.Errorf("signed up as %s", u)
				}
				continue
			}
			wantError(t, a, social.Conflict, "handle")
		}
		if won != 1 {
			t.Errorf("%d people have one handle", won)
		}
		for _, h := range spellings {
			s := w.nobody().OK(t, signInDoc, map[string]any{"h": h, "p": "password"}).Get("signIn")
			c := socialtest.Client{Handler: w.handler, Token: s.Get("token").String()}
			if me := c.OK(t, `{ viewer { id } }`, nil).Get("viewer.id"); me.Raw != s.Get("user.id").Raw {
				t.Errorf("signed in as %s, and is %s", s, me)
			}
		}
		unknown := w.nobody().Do(t, signInDoc, map[string]any{"h": "nobody", "p": "password"})
		wrong := w.nobody().Do(t, signInDoc, map[string]any{"h": "ada_l", "p": "passwort"})
		wantError(t, unknown, social.Unauthenticated, "")
		if unknown.Body != wrong.Body || unknown.Status != wrong.Status {
			t.Errorf("the unknown are told %s, the wrong %s", unknown.Body, wrong.Body)
		}
	})
}

func TestAnExpiredTokenStillSignsIn(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		w.person(t)
		c := socialtest.Client{Handler: w.handler, Token: "e30.e30.e30"}
		if a := c.Do(t, `{ viewer { id } }`, nil); a.Status != 401 || a.Code() != "UNAUTHENTICATED" {
			t.Errorf("a bad token answered %d: %s", a.Status, a.Body)
		}
		c.OK(t, signInDoc, map[string]any{"h": "u1_test", "p": "password"})
		c.OK(t, signUpDoc, map[string]any{"h": "anew"})
	})
}

func TestAProfileKeepsWhatIsOmitted(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		for _, step := range []struct {
			input map[string]any
			want  string
		}{
			{map[string]any{}, `{"name":"User 1","bio":"","avatarUrl":null}`},
			{map[string]any{"bio": "Bio"}, `{"name":"User 1","bio":"Bio","avatarUrl":null}`},
			{map[string]any{"avatarUrl": "https://example.com/a"}, `{"name":"User 1","bio":"Bio","avatarUrl":"https://example.com/a"}`},
			{map[string]any{"name": "New"}, `{"name":"New","bio":"Bio","avatarUrl":"https://example.com/a"}`},
			{map[string]any{"bio": ""}, `{"name":"New","bio":"","avatarUrl":"https://example.com/a"}`},
			{map[string]any{"avatarUrl": nil}, `{"name":"New","bio":"","avatarUrl":null}`},
		} {
			d := me.OK(t, `mutation($i: UpdateProfileInput!) { updateProfile(input: $i) { userId user { name bio avatarUrl } viewer { name bio avatarUrl } } }`,
				map[string]any{"i": step.input}).Get("updateProfile")
			read := other.OK(t, `query($u: ID!) { node(id: $u) { ... on User { name bio avatarUrl } } }`, map[string]any{"u": me.gid}).Get("node")
			if d.Get("userId").String() != me.gid || d.Get("user").Raw != step.want || d.Get("viewer").Raw != step.want || read.Raw != step.want {
				t.Errorf("%v: %s, read as %s, want %s", step.input, d, read, step.want)
			}
		}
		// A profile changed in part is changed whole or not at all.
		a := me.Do(t, `mutation { updateProfile(input: {name: "Half", bio: null}) { userId } }`, nil)
		wantError(t, a, social.BadUserInput, "bio")
		if got := me.OK(t, `{ viewer { name } }`, nil); got.Raw != `{"viewer":{"name":"New"}}` {
			t.Errorf("half was changed: %s", got)
		}
		// Two changes of different fields at once both take effect.
		atOnce(8, func(i int) socialtest.Answer {
			return me.Do(t, []string{
				`mutation { updateProfile(input: {name: "At once"}) { userId } }`,
				`mutation { updateProfile(input: {bio: "at once"}) { userId } }`,
			}[i%2], nil)
		})
		if got := me.OK(t, `{ viewer { name bio } }`, nil); got.Raw != `{"viewer":{"name":"At once","bio":"at once"}}` {
			t.Errorf("one change took the other's place: %s", got)
		}
	})
}

// Who signs in sees their own lists in the answer, also of a private account, and with no
// token or another's.
func TestSigningInShowsAllOfOneself(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, friend := w.person(t), w.person(t)
		me.publish(t, "mine")
		friend.follow(t, me)
		me.follow(t, friend)
		me.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		const shown = `{ user { blogs { nodes { title } } followers { totalCount nodes { id } } following { nodes { id } } } }`
		want := fmt.Sprintf(`{"user":{"blogs":{"nodes":[{"title":"mine"}]},"followers":{"totalCount":1,"nodes":[{"id":%q}]},"following":{"nodes":[{"id":%[1]q}]}}}`, friend.gid)
		for what, c := range map[string]socialtest.Client{"without a token": w.nobody(), "with another's": w.person(t).Client} {
			got := c.OK(t, `mutation { signIn(input: {handle: "u1_test", password: "password"}) `+shown+` }`, nil).Get("signIn")
			same(t, what, got.Raw, want)
		}
		got := me.OK(t, `mutation { changePassword(input: {current: "password", new: "passw0rd"}) `+shown+` }`, nil).Get("changePassword")
		same(t, "with another password", got.Raw, want)
		same(t, "to nobody", len(w.nobody().OK(t, `{ user(handle: "u1_test") { blogs { nodes { id } } } }`, nil).Get("user.blogs.nodes").Array()), 0)
	})
}
