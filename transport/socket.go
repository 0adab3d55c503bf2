package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"kith/social"
)

const (
	// subprotocol is the only one spoken. The older graphql-ws is another.
	subprotocol = "graphql-transport-ws"
	// maxOperations is how many may be under way on one socket.
	maxOperations = 50
	// socketBuffer is the size of a socket's buffer for reading, which it keeps, and of that
	// for writing, which it has while it writes.
	socketBuffer = 1 << 10
)

// The codes that a socket is closed with, as npm graphql-ws has them. It comes again after
// goingAway, tryAgainLater, forbidden and initTimeout, and gives up after the others.
const (
	goingAway         = websocket.CloseGoingAway
	tryAgainLater     = websocket.CloseTryAgainLater
	badRequestCode    = 4400 // not a message of the protocol
	unauthorized      = 4401 // an operation before connection_init
	forbidden         = 4403 // the token is refused, or has ended: come with another one
	badSubprotocol    = 4406
	initTimeout       = 4408
	takenID           = 4409
	tooManyInits      = 4429
	internalErrorCode = 4500
)

func newUpgrader() websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: defaultPace.write,
		ReadBufferSize:   socketBuffer,
		WriteBufferSize:  socketBuffer,
		WriteBufferPool:  &sync.Pool{},
		Subprotocols:     []string{subprotocol},
		// CheckOrigin is the library's own: pages of the same host, and who is no page.
		Error: func(w http.ResponseWriter, r *http.Request, status int, reason error) {
			code := social.BadUserInput
			if status == http.StatusForbidden {
				code = social.Forbidden
			}
			refused(status, fault(code, "", "%s", reason)).write(w, acceptedMedia(r.Header))
		},
	}
}

// socket is one connection by graphql-transport-ws. One goroutine reads (socket_read.go), each
// operation has one (socket_operation.go), and one writes while there is something to write
// (socket_write.go): most sockets wait most of their time, and stacks are what they take.
type socket struct {
	*Server
	conn    *websocket.Conn
	address netip.Addr
	out     *outbox
	stream  *stream
	cancel  context.CancelFunc // ends all operations
	work    sync.WaitGroup     // these, and who writes
	pinger  *time.Timer
	slots   chan struct{} // one for each

	// These are the reader's, until acknowledged is set.
	initialised, acknowledged bool
	authorization             []string

	once   sync.Once
	ended  chan struct{} // closed once code and reason are set
	code   int           // 0: there is nobody to tell
	reason string

	mu       sync.Mutex
	running  map[string]*running
	draining bool
	leaving  bool // what is said now is the last
}

// serveSocket goes on as a socket, and returns: until it does, net/http keeps its buffers for
// the connection, which are a third of what a socket takes.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	k := &socket{
		Server: s, address: clientAddress(r, s.cfg.TrustedProxies), cancel: cancel,
		slots: make(chan struct{}, maxOperations), authorization: r.Header.Values("Authorization"),
		ended: make(chan struct{}), running: map[string]*running{},
	}
	k.out = newOutbox(s.pace.patience, func() { k.work.Go(k.write) })
	k.stream = &stream{refuse: k.refuse, drain: k.drain}
	if !s.streams.add(k.stream) {
		cancel()
		draining().write(w, acceptedMedia(r.Header))
		return
	}
	var err error
	if k.conn, err = s.upgrader.Upgrade(w, r, nil); err != nil {
		cancel()
		s.streams.remove(k.stream)
		return // it has been answered
	}
	go k.serve(ctx)
}

// serve takes messages until there can come no more. Frames here are few and small: a socket
// spends its life in ReadMessage, and with 50 bytes more on top of that its stack would be
// twice as large.
func (k *socket) serve(ctx context.Context) {
	defer k.clear(ctx)
	k.begin()
	for {
		kind, data, err := k.conn.ReadMessage()
		if err != nil {
			k.hearOut(err)
			return
		}
		k.hear(ctx, kind, data)
	}
}

func (k *socket) begin() {
	k.pinger = time.AfterFunc(time.Hour, k.ping) // which sets it anew, and so needs to find it
	k.pinger.Reset(k.pace.ping)
	_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.init))
	if k.conn.Subprotocol() != subprotocol {
		k.end(badSubprotocol, "speak "+subprotocol)
	}
	k.conn.SetReadLimit(maxInit)
	pong := k.conn.PingHandler()
	k.conn.SetPingHandler(func(data string) error {
		k.heard()
		return pong(data)
	})
	k.conn.SetPongHandler(func(string) error {
		k.heard()
		return nil
	})
}

// hearOut ends the socket, of which nothing more can be read, and waits for the other end to
// close: what is still on its way to a closed connection would take our last words from the
// client with it.
func (k *socket) hearOut(err error) {
	var late net.Error
	if !k.acknowledged && errors.As(err, &late) && late.Timeout() {
		k.end(initTimeout, "connection_init did not come in time")
	}
	k.end(0, "")
	k.work.Wait()
	if !isGone(err) {
		_ = k.conn.NetConn().SetReadDeadline(time.Now().Add(k.pace.farewell))
		_, _ = io.Copy(io.Discard, k.conn.NetConn())
	}
}

// clear gives all back, also after a panic, which must not end the process.
func (k *socket) clear(ctx context.Context) {
	if v := recover(); v != nil {
		_ = presenter{log: k.cfg.Log}.present(ctx, recovered(ctx, v))
	}
	k.end(internalErrorCode, "internal error") // unless it has ended
	k.work.Wait()
	k.pinger.Stop()
	_ = k.conn.Close()
	k.streams.remove(k.stream)
}

// isGone says whether the other end has closed, too.
func isGone(err error) bool {
	var closed *websocket.CloseError
	return errors.As(err, &closed) || errors.Is(err, io.EOF)
}

// end ends the socket for a reason, the first that is given.
func (k *socket) end(code int, reason string) {
	k.once.Do(func() {
		k.code, k.reason = code, reason
		close(k.ended)
		k.cancel()
		if k.out.claim() { // else who writes does
			k.work.Go(k.leave)
		}
	})
}

func (k *socket) hasEnded() bool {
	select {
	case <-k.ended:
		return true
	default:
		return false
	}
}

// refuse sends away whose token has ended, or was never good.
func (k *socket) refuse() {
	k.end(forbidden, "the token is malformed, expired or not known: sign in again")
}

// drain ends subscriptions without telling that they are complete, and the socket once
// nothing else is under way.
func (k *socket) drain() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.draining = true
	for _, r := range k.running {
		if r.isSubscription {
			r.cancel()
		}
	}
	k.leaveIfIdle()
}

// leaveIfIdle is called with mu held.
func (k *socket) leaveIfIdle() {
	for _, r := range k.running {
		if !r.isSubscription {
			return
		}
	}
	if k.draining {
		k.end(goingAway, "draining")
	}
}
