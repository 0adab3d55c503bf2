package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"kith/db"
	"kith/social"
)

// held is a group whose first batch, of operation 0, is under way until release is closed.
type held struct {
	*db.Group[int]
	release chan struct{}
	answers map[int]chan error

	mu      sync.Mutex
	batches [][]int // after the first
}

// hold makes a group that commits by commit, nil for always, and holds its first batch.
func hold(t *testing.T, commit func(ops []int) error) *held {
	h := &held{release: make(chan struct{}), answers: map[int]chan error{}}
	began := make(chan struct{})
	h.Group = db.NewGroup(func(_ context.Context, ops []int) error {
		if ops[0] == 0 {
			close(began)
			<-h.release
			return nil
		}
		h.mu.Lock()
		h.batches = append(h.batches, slices.Clone(ops))
		h.mu.Unlock()
		if commit == nil {
			return nil
		}
		return commit(ops)
	})
	h.do(t.Context(), 0)
	<-began
	return h
}

// do sends an operation; answer gives what came of it.
func (h *held) do(ctx context.Context, op int) {
	answer := make(chan error, 1)
	h.answers[op] = answer
	go func() { answer <- h.Do(ctx, op) }()
}

// queue sends operations 1 to n, each once the one before it waits.
func (h *held) queue(t *testing.T, n int) {
	t.Helper()
	for op := 1; op <= n; op++ {
		h.do(t.Context(), op)
		eventually(t, "operation waits", func() bool { return h.Waiting() == op })
	}
}

func (h *held) answer(op int) error { return <-h.answers[op] }

func TestOperationsThatWaitShareABatchInOrder(t *testing.T) {
	t.Parallel()
	h := hold(t, nil)
	h.queue(t, 10)
	close(h.release)
	for op := range 11 {
		noError(t, h.answer(op))
	}
	equal(t, "batches", h.batches, [][]int{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}})
}

func TestOperationAloneIsCommittedAtOnce(t *testing.T) {
	t.Parallel()
	var batches [][]int
	g := db.NewGroup(func(_ context.Context, ops []int) error { batches = append(batches, ops); return nil })
	for op := range 3 {
		noError(t, g.Do(t.Context(), op))
	}
	equal(t, "batches", batches, [][]int{{0}, {1}, {2}})
}

func TestOperationsOfOneCallAreCommittedInTheirOrder(t *testing.T) {
	t.Parallel()
	var batches [][]int
	fault := errors.New("at fault")
	g := db.NewGroup(func(_ context.Context, ops []int) error {
		if slices.Contains(ops, 4) {
			return fault
		}
		batches = append(batches, ops)
		return nil
	})
	noError(t, g.Do(t.Context()))
	noError(t, g.Do(t.Context(), 3, 1, 2))
	equal(t, "one is at fault", g.Do(t.Context(), 6, 4, 5), fault)
	equal(t, "batches", batches, [][]int{{3, 1, 2}, {6}, {5}})
}

func TestBatchesAreBounded(t *testing.T) {
	t.Parallel()
	const more = 50
	h := hold(t, nil)
	for op := 1; op <= 2*db.MaxBatch+more; op++ {
		h.do(t.Context(), op)
	}
	eventually(t, "all wait", func() bool { return h.Waiting() == 2*db.MaxBatch+more })
	close(h.release)
	for op := range h.answers {
		noError(t, h.answer(op))
	}
	var sizes []int
	for _, b := range h.batches {
		sizes = append(sizes, len(b))
	}
	equal(t, "sizes", sizes, []int{db.MaxBatch, db.MaxBatch, more})
}

func TestHalvingFindsTheOperationsAtFault(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]int{{7}, {1}, {10}, {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			t.Parallel()
			fault := errors.New("at fault")
			var committed []int
			h := hold(t, func(ops []int) error {
				for _, op := range ops {
					if slices.Contains(bad, op) {
						return fault
					}
				}
				committed = append(committed, ops...)
				return nil
			})
			h.queue(t, 10)
			close(h.release)
			var good []int
			for op := 1; op <= 10; op++ {
				switch err := h.answer(op); {
				case slices.Contains(bad, op) && !errors.Is(err, fault):
					t.Errorf("operation %d at fault: %v", op, err)
				case !slices.Contains(bad, op):
					noError(t, err)
					good = append(good, op)
				}
			}
			equal(t, "committed once, in order", committed, good)
		})
	}
}

