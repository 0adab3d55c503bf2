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

// request is what one HTTP request is known by in answers and logs.
type request struct {
	id string
	// reported counts the causes logged: a page of failing fields says the same thing
	// a hundred times.
	reported atomic.Int32
}

type requestKey struct{}

// withRequest names the request: by the caller's X-Request-Id where that is harmless,
// else by a random one.
func withRequest(ctx context.Context, h http.Header) (context.Context, string) {
	id := h.Get("X-Request-Id")
	if !harmlessID.MatchString(id) {
		id = rand.Text()
	}
	return context.WithValue(ctx, requestKey{}, &request{id: id}), id
}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{id: "none"}
}
