package loaders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// fetcher answers the tens of its keys, without those that end in 7, and keeps what was
// asked.
type fetcher struct {
	mu    sync.Mutex
	asked [][]int
	err   error
}

func (f *fetcher) fetch(_ context.Context, keys []int) (map[int]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, slices.Clone(keys))
	found := map[int]string{}
	for _, k := range keys {
		if k%10 != 7 {
			found[k] = fmt.Sprint(10 * k)
		}
	}
	return found, f.err
}

func (f *fetcher) sizes() (sizes []int) {
	for _, keys := range f.asked {
		sizes = append(sizes, len(keys))
	}
	return sizes
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func TestOneValueForEachKeyInItsOrder(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]int{{}, {1}, {3, 1, 2}, {1, 7, 2}, {7, 17}, {5, 5, 5}, {2, 1, 2, 7, 1, 7}} {
		f := &fetcher{}
		got, err := newLoader(usualWait, f.fetch).All(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{}
		for _, k := range keys {
			v := fmt.Sprint(10 * k)
			if k%10 == 7 {
				v = ""
			}
			want = append(want, v)
		}
		equal(t, fmt.Sprint(keys), got, want)
		if len(f.asked) > 1 {
			t.Errorf("%v: asked %v", keys, f.asked)
		}
		for _, asked := range f.asked {
			slices.Sort(asked)
			equal(t, "keys asked once each", len(slices.Compact(asked)), len(asked))
		}
	}
}

func TestKeyIsReadOnceInARequest(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	l := newLoader(usualWait, f.fetch)
	for range 3 {
		_, err := l.All(t.Context(), []int{1, 2, 7})
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.Load(t.Context(), 2)
		if v != "20" || err != nil {
			t.Errorf("got %q, %v", v, err)
		}
	}
	equal(t, "batches", f.sizes(), []int{3})
}

func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	var keys []int
	for k := range 2*maxBatch + 1 {
		keys = append(keys, k)
	}
	got, err := newLoader(usualWait, f.fetch).All(t.Context(), keys)
	if err != nil || len(got) != len(keys) {
		t.Fatalf("got %d values, %v", len(got), err)
	}
	for i, v := range got {
		if i%10 != 7 && v != fmt.Sprint(10*i) {
			t.Errorf("key %d has %q", i, v)
		}
	}
	sum := 0
	for _, n := range f.sizes() {
		if sum += n; n > maxBatch {
			t.Errorf("a batch of %d", n)
		}
	}
	equal(t, "keys asked", sum, len(keys))
}

func TestErrorReachesEveryKey(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store is gone")
	f := &fetcher{err: broken}
	l := newLoader(usualWait, f.fetch)
	if _, err := l.All(t.Context(), []int{1, 2, 3}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for k := range 4 {
		if _, err := l.Load(t.Context(), k); !errors.Is(err, broken) {
			t.Errorf("key %d: got %v", k, err)
		}
	}
}

func TestPrimedValueIsNotRead(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	l := newLoader(usualWait, f.fetch)
	l.Prime(t.Context(), 1, "known")
	got, err := l.All(t.Context(), []int{2, 1})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "values", got, []string{"20", "known"})
	equal(t, "asked", f.asked, [][]int{{2}})
}

func TestParallelLookUpsAllGetTheirs(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	l := newLoader(usualWait, f.fetch)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			k := i % 50
			v, err := l.Load(t.Context(), k)
			if err != nil || k%10 != 7 && v != fmt.Sprint(10*k) {
				t.Errorf("key %d: got %q, %v", k, v, err)
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range f.sizes() {
		sum += n
	}
	equal(t, "keys asked, each once", sum, 50)
}

// A page whose keys take long to queue, on a busy machine, is still one batch: All alone
// ends it, and no time that passes meanwhile.
func TestPageIsReadWhenItsLastKeyIsKnown(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	l := newLoader(usualWait, f.fetch)
	first := l.page.Load(t.Context(), 1)
	for k := range 5 { // each waits for others of its request
		_, err := l.Load(t.Context(), 100+k)
		equal(t, "error", err, nil)
	}
	_, err := l.All(t.Context(), []int{2, 3})
	equal(t, "error", err, nil)
	v, err := first()
	equal(t, "error", err, nil)
	equal(t, "value", v, "10")
	equal(t, "asked", f.asked, [][]int{{100}, {101}, {102}, {103}, {104}, {1, 2, 3}})
}

// Look-ups alone and those of a page know each other's values.
func TestLookUpsAndPagesShareWhatTheyKnow(t *testing.T) {
	t.Parallel()
	f := &fetcher{}
	l := newLoader(usualWait, f.fetch)
	_, err := l.Load(t.Context(), 1)
	equal(t, "error", err, nil)
	_, err = l.All(t.Context(), []int{1, 2})
	equal(t, "error", err, nil)
	_, err = l.Load(t.Context(), 2)
	equal(t, "error", err, nil)
	equal(t, "asked", f.asked, [][]int{{1}, {2}})
}
