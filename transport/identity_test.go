package transport

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"kith/social"
)

func TestWhoAsksIsToldByTheToken(t *testing.T) {
	for name, test := range map[string]struct {
		headers []string
		status  int
		viewer  bool
	}{
		"no header":                {nil, 200, false},
		"a good token":             {[]string{"Bearer good"}, 200, true},
		"another case":             {[]string{"bEARER good"}, 200, true},
		"more space":               {[]string{"Bearer   good"}, 200, true},
		"an unknown token":         {[]string{"Bearer bad"}, 401, false},
		"an empty header":          {[]string{""}, 401, false},
		"a scheme alone":           {[]string{"Bearer"}, 401, false},
		"an empty token":           {[]string{"Bearer "}, 401, false},
		"another scheme":           {[]string{"Basic Z29vZA=="}, 401, false},
		"a token alone":            {[]string{"good"}, 401, false},
		"two tokens":               {[]string{"Bearer good good"}, 401, false},
		"two headers":              {[]string{"Bearer good", "Bearer good"}, 401, false},
		"a token that is no token": {[]string{"Bearer good\u00e9"}, 401, false},
		"a token without end":      {[]string{"Bearer " + strings.Repeat("x", 5000)}, 401, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			r := postRequest(inJSON(`{viewer{handle}}`))
			r.Header["Authorization"] = test.headers
			a := e.do(t, r)
			if a.status != test.status || (a.Data["viewer"] != nil) != test.viewer {
				t.Errorf("%d %s", a.status, a.raw)
			}
			if test.status != 401 {
				return
			}
			if a.code() != "UNAUTHENTICATED" || a.header.Get("WWW-Authenticate") != "Bearer" || a.Data != nil || e.fake.calls.Load() != 0 {
				t.Errorf("%v %s", a.header, a.raw)
			}
		})
	}
}

func TestARefusedTokenBarsAllButSigningIn(t *testing.T) {
	const in = `signIn(input: {handle: "a", password: "b"}){token}`
	for query, status := range map[string]int{
		`mutation{` + in + `}`: 200,
		`mutation{signUp(input: {handle: "a", name: "A", password: "b"}){user{viewerIsFollowing}} __typename}`: 200,
		`mutation{...f ...{...f}} fragment f on Mutation{` + in + `}`:                                          200,
		`{__typename}`: 200,
		`mutation{` + in + ` unfollow(input: {userId: "x"}){userId}}`:                   401,
		`mutation{...f} fragment f on Mutation{unfollow(input: {userId: "x"}){userId}}`: 401,
		`mutation{signIn: unfollow(input: {userId: "x"}){userId}}`:                      401,
		`{user(handle: "a"){id}}`: 401,
		`{__schema{description}}`: 401,
		`{nothing}`:               401,
		`{`:                       401,
		`query a{__typename} query b{__typename}`: 401,
	} {
		r := postRequest(inJSON(query))
		r.Header.Set("Authorization", "Bearer expired")
		if a := newEdge(&fake{}).do(t, r); a.status != status {
			t.Errorf("%s: %d %s", query, a.status, a.raw)
		}
	}
}

// An ended token is told that it has ended, also to who signs out with it; an unknown one
// signs nobody out.
func TestAnEndedTokenBarsAllButSigningInAndOut(t *testing.T) {
	const out = `signOut(input: {}){signedOut}`
	for query, status := range map[string]map[string]int{
		`mutation{` + out + `}`: {"ended": 200, "expired": 401, "unjudged": 503, "good": 200},
		`mutation{...f __typename} fragment f on Mutation{a: ` + out + `}`:               {"ended": 200, "expired": 401},
		`mutation{` + out + ` unfollow(input: {userId: "x"}){userId}}`:                   {"ended": 401, "expired": 401, "good": 200},
		`mutation{` + out + ` signIn(input: {handle: "a", password: "b"}){token}}`:       {"ended": 401, "expired": 401, "good": 200},
		`mutation{signIn(input: {handle: "a", password: "b"}){user{isFollowingViewer}}}`: {"ended": 200},
		`{viewer{handle}}`: {"ended": 401},
	} {
		for token, want := range status {
			r := postRequest(inJSON(query))
			r.Header.Set("Authorization", "Bearer "+token)
			e := newEdge(&fake{})
			if a := e.do(t, r); a.status != want || want == 200 != (e.fake.calls.Load() > 0) {
				t.Errorf("%s: %s: %d %s", token, query, a.status, a.raw)
			}
		}
	}
}

// While nobody knows whether a token is good, its person is not told to sign in again; who
// signs in is let through.
func TestATokenThatCannotBeJudgedIsNotRefused(t *testing.T) {
	for token, want := range map[string]struct {
		status int
		code   string
	}{"unjudged": {503, "UNAVAILABLE"}, "broken": {500, "INTERNAL"}} {
		for _, query := range []string{`{viewer{handle}}`, `{nothing}`, `{`} {
			r := postRequest(inJSON(query))
			r.Header.Set("Authorization", "Bearer "+token)
			e := newEdge(&fake{})
			a := e.do(t, r)
			if a.status != want.status || a.code() != want.code || e.fake.calls.Load() != 0 || a.header.Get("WWW-Authenticate") != "" || strings.Contains(a.raw, "table") {
				t.Errorf("%s: %s: %d %s", token, query, a.status, a.raw)
			}
		}
		r := postRequest(inJSON(`mutation{signIn(input: {handle: "a", password: "b"}){token}}`))
		r.Header.Set("Authorization", "Bearer "+token)
		if a := newEdge(&fake{}).do(t, r); a.status != 200 {
			t.Errorf("%s: signing in: %d %s", token, a.status, a.raw)
		}
	}
}

func TestSignedInFieldsAreNullForStrangersBesideOthers(t *testing.T) {
	e := newEdge(&fake{})
	const query = `{followFeed{nodes{id}} user(handle: "ada"){handle}}`
	a := e.do(t, postRequest(inJSON(query)))
	if a.status != 200 || a.code() != "UNAUTHENTICATED" || a.Data["followFeed"] != nil || a.Data["user"] == nil {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := e.post(t, query, nil); len(a.Errors) > 0 || a.Data["followFeed"] == nil {
		t.Errorf("signed in: %s", a.raw)
	}
}

func TestTheOperationRunsUnderItsViewer(t *testing.T) {
	var viewer social.ID
	e := newEdge(&fake{userErr: func(ctx context.Context) error { viewer = social.Viewer(ctx); return nil }})
	if e.post(t, userQuery, nil); viewer != 7 {
		t.Errorf("viewer %d", viewer)
	}
	if e.do(t, postRequest(inJSON(userQuery))); viewer != 0 {
		t.Errorf("viewer %d of nobody", viewer)
	}
}

func TestWithoutAViewerFunctionNoTokenIsTaken(t *testing.T) {
	e := newEdge(&fake{}, func(c *Config) { c.Viewer = nil })
	if a := e.post(t, userQuery, nil); a.status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
