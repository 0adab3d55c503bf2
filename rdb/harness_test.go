package rdb_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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
	err := l.Take(context.Background(), who, ps...)
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

// proxy stands between a server and Redis.
type proxy struct {
	net.Listener
	to   string
	hole atomic.Bool // swallows what is asked

	mu    sync.Mutex
	conns []net.Conn
}

// throughProxy opens the single Redis by way of a proxy.
func throughProxy(t testing.TB) (*proxy, *rdb.Redis) {
	t.Helper()
	url := urlOf(t, "KITH_TEST_REDIS")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	p := &proxy{Listener: l, to: strings.TrimPrefix(url, "redis://")}
	go p.serve(l)
	t.Cleanup(p.stop)
	r, err := rdb.Open(rdb.Config{URL: "redis://" + l.Addr().String()})
	noError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return p, r
}

func (p *proxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
		go p.ask(client, server)
	}
}

func (p *proxy) ask(client, server net.Conn) {
	defer func() { _ = server.Close() }()
	b := make([]byte, 4<<10)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		if p.hole.Load() {
			continue
		}
		if _, err := server.Write(b[:n]); err != nil {
			return
		}
	}
}

// stop is as if Redis were killed.
func (p *proxy) stop() {
	_ = p.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// restart serves at the address of before.
func (p *proxy) restart(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", p.Addr().String())
	noError(t, err)
	p.Listener = l
	go p.serve(l)
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
