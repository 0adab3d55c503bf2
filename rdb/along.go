package rdb

import (
	"context"
	"slices"
	"sync"
)

// along are calls that wait for the next round trip.
type along struct {
	mu    sync.Mutex
	calls []*Call
}

type alongKey struct{}

// Along lets calls go with the first [Redis.Run] under the ctx that it gives, and so cost no
// round trip of their own. By the end, which is to be called, they have been sent.
func (r *Redis) Along(ctx context.Context, epoch func(part int) int64, calls ...*Call) (with context.Context, end func()) {
	for _, c := range calls {
		c.epoch = epoch
	}
	a := &along{calls: calls}
	return context.WithValue(ctx, alongKey{}, a), func() { r.Run(ctx, epoch, a.take()...) }
}

// take gives the calls to the first who asks.
func (a *along) take() []*Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = nil
	return calls
}

// withAlong adds the calls that wait in ctx.
func withAlong(ctx context.Context, calls []*Call) []*Call {
	if a, ok := ctx.Value(alongKey{}).(*along); ok && len(calls) > 0 {
		return slices.Concat(calls, a.take())
	}
	return calls
}