func TestUnavailableIsAnsweredToAllWithoutHalving(t *testing.T) {
	t.Parallel()
	h := hold(t, func([]int) error { return fmt.Errorf("commit: %w", social.Errorf(social.Unavailable, "down")) })
	h.queue(t, 8)
	close(h.release)
	for op := 1; op <= 8; op++ {
		hasCode(t, h.answer(op), social.Unavailable)
	}
	equal(t, "batches", len(h.batches), 1)
}

func TestCallerWhoGaveUpWhileWaitingIsLeftOut(t *testing.T) {
	t.Parallel()
	h := hold(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	h.do(ctx, 1)
	h.do(t.Context(), 2)
	eventually(t, "both wait", func() bool { return h.Waiting() == 2 })
	cancel()
	if err := h.answer(1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(h.release)
	noError(t, h.answer(2))
	equal(t, "batches", h.batches, [][]int{{2}})
}

func TestAllWhoWaitedGaveUpAndTheNextIsServed(t *testing.T) {
	t.Parallel()
	h := hold(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	h.do(ctx, 1)
	eventually(t, "it waits", func() bool { return h.Waiting() == 1 })
	cancel()
	_ = h.answer(1)
	close(h.release)
	noError(t, h.answer(0))
	noError(t, h.Do(t.Context(), 2))
	equal(t, "batches", h.batches, [][]int{{2}})
}

// A caller who gives up in the middle of a commit is answered at once; the commit and its
// other operations go on.
func TestCallerWhoGaveUpDuringTheCommitIsAnswered(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	var committed []int
	g := db.NewGroup(func(ctx context.Context, ops []int) error {
		if ops[0] == 1 {
			close(began)
			<-release
		}
		committed = append(committed, ops...)
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Do(ctx, 1) }()
	<-began
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(release)
	noError(t, g.Do(t.Context(), 2))
	equal(t, "committed", committed, []int{1, 2})
}

func TestWaitingPastTheDeadlineIsUnavailable(t *testing.T) {
	t.Parallel()
	h := hold(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	hasCode(t, h.Do(ctx, 1), social.Unavailable)
	close(h.release)
	noError(t, h.answer(0))
}

// Every operation is committed once, one batch at a time, and answered with its own
// result.
func TestThousandOperationsAtOnce(t *testing.T) {
	t.Parallel()
	var inside, batches atomic.Int32
	seen := map[int]int{}
	fault := errors.New("at fault")
	g := db.NewGroup(func(_ context.Context, ops []int) error {
		if inside.Add(1) != 1 {
			t.Error("two batches at once")
		}
		defer inside.Add(-1)
		batches.Add(1)
		if slices.Contains(ops, 500) {
			return fault
		}
		for _, op := range ops {
			seen[op]++
		}
		return nil
	})
	var all sync.WaitGroup
	for op := range 1000 {
		all.Go(func() {
			if err := g.Do(t.Context(), op); errors.Is(err, fault) != (op == 500) {
				t.Errorf("operation %d: %v", op, err)
			}
		})
	}
	all.Wait()
	for op := range 1000 {
		if want := 1; op != 500 && seen[op] != want {
			t.Errorf("operation %d was committed %d times", op, seen[op])
		}
	}
	t.Logf("%d batches", batches.Load())
}

// A panic is the fault of one operation: the others are committed, and the process lives.
func TestPanicIsAnsweredToItsOperationAlone(t *testing.T) {
	t.Parallel()
	g := db.NewGroup(func(_ context.Context, ops []int) error {
		if slices.Contains(ops, 13) {
			panic("unlucky")
		}
		return nil
	})
	var wg sync.WaitGroup
	for op := range 20 {
		wg.Go(func() {
			if err := g.Do(context.Background(), op); (err != nil) != (op == 13) {
				t.Errorf("operation %d: %v", op, err)
			}
		})
	}
	wg.Wait()
}
