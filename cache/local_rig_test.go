package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// rig is a Local whose clock and loads the test holds. Load n finds for key k the value
// "k@n", and nothing for keys that end in 7.
type rig struct {
	*Local[int, string]
	t     *testing.T
	now   atomic.Int64
	mu    sync.Mutex
	loads []*load
}

// load is a call of the reader that waits for the test, or for the end of its context.
type load struct {
	keys  []int
	reply chan error
}

// asking is a Get that may still wait.
type asking struct {
	t    *testing.T
	done atomic.Bool
	text string
}

// withRig runs a test in a bubble, in which all that runs soon comes to wait.
func withRig(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		r.Local = NewLocal(100, r.read)
		r.clock = func() time.Duration { return time.Duration(r.now.Load()) }
		test(t, r)
	})
}

func (r *rig) read(ctx context.Context, keys []int) (map[int]string, error) {
	r.mu.Lock()
	n, l := len(r.loads), &load{keys: slices.Sorted(slices.Values(keys)), reply: make(chan error)}
	r.loads = append(r.loads, l)
	r.mu.Unlock()
	select {
	case err := <-l.reply:
		switch {
		case errors.Is(err, errPanic):
			panic(err)
		case errors.Is(err, errGone):
			return nil, nil
		}
		return r.found(n, keys), err
	case <-ctx.Done():
		return nil, fmt.Errorf("read: %w", ctx.Err())
	}
}

// What a load ends in, other than its values: a panic, an error, or no values.
var errPanic, errDown, errGone = errors.New("panic"), errors.New("down"), errors.New("gone")

func (r *rig) found(n int, keys []int) map[int]string {
	found := map[int]string{99: "unasked"}
	for _, k := range keys {
		if k%10 != 7 {
			found[k] = fmt.Sprintf("%d@%d", k, n)
		}
	}
	return found
}

// wait moves the clock.
func (r *rig) wait(d time.Duration) { r.now.Add(int64(d)) }

// land lets load n end.
func (r *rig) land(n int, err error) {
	r.t.Helper()
	r.mu.Lock()
	if n >= len(r.loads) {
		r.t.Fatalf("land %d: %d loads began", n, len(r.loads))
	}
	l := r.loads[n]
	r.mu.Unlock()
	l.reply <- err
	synctest.Wait()
}

// began asks that so many loads began, the last of them of these keys.
func (r *rig) began(n int, keys ...int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.loads) != n {
		r.t.Fatalf("%d loads began, want %d", len(r.loads), n)
	}
	if last := r.loads[n-1].keys; !slices.Equal(last, keys) {
		r.t.Fatalf("the last load is of %v, want %v", last, keys)
	}
}

// get asks, and goes on once the answer is there or waited for.
func (r *rig) get(ctx context.Context, keys ...int) *asking {
	a := &asking{t: r.t}
	go func() {
		defer a.done.Store(true)
		defer func() {
			if p := recover(); p != nil {
				a.text = fmt.Sprint("recovered: ", p)
			}
		}()
		found, err := r.Get(ctx, keys)
		if err != nil {
			a.text = fmt.Sprint("error: ", err)
			return
		}
		var parts []string
		for k, v := range found {
			if !strings.HasPrefix(v, fmt.Sprint(k, "@")) {
				v = fmt.Sprintf("%d is %s", k, v)
			}
			parts = append(parts, v)
		}
		slices.Sort(parts)
		a.text = strings.Join(parts, " ")
	}()
	synctest.Wait()
	return a
}

// is asks what the Get was answered: values, an error, or that it waits.
func (a *asking) is(want string) {
	a.t.Helper()
	got := "waits"
	if a.done.Load() {
		got = a.text
	}
	if got != want {
		a.t.Fatalf("got %q, want %q", got, want)
	}
}
