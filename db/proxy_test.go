package db_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// proxy stands between a DB and MariaDB.
type proxy struct {
	net.Listener
	to string
	// deaf swallows what the server answers and then ends the connection.
	deaf atomic.Bool

	mu    sync.Mutex
	conns []net.Conn
}

// throughProxy opens the store by way of a proxy.
func throughProxy(t testing.TB, s *socialtest.Store) (*proxy, *db.DB) {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.Config.MySQL)
	noError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	p := &proxy{Listener: l, to: cfg.Addr}
	go p.serve(l)
	t.Cleanup(p.stop)
	cfg.Addr = l.Addr().String()
	behind := *s
	behind.Config = db.Config{MySQL: cfg.FormatDSN()}
	return p, behind.OpenServer(t)
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
		go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
		go func() { p.answer(client, server); _ = client.Close() }()
	}
}

func (p *proxy) answer(client, server net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if err != nil || p.deaf.Load() {
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

// cut ends every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// stop is as if the server were down.
func (p *proxy) stop() {
	_ = p.Close()
	p.cut()
}

func TestServerThatIsDownIsUnavailableAtOnceAndRecovers(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		p, d := throughProxy(t, s)
		group := db.NewGroup(func(ctx context.Context, ops []int) error {
			return d.Transact(ctx, func(tx *db.Tx) error { return tx.Exec(ctx, "SELECT 1") })
		})
		noError(t, group.Do(t.Context(), 1))
		p.stop()
		for range 3 {
			hasCode(t, d.Ping(t.Context()), social.Unavailable)
			_, err := d.UsersByID(t.Context(), []social.ID{1})
			hasCode(t, err, social.Unavailable)
			hasCode(t, d.Transact(t.Context(), func(*db.Tx) error { return nil }), social.Unavailable)
			hasCode(t, group.Do(t.Context(), 1), social.Unavailable)
			hasCode(t, lease(d, time.Now).Renew(t.Context()), social.Unavailable)
		}
		again, err := net.Listen("tcp", p.Addr().String())
		noError(t, err)
		t.Cleanup(func() { _ = again.Close() })
		go p.serve(again)
		noError(t, d.Ping(t.Context()))
		noError(t, group.Do(t.Context(), 1))
	})
}

func TestOpeningAServerThatIsNotThereIsAClearError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	addr := l.Addr().String()
	noError(t, l.Close())
	_, err = db.Open(t.Context(), db.Config{MySQL: "root@tcp(" + addr + ")/kith"})
	if err == nil || !strings.Contains(err.Error(), "open MySQL") || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v", err)
	}
}
