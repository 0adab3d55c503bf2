package main

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/social"
	"kith/socialtest"
)

// SEC-6
func TestSmallClockSkewOfTokensIsNoAttack(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		now := w.Clock.Now()
		at := func(d time.Duration) *jwt.NumericDate { return jwt.NewNumericDate(now.Add(d)) }
		hour := at(time.Hour)
		for name, test := range map[string]struct {
			claims jwt.RegisteredClaims
			ok     bool
		}{
			"iat+3":   {jwt.RegisteredClaims{IssuedAt: at(3 * time.Second), ExpiresAt: hour}, true},
			"nbf+3":   {jwt.RegisteredClaims{NotBefore: at(3 * time.Second), ExpiresAt: hour}, true},
			"exp-3":   {jwt.RegisteredClaims{ExpiresAt: at(-3 * time.Second)}, true},
			"iat+600": {jwt.RegisteredClaims{IssuedAt: at(600 * time.Second), ExpiresAt: hour}, true}, // told and not checked
			"nbf+600": {jwt.RegisteredClaims{NotBefore: at(600 * time.Second), ExpiresAt: hour}, false},
			"exp-600": {jwt.RegisteredClaims{ExpiresAt: at(-600 * time.Second)}, false},
			"no exp":  {jwt.RegisteredClaims{IssuedAt: at(0)}, false},
		} {
			test.claims.Subject = me.id.String()
			token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, test.claims).SignedString([]byte(testSecret))
			if err != nil {
				t.Fatal(err)
			}
			checkToken(t, w, name, token, me, test.ok)
		}
		good := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Subject: me.id.String(), ExpiresAt: hour})
		foreign, _ := good.SignedString([]byte(strings.Repeat("another secret ", 3)))
		checkToken(t, w, "another secret", foreign, me, false)
		signed, _ := good.SignedString([]byte(testSecret))
		body, _, _ := strings.Cut(strings.TrimPrefix(signed, strings.SplitN(signed, ".", 2)[0]+"."), ".")
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + body + "."
		checkToken(t, w, "no signature", none, me, false)
		w.Clock.Advance(31 * 24 * time.Hour)
		checkToken(t, w, "a month later", me.Token, me, false)
	})
}

func checkToken(t *testing.T, w *world, name, token string, me person, ok bool) {
	t.Helper()
	a := socialtest.Client{Handler: w.handler, Token: token}.Do(t, `{ viewer { id } }`, nil)
	if ok && a.Data().Get("viewer.id").String() != me.gid {
		t.Errorf("%s answered %d: %s", name, a.Status, a.Body)
	}
	if !ok && (a.Status != 401 || a.Code() != "UNAUTHENTICATED" || a.Data().Exists()) {
		t.Errorf("%s answered %d: %s", name, a.Status, a.Body)
	}
}

// SEC-7
func TestForeignAndTamperedCursorsSelectNothing(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		hub, other, author := u[0], u[1], u[2]
		for _, p := range u[1:] {
			p.follow(t, hub)
			hub.follow(t, p)
			w.Clock.Advance(time.Millisecond)
		}
		other.follow(t, author)
		author.follow(t, other)
		var blogs []string
		for range 3 {
			blogs = append(blogs, author.publish(t, "blog"))
		}
		slices.Reverse(blogs)

		// Each list with a cursor of its own.
		const feed = `query($a: String) { followFeed(first: 1, after: $a) { nodes { id } } }`
		const back = `query($a: String) { followFeed(last: 1, before: $a) { nodes { id } } }`
		docs := map[string]string{"feed": feed, "feed back": back}
		own := map[string]string{"feed": hub.readFeed(t, "(first: 1)").cursors[0]}
		own["feed back"] = own["feed"]
		for _, of := range []person{hub, other} {
			for _, name := range []string{"followers", "following", "blogs"} {
				doc := `query($a: String) { node(id: "` + of.gid + `") { ... on User { ` + name + `(first: 1, after: $a) { nodes { id } } } } }`
				docs[name+of.gid] = doc
				if name != "blogs" {
					own[name+of.gid] = list(t, hub.Client, of.gid, name, 1, "").cursors[0]
				}
			}
		}
		own["blogs"+author.gid] = blogsOf(t, hub.Client, author.gid, 1, "").cursors[0]
		own["feed of another"] = other.readFeed(t, "(first: 1)").cursors[0]

		for list, doc := range docs {
			argument := "after"
			if list == "feed back" {
				argument = "before"
			}
			for from, cursor := range own {
				if list == from || doc == back && from == "feed" || doc == feed && from == "feed back" {
					hub.OK(t, doc, map[string]any{"a": cursor})
					continue
				}
				wantError(t, hub.Do(t, doc, map[string]any{"a": cursor}), social.BadUserInput, argument)
			}
			good, ok := own[list]
			if !ok {
				continue
			}
			for i := range good {
				b := []byte(good)
				for _, b[i] = range []byte{'A' + byte(i%26), '0' + byte(i%10), '_', '!', '=', 0xC3} {
					if string(b) != good {
						wantError(t, hub.Do(t, doc, map[string]any{"a": string(b)}), social.BadUserInput, argument)
					}
				}
				wantError(t, hub.Do(t, doc, map[string]any{"a": good[:i]}), social.BadUserInput, argument)
			}
			for _, bad := range []string{good + "=", good + "A", " " + good, good + "\n", strings.ToLower(good), strings.Repeat(good, 1000)} {
				wantError(t, hub.Do(t, doc, map[string]any{"a": bad}), social.BadUserInput, argument)
			}
			flipBits(t, hub, doc, argument, good)
		}

		// A right checksum does not open another's feed, nor does a time that is to come.
		future := social.Millis(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli())
		for _, c := range []social.Cursor{{MinTime: future, ID: 1<<63 - 1}, {MinTime: future, Offset: 7, ID: 1<<63 - 1}} {
			a := hub.Do(t, feed, map[string]any{"a": c.Encode(social.FeedCursor, hub.id)})
			if a.Code() == "" && a.Data().Get("followFeed.nodes.0.id").String() != blogs[0] || a.Code() != "" && a.Code() != "BAD_USER_INPUT" {
				t.Errorf("a cursor of the year 9999 answered %s", a.Body)
			}
		}
		stranger := w.person(t)
		for _, c := range own {
			a := stranger.Do(t, feed, map[string]any{"a": c})
			wantError(t, a, social.BadUserInput, "after")
		}
	})
}

// flipBits flips every bit of what the cursor encodes.
func flipBits(t *testing.T, p person, doc, argument, cursor string) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for bit := range 8 {
			raw[i] ^= 1 << bit
			wantError(t, p.Do(t, doc, map[string]any{"a": base64.RawURLEncoding.EncodeToString(raw)}), social.BadUserInput, argument)
			raw[i] ^= 1 << bit
		}
	}
}
