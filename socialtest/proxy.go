package socialtest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a server and a store, and breaks what is between them. Safe for
// parallel use.
type Proxy struct {
	addr, target string
	hole         atomic.Bool // changes under mu
	deaf         atomic.Bool

	mu       sync.Mutex
	listener net.Listener // nil while cut
	conns    []net.Conn
}

// NewProxy forwards to the target, host:port, until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{addr: heldAddress(t), target: target}
	p.Mend(t)
	t.Cleanup(p.Cut)
	return p
}

// Addr is where it listens, host:port; the same before and after a cut.
func (p *Proxy) Addr() string { return p.addr }

// Cut ends every connection and refuses new ones, as if the store were killed.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.drop()
}

// Drop ends every connection, and takes new ones.
func (p *Proxy) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

// BlackHole takes connections and forwards nothing; those that are open hang. Nobody hears
// of an end. What is sent into it is lost for good: for what comes late, see [Redis.Freeze].
func (p *Proxy) BlackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole.Store(true)
}

// LoseAnswers lets requests through; what the store answers is lost, and the connection
// with it.
func (p *Proxy) LoseAnswers() { p.deaf.Store(true) }

// Mend forwards again, after whatever was done. Connections from the time of a black hole
// are ended.
func (p *Proxy) Mend(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hole.Load() {
		p.drop()
	}
	p.hole.Store(false)
	p.deaf.Store(false)
	if p.listener != nil {
		return
	}
	l, err := net.Listen("tcp", p.addr)
	must(t, err)
	p.listener = l
	go p.serve(l)
}

func (p *Proxy) drop() {
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *Proxy) serve(l net.Listener) {
	for {
		near, err := l.Accept()
		if err != nil {
			return
		}
		if !p.admit(l, near) {
			continue
		}
		far, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.admit(l, far)
		go p.forward(far, near, false)
		go p.forward(near, far, true)
	}
}

// admit tells whether the connection goes any further. In a black hole it is kept, since
// its end would be heard; after a cut, which may have come since Accept, it is closed.
func (p *Proxy) admit(l net.Listener, c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != l {
		_ = c.Close()
		return false
	}
	p.conns = append(p.conns, c)
	return !p.hole.Load()
}

func (p *Proxy) forward(to, from net.Conn, answers bool) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if p.hole.Load() {
			return // both ends stay open until Mend
		}
		if err == nil && !(answers && p.deaf.Load()) {
			_, err = to.Write(b[:n])
			if err == nil {
				continue
			}
		}
		_ = from.Close()
		_ = to.Close()
		return
	}
}
