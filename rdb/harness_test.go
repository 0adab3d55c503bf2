package rdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// start is the clock of the tests: the very beginning of a bucket of every window here.
var start = time.UnixMilli(20_000 * 24 * 3600 * 1000)

// world is one Redis, shared with other tests, and two servers on it.
type world struct {
	a, b  *rdb.Redis // embedded: the same
	clock *socialtest.Clock
}

// each runs the test on every kind of Redis, in parallel.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, kind := range []struct{ name, variable string }{
		{"single", "KITH_TEST_REDIS"}, {"cluster", "KITH_TEST_REDIS_CLUSTER"}, {"embedded", ""},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			w := &world{clock: socialtest.NewClock()}
			w.clock.Set(start)
			w.a = open(t, urlOf(t, kind.variable))
			w.b = w.a
			if kind.variable != "" {
				w.b = open(t, urlOf(t, kind.variable))
			}
			test(t, w)
		})
	}
}

func urlOf(t testing.TB, variable string) string {
	t.Helper()
	if variable == "" {
		return ""
	}
	url := os.Getenv(variable)
	if url == "" {
		t.Fatalf("%s is not set: run the tests by make test", variable)
	}
	return url
}

func open(t testing.TB, url string) *rdb.Redis {
	t.Helper()
	r, err := rdb.OpenPatient(rdb.Config{URL: url})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func (w *world) limiter(r *rdb.Redis) *rdb.Limiter {
	return rdb.NewLimiter(r, w.clock.Now, slog.New(slog.DiscardHandler))
}

// someone is a who that no other test has.
func someone() string { return rand.Text() }

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// passes is how many of n takes pass; the others must be RATE_LIMITED.
func passes(t testing.TB, l *rdb.Limiter, n int, who string, ps ...rdb.Policy) int {
	t.Helper()
	passed := 0
	for range n {
		if wait := take(t, l, who, ps...); wait == 0 {
			passed++
		}
	}
	return passed
}

// take is 0 if let through, else how long to wait.
func take(t testing.TB, l *rdb.Limiter, who string, ps ...rdb.Policy) time.Duration {
	t.Helper()
	err := l.Take(context.Background(), who, 1, ps...)
	if err == nil {
		return 0
	}
	var e *social.Error
	if !errors.As(err, &e) || e.Code != social.RateLimited || e.RetryAfter <= 0 {
		t.Errorf("got %v", err)
		return -1
	}
	return e.RetryAfter
}

// throughProxy opens the single Redis by way of a proxy.
func throughProxy(t testing.TB) (*socialtest.Proxy, *rdb.Redis) {
	t.Helper()
	p := socialtest.NewProxy(t, strings.TrimPrefix(urlOf(t, "KITH_TEST_REDIS"), "redis://"))
	r, err := rdb.Open(rdb.Config{URL: "redis://" + p.Addr()})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return p, r
}

// logged counts the lines of a log.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

func (l *logged) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}
