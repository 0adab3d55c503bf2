package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kith/socialtest"
)

// Without SQL the answer is UNAVAILABLE, at once and for everything that needs it, and
// /readyz says so; when SQL is back, so is Kith, without a restart.
func TestWithoutSQLEverythingIsUnavailableAndRecovers(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	cfg, err := mysql.ParseDSN(s.Config.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := socialtest.NewProxy(t, cfg.Addr)
	cfg.Addr = proxy.Addr()
	s.Config.MySQL = cfg.FormatDSN()
	w := newWorld(t, s)
	me, other := w.person(t), w.person(t)
	me.follow(t, other)

	operations := []string{
		`{ viewer { name } }`, `{ followFeed { nodes { id } } }`, `{ user(handle: "abc") { id } }`,
		`mutation { publishBlog(input: {title: "t", content: "c"}) { blog { id } } }`,
		`mutation { follow(input: {userId: "` + other.gid + `"}) { changed } }`,
		`mutation { signIn(input: {handle: "abc", password: "password"}) { token } }`,
		`mutation { signUp(input: {handle: "abc", name: "A", password: "password"}) { token } }`,
		`mutation { updateProfile(input: {name: "A"}) { userId } }`,
	}
	proxy.Cut()
	for _, op := range operations {
		if a := me.Do(t, op, nil); a.Code() != "UNAVAILABLE" {
			t.Errorf("%s without SQL: %s", op, a.Body)
		}
	}
	if a := w.nobody().Send(get("/readyz"), ""); a.Status != 503 {
		t.Errorf("/readyz without SQL: %d", a.Status)
	}
	if a := w.nobody().Send(get("/healthz"), ""); a.Status != 200 {
		t.Errorf("/healthz without SQL: %d", a.Status)
	}

	proxy.Mend(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for w.nobody().Send(get("/readyz"), "").Status != 200 {
		if ctx.Err() != nil {
			t.Fatal("Kith is not ready again")
		}
	}
	if got := me.unfollow(t, other); !got.Get("changed").Bool() {
		t.Errorf("after the outage: %s", got)
	}
	s.CheckInvariants(t)
}

// get is a request without a body.
func get(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }
