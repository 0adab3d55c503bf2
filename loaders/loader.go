package loaders

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/graph-gophers/dataloader/v7"
)

const (
	// usualWait is how long a look-up waits for others of its request, if nothing else is set.
	usualWait = time.Millisecond
	// pageWait is never waited for: a page is read as soon as its last key is known, see
	// [Loader.All]. It only has to outlast the queueing of a page on a busy machine, where
	// a millisecond had split pages in two.
	pageWait = time.Minute
	// maxBatch is how many keys go into one statement.
	maxBatch = 250
	// inputCap bounds the queue of a batch.
	inputCap = 128
)

// Loader finds values by key for one request: look-ups that come together share one
// statement, and each key is read once. Safe for parallel use.
type Loader[K comparable, V any] struct {
	of   *dataloader.Loader[K, V]
	page *dataloader.Loader[K, V] // the same values, read by All
}

// newLoader loads by fetch, which answers a map: a key that is missing there has the zero
// value.
func newLoader[K comparable, V any](wait time.Duration, fetch func(context.Context, []K) (map[K]V, error)) Loader[K, V] {
	batch := func(ctx context.Context, keys []K) []*dataloader.Result[V] {
		found, err := fetch(ctx, keys)
		results := make([]*dataloader.Result[V], len(keys))
		for i, k := range keys {
			results[i] = &dataloader.Result[V]{Data: found[k], Error: err}
		}
		return results
	}
	known := dataloader.NewCache[K, V]()
	loader := func(wait time.Duration) *dataloader.Loader[K, V] {
		return dataloader.NewBatchedLoader(batch,
			dataloader.WithCache[K, V](known),
			dataloader.WithWait[K, V](wait),
			dataloader.WithBatchCapacity[K, V](maxBatch),
			dataloader.WithInputCapacity[K, V](inputCap))
	}
	return Loader[K, V]{of: loader(wait), page: loader(pageWait)}
}

// Load gives the value of one key.
func (l Loader[K, V]) Load(ctx context.Context, key K) (V, error) { return l.of.Load(ctx, key)() }

// All gives the values of the keys in their order. They are read at once; in a resolver
// that runs for every element of a list, together with those of its siblings.
func (l Loader[K, V]) All(ctx context.Context, keys []K) ([]V, error) {
	atOnce := !inList(ctx)
	loader := l.of
	if atOnce {
		loader = l.page
	}
	thunks := make([]dataloader.Thunk[V], len(keys))
	for i, k := range keys {
		thunks[i] = loader.Load(ctx, k)
	}
	if atOnce {
		l.page.Flush()
	}
	values := make([]V, len(keys))
	for i, thunk := range thunks {
		v, err := thunk()
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// Prime makes a value known that was read elsewhere.
func (l Loader[K, V]) Prime(ctx context.Context, key K, value V) { l.of.Prime(ctx, key, value) }

// inList tells whether the field being resolved lies within an element of a list.
func inList(ctx context.Context) bool {
	for f := graphql.GetFieldContext(ctx); f != nil; f = f.Parent {
		if f.Index != nil {
			return true
		}
	}
	return false
}
