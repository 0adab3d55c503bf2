package transport

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"kith/social"
)

func (e *edge) get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

func TestHealthIsAlwaysOK(t *testing.T) {
	e := newEdge(&fake{}, func(c *Config) { c.Ready = func(context.Context) error { return errors.New("down") } })
	if w := e.get("/healthz"); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestReadinessTellsAClassAndNoCause(t *testing.T) {
	for want, err := range map[string]error{
		"ready":               nil,
		"not ready: draining": &social.Error{Code: social.Unavailable, Message: "draining", Cause: errors.New("10.0.0.7")},
		"not ready: timeout":  context.DeadlineExceeded,
		"not ready: error":    errors.New("dial 10.0.0.7: refused"),
	} {
		e := newEdge(&fake{}, func(c *Config) { c.Ready = func(context.Context) error { return err } })
		status := 503
		if err == nil {
			status = 200
		}
		if w := e.get("/readyz"); w.Code != status || w.Body.String() != want+"\n" {
			t.Errorf("%v: %d %q", err, w.Code, w.Body)
		}
	}
	if w := newEdge(&fake{}, func(c *Config) { c.Ready = nil }).get("/readyz"); w.Code != 200 {
		t.Errorf("nil: %d", w.Code)
	}
}

func TestThePageHasTheRootIfThereIsOne(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("page")) })
	e := newEdge(&fake{}, func(c *Config) { c.Page = page })
	for _, path := range []string{"/", "/assets/x.js"} {
		if w := e.get(path); w.Body.String() != "page" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %q", path, w.Body)
		}
	}
	if w := newEdge(&fake{}).get("/"); w.Code != 404 {
		t.Errorf("without a page: %d", w.Code)
	}
}

func TestRequestIDsOfTheCallerAreTakenIfHarmless(t *testing.T) {
	e := newEdge(&fake{})
	for id, taken := range map[string]bool{
		"a": true, "Az09_-": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a b": false, "a\n": false, "é": false, "<a>": false,
	} {
		got := e.get("/healthz", "X-Request-Id", id).Header().Get("X-Request-Id")
		if (got == id) != taken || !harmlessID.MatchString(got) {
			t.Errorf("%q became %q", id, got)
		}
	}
	first, second := e.get("/healthz"), e.get("/healthz")
	if first.Header().Get("X-Request-Id") == second.Header().Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
}

func TestASchemaIsNeeded(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(Config{})
}
