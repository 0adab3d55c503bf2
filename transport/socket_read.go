package transport

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gorilla/websocket"

	"kith/social"
)

const (
	// maxInit bounds the first messages, of those who are not known yet.
	maxInit = 16 << 10
	// maxOperationID bounds an id, which comes back with each event.
	maxOperationID = 256
)

// The messages of graphql-transport-ws.
const (
	connectionInit = "connection_init"
	connectionAck  = "connection_ack"
	pingMessage    = "ping"
	pongMessage    = "pong"
	subscribe      = "subscribe"
	nextMessage    = "next"
	errorMessage   = "error"
	complete       = "complete"
)

// message is one of them.
type message struct {
	ID      string         `json:"id,omitzero"`
	Type    string         `json:"type"`
	Payload jsontext.Value `json:"payload,omitzero"`
}

// hear takes a message of any kind.
func (k *socket) hear(ctx context.Context, kind int, data []byte) {
	switch {
	case k.hasEnded(): // what comes until the other end has closed
	case kind != websocket.TextMessage:
		k.end(badRequestCode, "messages are text")
	default:
		k.heard()
		k.take(ctx, data)
	}
}

// heard takes a sign of life. Before connection_init there is a time for that alone.
func (k *socket) heard() {
	if k.acknowledged {
		k.alive()
	}
}

func (k *socket) take(ctx context.Context, data []byte) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		k.end(badRequestCode, "not a message of "+subprotocol)
		return
	}
	isObject := len(m.Payload) > 0 && m.Payload.Kind() == '{'
	switch {
	case m.Type == complete:
		k.complete(m.ID)
	case m.Type == subscribe:
		k.subscribeTo(ctx, m)
	case len(m.Payload) > 0 && m.Payload.Kind() != 'n' && !isObject:
		k.end(badRequestCode, "the payload is not an object")
	case m.Type == connectionInit:
		k.init(ctx, m.Payload)
	case m.Type == pingMessage:
		pong := message{Type: pongMessage}
		if isObject {
			pong.Payload = m.Payload
		}
		k.say(ctx, pong)
	case m.Type == pongMessage:
	default:
		k.end(badRequestCode, "no message of clients in "+subprotocol)
	}
}

// say puts a message of the connection itself into the outbox.
func (k *socket) say(ctx context.Context, m message) {
	if errors.Is(k.out.put(ctx, m.encoded()), errSlow) {
		k.slow()
	}
}

func (k *socket) slow() { k.end(tryAgainLater, "the client does not read") }

// encoded puts a message together by hand: encoding would go through all of the payload.
func (m message) encoded() []byte {
	b := make([]byte, 0, len(m.ID)+len(m.Payload)+64)
	b = append(b, `{"type":"`...)
	b = append(b, m.Type...)
	b = append(b, '"')
	if m.ID != "" {
		b = append(b, `,"id":`...)
		b, _ = jsontext.AppendQuote(b, m.ID) // it was read as valid UTF-8
	}
	if len(m.Payload) > 0 {
		b = append(b, `,"payload":`...)
		b = append(b, m.Payload...)
	}
	return append(b, '}')
}

// init finds out who has connected: by the token in the payload, else by that in the header
// of the request.
func (k *socket) init(ctx context.Context, payload jsontext.Value) {
	if k.initialised {
		k.end(tooManyInits, "one connection_init is enough")
		return
	}
	k.initialised = true
	var given object
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &given); err != nil {
			k.end(badRequestCode, "the payload holds too much")
			return
		}
	}
	if headers := authorizationIn(given); headers != nil {
		k.authorization = headers
	}
	who := k.identify(ctx, k.authorization)
	switch {
	case who.err == nil:
	case social.HasCode(who.err, social.Unauthenticated):
		k.refuse()
		return
	case social.HasCode(who.err, social.Unavailable):
		k.end(tryAgainLater, "nobody can say now whether the token is good")
		return
	default:
		_ = presenter{log: k.cfg.Log}.present(ctx, who.err) // logs the cause
		k.end(internalErrorCode, "internal error")
		return
	}
	if who.token != "" {
		k.streams.setToken(k.stream, k.cfg.Standing(who.token))
	}
	k.acknowledged = true
	k.conn.SetReadLimit(maxBody)
	k.alive()
	k.say(ctx, message{Type: connectionAck})
}

// authorizationIn gives what a payload has under "Authorization", however that is spelled;
// what is not text makes a header that is refused. null stands for none.
func authorizationIn(payload object) (headers []string) {
	for name, v := range payload {
		if v != nil && strings.EqualFold(name, "Authorization") {
			text, _ := v.(string)
			headers = append(headers, text)
		}
	}
	return headers
}
