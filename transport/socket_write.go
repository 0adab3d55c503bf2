package transport

import (
	"time"

	"github.com/gorilla/websocket"
)

// write writes what waits in the outbox. After the end it says the last words.
func (k *socket) write() {
	for !k.hasEnded() {
		m, is := k.out.take()
		if is {
			if k.writeMessage(m) != nil {
				k.cut()
			}
			continue
		}
		if !k.hasEnded() || !k.out.claim() { // ended meanwhile, and left to this one
			return
		}
	}
	k.leave()
}

func (k *socket) writeMessage(m []byte) error {
	_ = k.conn.SetWriteDeadline(time.Now().Add(k.pace.write))
	err := k.conn.WriteMessage(websocket.TextMessage, m)
	k.out.written(m)
	return err
}

// cut ends a socket that cannot be written to.
func (k *socket) cut() {
	k.end(0, "")
	_ = k.conn.Close() // ends the reader
}

// ping asks for a sign of life, again and again.
func (k *socket) ping() {
	switch err := k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(k.pace.write)); {
	case err != nil:
		k.cut()
	case !k.hasEnded():
		k.pinger.Reset(k.pace.ping)
	}
}

// leave writes what waits, but for a client that does not read, and says why it closes. The
// reader then waits for the other end to close.
func (k *socket) leave() {
	if !k.isFirstToLeave() {
		return
	}
	for k.code != tryAgainLater && k.code != 0 {
		m, is := k.out.take()
		if !is || k.writeMessage(m) != nil {
			break
		}
	}
	if k.code != 0 {
		_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(k.code, k.reason),
			time.Now().Add(k.pace.farewell))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.farewell))
}

func (k *socket) isFirstToLeave() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.leaving
	k.leaving = true
	return !was
}

// alive gives the other end time for its next sign of life.
func (k *socket) alive() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.leaving {
		_ = k.conn.SetReadDeadline(time.Now().Add(k.pace.silence))
	}
}
