package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/socialtest"
)

// limited gives worlds whose limits are on: two servers on MySQL and one Redis, and the
// embedded stores.
func limited(t *testing.T, test func(t *testing.T, w *world, servers []*server)) {
	t.Helper()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		servers := []*server{wired(t, s, 2, func(cfg *settings) {
			if s.IsMySQL() {
				cfg.redis = redisURL(t)
			}
		})}
		if s.IsMySQL() {
			servers = append(servers, wired(t, s, 3, func(cfg *settings) { cfg.redis = redisURL(t) }))
		}
		test(t, &world{server: servers[0], Store: s}, servers)
	})
}

// untilRefused repeats a call, through one server after the other, and gives how many
// passed and after how long the next may.
func untilRefused(t *testing.T, servers []*server, token string, call func(c socialtest.Client, i int) socialtest.Answer) (passed int, retryAfter time.Duration) {
	t.Helper()
	for i := range 1000 {
		a := call(socialtest.Client{Handler: servers[i%len(servers)].handler, Token: token}, i)
		if a.Code() == "RATE_LIMITED" {
			ms := gjson.Get(a.Body, "errors.0.extensions.retryAfterMs").Int()
			if ms <= 0 {
				t.Fatalf("no retryAfterMs: %s", a.Body)
			}
			return passed, time.Duration(ms) * time.Millisecond
		}
		if a.Code() != "" {
			t.Fatalf("call %d: %s", i, a.Body)
		}
		passed++
	}
	t.Fatal("never refused")
	return 0, 0
}

// The policies of every verb that has one, counted over all servers; what is refused
// passes after retryAfterMs and not before.
func TestCallsThatComeTooSoonAreRefused(t *testing.T) {
	limited(t, func(t *testing.T, w *world, servers []*server) {
		me, target := w.person(t), w.person(t)
		// Windows outlive the test in a shared Redis: handles and addresses are its own.
		u := fmt.Sprintf("u%d", time.Now().UnixNano())
		if _, err := w.accounts.SignUp(t.Context(), u, "Somebody", "password"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			max  int
			call func(c socialtest.Client, i int) socialtest.Answer
		}{
			{"follow", 20, func(c socialtest.Client, _ int) socialtest.Answer {
				return c.Do(t, `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`, map[string]any{"u": target.gid})
			}},
			{"publish", 10, func(c socialtest.Client, _ int) socialtest.Answer {
				return c.Do(t, `mutation { publishBlog(input: {title: "t", content: "c"}) { blog { id } } }`, nil)
			}},
			{"sign in", 10, func(c socialtest.Client, i int) socialtest.Answer {
				return from(c, fmt.Sprintf("10.1.%d.%d", i/250, i%250), `mutation { signIn(input: {handle: "`+u+`", password: "password"}) { token } }`)
			}},
			{"sign in from one address", 10, func(c socialtest.Client, i int) socialtest.Answer {
				a := from(c, addressOf(u), `mutation { signIn(input: {handle: "`+fmt.Sprintf("n%d%s", i, u)+`", password: "password"}) { token } }`)
				if a.Code() == "UNAUTHENTICATED" { // nobody has the handle, which counts as well
					return socialtest.Answer{Status: 200, Body: "{}"}
				}
				return a
			}},
			{"sign up", 5, func(c socialtest.Client, i int) socialtest.Answer {
				return from(c, addressOf(u), fmt.Sprintf(`mutation { signUp(input: {handle: "%s%d", name: "N", password: "password"}) { token } }`, u, i))
			}},
		} {
			passed, wait := untilRefused(t, servers, me.Token, c.call)
			if passed != c.max {
				t.Errorf("%s: %d passed, want %d", c.name, passed, c.max)
			}
			w.Clock.Advance(wait - time.Millisecond)
			if again, _ := untilRefused(t, servers, me.Token, func(cl socialtest.Client, i int) socialtest.Answer { return c.call(cl, 500+i) }); again != 0 {
				t.Errorf("%s: %d passed a millisecond early", c.name, again)
			}
			w.Clock.Advance(time.Millisecond)
			if a := c.call(socialtest.Client{Handler: servers[0].handler, Token: me.Token}, 900); a.Code() != "" {
				t.Errorf("%s after %v: %s", c.name, wait, a.Body)
			}
		}
	})
}

