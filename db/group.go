package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"kith/social"
)

// maxBatch bounds how many operations share a transaction: their keys fit one IN list.
const maxBatch = MaxIn

// batchTimeout bounds one batch, tries and all.
const batchTimeout = 10 * time.Second

// Group gathers operations that arrive while a transaction is under way and commits them
// together in the next one. Alone, an operation is one small transaction at once; under
// load hundreds share a flush to disk. Safe for parallel use.
type Group[Op any] struct {
	commit func(ctx context.Context, ops []Op) error

	mu      sync.Mutex
	waiting []*entry[Op]
	running bool
}

type entry[Op any] struct {
	ctx  context.Context
	op   Op
	done chan error
}

// NewGroup commits batches by commit, one batch at a time, each of 1 to 900 operations in
// the order of their arrival. An error of commit that a single operation may have caused
// is answered to that operation alone.
func NewGroup[Op any](commit func(ctx context.Context, ops []Op) error) *Group[Op] {
	return &Group[Op]{commit: commit}
}

// Do waits until the operations are committed, in their order, or answers why one was not.
// When ctx ends first, they may be committed all the same.
func (g *Group[Op]) Do(ctx context.Context, ops ...Op) error {
	if len(ops) == 0 {
		return nil
	}
	entries := make([]*entry[Op], len(ops))
	for i, op := range ops {
		entries[i] = &entry[Op]{ctx: ctx, op: op, done: make(chan error, 1)}
	}
	g.mu.Lock()
	g.waiting = append(g.waiting, entries...)
	if !g.running {
		g.running = true
		go g.run()
	}
	g.mu.Unlock()
	var failed error
	for _, e := range entries {
		select {
		case err := <-e.done:
			failed = cmp.Or(failed, err)
		case <-ctx.Done():
			return public(ctx.Err())
		}
	}
	return failed
}

// run commits what waits until nothing does.
func (g *Group[Op]) run() {
	for {
		batch := g.take()
		if batch == nil {
			return
		}
		g.commitOrHalve(batch)
	}
}

// take removes the next batch from the queue; nil, and the end of running, when there is
// none. Whoever gave up while waiting is left out.
func (g *Group[Op]) take() []*entry[Op] {
	g.mu.Lock()
	defer g.mu.Unlock()
	var batch []*entry[Op]
	for len(g.waiting) > 0 && len(batch) < maxBatch {
		e := g.waiting[0]
		g.waiting = g.waiting[1:]
		if e.ctx.Err() == nil {
			batch = append(batch, e)
		}
	}
	if len(batch) == 0 {
		g.running, g.waiting = false, nil
	}
	return batch
}

// guarded commits, and makes an error of a panic: it is a fault of one operation, and must
// not end the process with all the others.
func (g *Group[Op]) guarded(ctx context.Context, ops []Op) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("commit a batch: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return g.commit(ctx, ops)
}

// commitOrHalve commits the batch; when that fails for a reason other than the store, the
// two halves, and so on down to the operation at fault.
func (g *Group[Op]) commitOrHalve(batch []*entry[Op]) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTimeout)
	ops := make([]Op, len(batch))
	for i, e := range batch {
		ops[i] = e.op
	}
	err := g.guarded(ctx, ops)
	cancel()
	var known *social.Error
	if err != nil && len(batch) > 1 && !(errors.As(err, &known) && known.Code == social.Unavailable) {
		g.commitOrHalve(batch[:len(batch)/2])
		g.commitOrHalve(batch[len(batch)/2:])
		return
	}
	for _, e := range batch {
		e.done <- err
	}
}
