package transport

import (
	"context"
	"errors"
	"io"
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

// socket is one connection by graphql-transport-ws. One goroutine reads (socket_read.go), one
// writes, and each operation has one (socket_operation.go).
type socket struct {
	*Server
	conn    *websocket.Conn
	address netip.Addr
	out     *outbox
	stream  *stream
	cancel  context.CancelFunc // ends all operations
	work    sync.WaitGroup     // these
	slots   chan struct{}      // one for each

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
	leaving  bool // the last deadline is set
}

// serveSocket goes on as a socket, and returns: until it does, net/http keeps its buffers for
// the connection, which are a third of what a socket takes.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	k := &socket{
		Server: s, address: clientAddress(r, s.cfg.TrustedProxies), out: newOutbox(s.pace.patience), cancel: cancel,
		slots: make(chan struct{}, maxOperations), authorization: r.Header.Values("Authorization"),
		ended: make(chan struct{}), running: map[string]*running{},
	}
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

func (k *socket) serve(ctx context.Context) {
	defer k.streams.remove(k.stream)
	defer func() {
		if v := recover(); v != nil { // which else would end the process
			_ = presenter{log: k.cfg.Log}.present(ctx, recovered(ctx, v))
		}
	}()
	defer func() { _ = k.conn.Close() }()
	k.work.Go(k.write)
	defer k.work.Wait()
	defer k.end(internalErrorCode, "internal error") // unless it has ended: then this is a panic
	_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.init))
	if k.conn.Subprotocol() != subprotocol {
		k.end(badSubprotocol, "speak "+subprotocol)
	}
	err := k.read(ctx)
	k.end(0, "")
	k.work.Wait()
	if !isGone(err) {
		// What is still on its way to a closed connection would take our last words from the
		// client with it.
		_ = k.conn.NetConn().SetReadDeadline(time.Now().Add(k.pace.farewell))
		_, _ = io.Copy(io.Discard, k.conn.NetConn())
	}
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

// write writes what is put into the outbox, and pings, until the socket ends.
func (k *socket) write() {
	ping := time.NewTicker(k.pace.ping)
	defer ping.Stop()
	for {
		var err error
		select {
		case m := <-k.out.messages:
			err = k.writeMessage(m)
		case <-ping.C:
			err = k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(k.pace.write))
		case <-k.ended:
			k.leave()
			return
		}
		if err != nil {
			k.end(0, "")
			_ = k.conn.Close() // ends the reader
			return
		}
	}
}

func (k *socket) writeMessage(m []byte) error {
	_ = k.conn.SetWriteDeadline(time.Now().Add(k.pace.write))
	err := k.conn.WriteMessage(websocket.TextMessage, m)
	k.out.written(m)
	return err
}

// leave writes what waits, but for a client that does not read, and says why it closes. The
// reader then waits for the other end to close.
func (k *socket) leave() {
	for k.code != tryAgainLater && k.code != 0 && len(k.out.messages) > 0 {
		if k.writeMessage(<-k.out.messages) != nil {
			break
		}
	}
	if k.code != 0 {
		_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(k.code, k.reason),
			time.Now().Add(k.pace.farewell))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leaving = true
	_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.farewell))
}

// alive gives the other end time for its next sign of life.
func (k *socket) alive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.leaving {
		_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.silence))
	}
}