// SEC-2, the second part: a limit counts calls, however many share a request.
func TestALimitCountsCallsNotRequests(t *testing.T) {
	limited(t, func(t *testing.T, w *world, _ []*server) {
		me, targets := w.person(t), w.persons(t, 30)
		many := func(people []person) string {
			var b strings.Builder
			for i, p := range people {
				fmt.Fprintf(&b, "a%d: follow(input: {userId: %q}) { changed } ", i, p.gid)
			}
			return "mutation { " + b.String() + "}"
		}
		if a := me.Do(t, many(targets[:25]), nil); a.Code() != "QUERY_TOO_COMPLEX" {
			t.Errorf("25 mutations in one request: %s", a.Body)
		}
		me.Do(t, many(targets[:15]), nil)
		a := me.Do(t, many(targets[15:]), nil)
		if a.Code() != "RATE_LIMITED" || !strings.Contains(a.Body, `"changed":true`) {
			t.Errorf("30 follows in two requests: %s", a.Body)
		}
		if n := w.Int(t, "SELECT following FROM actor WHERE user_id = ?", me.id); n != 20 {
			t.Errorf("%d follows passed, want 20", n)
		}
		w.CheckInvariants(t)
	})
}

// X-Forwarded-For counts only where it comes from a trusted proxy.
func TestASpoofedAddressIsNoWayRoundALimit(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	k := wired(t, s, 2, func(cfg *settings) { cfg.limits.TrustedProxies = "10.0.0.0/8" })
	for _, c := range []struct {
		peer    string
		refused bool
	}{{"192.0.2.7", true}, {"10.0.0.1", false}} {
		var last socialtest.Answer
		for i := range 7 {
			r := request(c.peer, fmt.Sprintf(`mutation { signUp(input: {handle: "h%s_%d", name: "N", password: "password"}) { token } }`, c.peer[:2], i))
			r.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i))
			last = socialtest.Client{Handler: k.handler}.Send(r, "application/json")
		}
		if refused := last.Code() == "RATE_LIMITED"; refused != c.refused {
			t.Errorf("through %s the 7th sign-up: %s", c.peer, last.Body)
		}
	}
}

// A server also starts while Redis is away.
func TestAServerStartsWithoutRedis(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	people := callers(t, s, 2)
	p := startProcess(t, "serve", "--mysql", s.Config.MySQL, "--redis", "redis://127.0.0.1:1", "--jwt-secret", testSecret)
	if changed, err := people[0].follow(t.Context(), p.url, people[1]); err != nil || !changed {
		t.Errorf("%t, %v", changed, err)
	}
}

// Without Redis each server counts by itself: nothing fails, and nobody is let loose.
func TestLimitsHoldWithoutRedis(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	k := wired(t, s, 2, func(*settings) {})
	w := &world{server: k, Store: s}
	me, target := w.person(t), w.person(t)
	if err := k.redis.Close(); err != nil {
		t.Fatal(err)
	}
	passed, _ := untilRefused(t, []*server{k}, me.Token, func(c socialtest.Client, _ int) socialtest.Answer {
		return c.Do(t, `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`, map[string]any{"u": target.gid})
	})
	if passed != 20 {
		t.Errorf("%d passed, want 20", passed)
	}
}

// addressOf makes an address of a text that is unlike those of other tests.
func addressOf(text string) string {
	n := len(text)
	return "2001:db8:" + text[n-8:n-4] + ":" + text[n-4:] + "::1"
}

// from sends an operation as if from another address.
func from(c socialtest.Client, address, query string) socialtest.Answer {
	return c.Send(request(address, query), "application/json")
}

func request(address, query string) *http.Request {
	body := fmt.Sprintf(`{"query": %q}`, query)
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/graphql", strings.NewReader(body))
	r.RemoteAddr = "[" + address + "]:1234"
	if strings.Contains(address, ".") {
		r.RemoteAddr = address + ":1234"
	}
	return r
}
