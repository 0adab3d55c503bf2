package transport

import (
	"net/http"

	"github.com/gorilla/websocket"

	"kith/social"
)

// graphql answers one request at /graphql, or goes on as a socket or a stream of events.
func (s *Server) graphql(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.serveSocket(w, r)
		return
	}
	params, a := read(w, r)
	if a != nil {
		a.write(w, acceptedMedia(r.Header))
		return
	}
	from := sender{
		who:      s.identify(r.Context(), r.Header.Values("Authorization")),
		address:  clientAddress(r, s.cfg.TrustedProxies),
		readOnly: r.Method == http.MethodGet,
	}
	ctx, op, a := s.prepare(r.Context(), from, params)
	takes, prefers := acceptsEvents(r.Header)
	switch {
	case a != nil && prefers && a.status == 0, a == nil && prefers, a == nil && takes && op.isSubscription():
		s.serveEvents(w, r.WithContext(ctx), from.who, op, a)
		return
	case a != nil:
	case op.isSubscription():
		a = notExecuted(fault(social.BadUserInput, "",
			"a subscription needs a stream: a WebSocket (graphql-transport-ws), or POST or GET with Accept: text/event-stream"))
	default:
		a = s.execute(ctx, op)
	}
	a.write(w, acceptedMedia(r.Header))
}

func notByGet() *answer {
	a := refused(http.StatusMethodNotAllowed,
		fault(social.BadUserInput, "", "GET changes nothing: send a mutation by POST"))
	a.allow = http.MethodPost
	return a
}

func outOfTime() *answer {
	return refused(http.StatusServiceUnavailable,
		fault(social.Unavailable, "", "the operation took too long"))
}
