package main

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kith/socialtest"
)

// heldSQL stands between a server and its SQL and holds back answers of the test's choice:
// they are as old as they are when they arrive.
type heldSQL struct {
	dsn, target string

	mu    sync.Mutex
	gates []*gate
}

// gate holds the answers to statements with a text in them.
type gate struct {
	text     []byte
	held     chan struct{} // closed once SQL has answered such a one
	first    sync.Once
	released chan struct{}
	open     sync.Once
}

func (g *gate) release() { g.open.Do(func() { close(g.released) }) }

func newHeldSQL(t testing.TB, s *socialtest.Store) *heldSQL {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.Config.MySQL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &heldSQL{target: cfg.Addr}
	cfg.Addr = l.Addr().String()
	h.dsn = cfg.FormatDSN()
	t.Cleanup(func() { _ = l.Close(); h.mend() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go h.serve(near)
		}
	}()
	return h
}

// hold holds answers from now on, before any gate that was there.
func (h *heldSQL) hold(text string) *gate {
	g := &gate{text: []byte(text), held: make(chan struct{}), released: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gates = append([]*gate{g}, h.gates...)
	return g
}

// mend releases all that is held.
func (h *heldSQL) mend() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.gates {
		g.release()
	}
	h.gates = nil
}

func (h *heldSQL) gateOf(statement []byte) *gate {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.gates {
		if bytes.Contains(statement, g.text) {
			return g
		}
	}
	return nil
}

// serve forwards: the protocol asks one thing at a time, so an answer is to the last
// statement.
func (h *heldSQL) serve(near net.Conn) {
	defer func() { _ = near.Close() }()
	far, err := net.Dial("tcp", h.target)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	var mu sync.Mutex
	var behind *gate
	go func() {
		defer func() { _ = far.Close() }()
		forward(far, near, func(statement []byte) {
			g := h.gateOf(statement)
			mu.Lock()
			defer mu.Unlock()
			behind = g
		})
	}()
	forward(near, far, func([]byte) {
		mu.Lock()
		g := behind
		mu.Unlock()
		if g != nil {
			g.first.Do(func() { close(g.held) })
			<-g.released
		}
	})
}

func forward(to, from net.Conn, look func([]byte)) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		look(b[:n])
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
