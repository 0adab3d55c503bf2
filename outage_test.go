package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
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
	wire := newWire(t, cfg.Addr)
	cfg.Addr = wire.address()
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
	wire.cut()
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

	wire.mend(t)
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

// wire is a TCP proxy that can be cut.
type wire struct {
	to string

	mu       sync.Mutex
	listener net.Listener
	at       string
	conns    []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	w := &wire{to: to, at: "127.0.0.1:0"}
	w.mend(t)
	t.Cleanup(w.cut)
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

// mend listens again where it did before.
func (w *wire) mend(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	w.listener, w.at = l, l.Addr().String()
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", w.to)
			if err != nil {
				_ = near.Close()
				continue
			}
			w.mu.Lock()
			w.conns = append(w.conns, near, far)
			w.mu.Unlock()
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
			go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
		}
	}()
}

// cut ends every connection and takes no more.
func (w *wire) cut() {
	_ = w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
}

// get is a request without a body.
func get(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }
