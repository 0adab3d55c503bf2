package cache

import (
	"context"
	"errors"
	"time"
)

// errBroken is for those who waited for a load that did not return.
var errBroken = errors.New("cache: a load that was waited for ended in a panic")

// flight is one call of the reader. What it found may be read once done is closed.
type flight[K comparable, V any] struct {
	keys      []K
	began     time.Duration
	done      chan struct{}
	found     map[K]V
	err       error
	abandoned bool // err may be due to its caller's context, which is no concern of others
}

// fly loads what is the flight's. It lands also when the load panics.
func (l *Local[K, V]) fly(ctx context.Context, f *flight[K, V]) error {
	if len(f.keys) == 0 {
		return nil
	}
	defer l.land(f)
	f.err = errBroken
	f.found, f.err = l.load(ctx, f.keys)
	f.abandoned = f.err != nil && ended(ctx)
	return f.err
}

// land stores what was not dropped on the way, and wakes who waits. An age
// is judged when a value is answered, not here.
func (l *Local[K, V]) land(f *flight[K, V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range f.keys {
		if l.flying[k] != f {
			continue
		}
		delete(l.flying, k)
		if v, ok := f.found[k]; ok && f.err == nil {
			l.known.Set(k, dated[V]{value: v, began: f.began})
		}
	}
	close(f.done)
}

// join waits for what others load. It is not usable if a flight was abandoned.
func (a *answer[K, V]) join(ctx context.Context) (usable bool, err error) {
	for k, f := range a.joined {
		select {
		case <-f.done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if f.abandoned {
			return false, nil
		}
		if f.err != nil {
			return false, f.err
		}
		a.take(f.found, k)
		a.oldest = min(a.oldest, f.began)
	}
	return true, nil
}

// ended tells whether ctx is over, also when only its timer has not run yet: a reader that
// hands the deadline to its connection may be ahead of it.
func ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}
