package cache

import (
	"context"
	"sync"
	"time"

	"kith/rdb"
	"kith/social"
)

// recent is for how long whoever wrote passes by what servers keep in process. The mark is
// set before the answer, which may take another 10 s; what is read in process then may have
// been read a second before it.
const recent = 12 * time.Second

// contextKey is the type of this package's only context key.
type contextKey struct{}

// request is what one request knows of when its viewer wrote.
type request struct {
	mu    sync.Mutex
	known bool
	calm  bool // not lately
}

// With gives ctx what a request needs for reading in process. Without it, nothing is.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &request{})
}

// Wrote tells that the viewer of the request just wrote.
func Wrote(ctx context.Context) {
	if r, ok := ctx.Value(contextKey{}).(*request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.known, r.calm = true, false
	}
}

// Learn tells how long ago the viewer of the request wrote, as was read from Redis with
// something else; 0 where that is not known.
func Learn(ctx context.Context, since time.Duration) {
	if r, ok := ctx.Value(contextKey{}).(*request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.known { // else the request itself may have written since
			r.known, r.calm = true, since >= recent
		}
	}
}

// Forget forgets when the viewer wrote, for a request that has waited since it was read.
func Forget(ctx context.Context) {
	if r, ok := ctx.Value(contextKey{}).(*request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.known, r.calm = false, false
	}
}

// mayReadLocal tells whether the request may read what this server keeps in process: its
// viewer has not written lately, through any server. It asks Redis once for a request.
func (s *State) mayReadLocal(ctx context.Context) bool {
	r, ok := ctx.Value(contextKey{}).(*request)
	if !ok {
		return false
	}
	viewer := social.Viewer(ctx)
	if viewer == 0 {
		return s.isKnown()
	}
	part := rdb.Partition(viewer)
	epoch, on := s.Epoch(part)
	if !on {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		wrote := rdb.NewWrote(viewer)
		s.redis.Run(ctx, func(int) int64 { return epoch }, wrote.Call)
		r.known = true
		if wrote.Call.Err() != nil {
			s.Failed(ctx, part)
		} else {
			r.calm = wrote.Since() >= recent
		}
	}
	return r.calm
}

// isKnown tells that there is a reading of the state, and so a Redis.
func (s *State) isKnown() bool {
	r := s.last.Load()
	return r != nil && s.clock()-r.sentAt < s.trust
}
