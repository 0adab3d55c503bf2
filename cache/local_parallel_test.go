package cache

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// versioned is a value of the parallel test: which load read it, for whom, and when.
type versioned struct {
	key, version, reader int
	began, ended         time.Duration
}

// shared is the world of the parallel test: what is true, and what was dropped.
type shared struct {
	*Local[int, versioned]
	now           atomic.Int64
	truth, floors [8]atomic.Int64
}

type readerKey struct{}

func (s *shared) read(ctx context.Context, keys []int) (map[int]versioned, error) {
	began, reader := s.clock(), ctx.Value(readerKey{}).(int)
	found := map[int]versioned{}
	for _, k := range keys {
		found[k] = versioned{key: k, version: int(s.truth[k].Load()), reader: reader, began: began}
	}
	for range rand.IntN(4) {
		runtime.Gosched()
		s.now.Add(rand.Int64N(int64(lifetime) / 2))
	}
	for k, v := range found {
		v.ended = s.clock()
		found[k] = v
	}
	switch rand.IntN(20) {
	case 0:
		return nil, errDown
	case 1:
		panic(errPanic)
	}
	return found, ctx.Err()
}

// write changes a key and drops it: from then on nobody may read what was before.
func (s *shared) write() {
	k := rand.IntN(len(s.truth))
	version := s.truth[k].Add(1)
	if rand.IntN(8) == 0 {
		s.Clear()
	} else {
		s.Drop(k)
	}
	for old := s.floors[k].Load(); old < version && !s.floors[k].CompareAndSwap(old, version); {
		old = s.floors[k].Load()
	}
}

// ask reads some keys and checks what it gets.
func (s *shared) ask(t *testing.T, reader int) {
	defer func() {
		if p := recover(); p != nil && p != any(errPanic) {
			t.Error(p)
		}
	}()
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), readerKey{}, reader))
	defer cancel()
	cancelled := rand.IntN(10) == 0
	if cancelled {
		go cancel()
	}
	keys := rand.Perm(len(s.truth))[:1+rand.IntN(4)]
	var floors [len(s.truth)]int
	for _, k := range keys {
		floors[k] = int(s.floors[k].Load())
	}
	start := s.clock()
	found, err := s.Get(ctx, keys)
	if errors.Is(err, context.Canceled) && !cancelled {
		t.Error("the error of another's context")
	}
	if err == nil && len(found) != len(keys) {
		t.Errorf("%d values for keys %v", len(found), keys)
	}
	for k, v := range found {
		if v.key != k || v.version < floors[k] {
			t.Errorf("key %d of version %d or later is %+v", k, floors[k], v)
		}
		if age := max(start, v.ended) - v.began; v.reader != reader && age >= lifetime {
			t.Errorf("key %d of another is %v old", k, age)
		}
	}
}

// After a Drop nobody reads what was before it, and what another loaded is never older than
// its limit, whatever happens at the same time.
func TestParallelReadsSeeWhatWasDropped(t *testing.T) {
	t.Parallel()
	s := &shared{}
	s.Local = NewLocal(6, s.read)
	s.clock = func() time.Duration { return time.Duration(s.now.Load()) }
	var all sync.WaitGroup
	for reader := range 16 {
		all.Go(func() {
			for range 500 {
				s.ask(t, reader)
				if rand.IntN(4) == 0 {
					s.write()
				}
				s.now.Add(rand.Int64N(int64(lifetime) / 50))
			}
		})
	}
	all.Wait()
	if len(s.flying) > 0 {
		t.Errorf("%d loads are left over", len(s.flying))
	}
}
