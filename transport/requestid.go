package transport

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"sync/atomic"
)

// harmlessID is an id of the caller that may go into headers and logs as it is.
var harmlessID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// request is what one execution is known by in answers and logs: a request of HTTP, an
// operation of a socket, an event of a subscription.
type request struct {
	id string
	// reported counts the causes logged: a page of failing fields says the same thing
	// a hundred times.
	reported atomic.Int32
}

type requestKey struct{}

func withRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{id: id})
}

// requestID is the caller's X-Request-Id where that is harmless, else a random one.
func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); harmlessID.MatchString(id) {
		return id
	}
	return rand.Text()
}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{id: "none"}
}
