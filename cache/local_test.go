package cache

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/maypok86/otter/v2"
)

func TestValueLivesASecondFromBeforeItsLoad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		loading, later time.Duration
		kept           bool
	}{
		{0, 0, true},
		{0, time.Second - 1, true},
		{0, time.Second, false},
		{600 * time.Millisecond, 400*time.Millisecond - 1, true},
		{600 * time.Millisecond, 400 * time.Millisecond, false},
		{time.Second - 1, 0, true},
		{time.Second, 0, false},
		{time.Hour, 0, false},
	} {
		t.Run(fmt.Sprint(c.loading, " and ", c.later), func(t *testing.T) {
			withRig(t, func(t *testing.T, r *rig) {
				first := r.get(t.Context(), 1)
				r.wait(c.loading)
				r.land(0, nil)
				first.is("1@0")
				r.wait(c.later)
				again := r.get(t.Context(), 1)
				if c.kept {
					again.is("1@0")
					return
				}
				r.land(1, nil)
				again.is("1@1")
			})
		})
	}
}

func TestOneLoadForAllWhoAsk(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1, 2, 1, 7)
		b := r.get(t.Context(), 3, 2, 2, 1, 3)
		c := r.get(t.Context(), 3, 7)
		r.began(2, 3)
		r.land(1, nil)
		c.is("waits")
		r.land(0, nil)
		a.is("1@0 2@0")
		b.is("1@0 2@0 3@1")
		c.is("3@1")
		r.get(t.Context(), 1, 2, 3).is("1@0 2@0 3@1")
		r.get(t.Context()).is("")
		r.began(2, 3)
	})
}

// A flight can land between a call's look at what is kept and its taking of the lock.
func TestWhatLandedMeanwhileIsNotLoadedAgain(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		r.get(t.Context(), 1)
		r.land(0, nil)
		a := r.begin([]int{1, 2})
		if a.found[1] != "1@0" || !slices.Equal(a.own.keys, []int{2}) || len(a.joined) > 0 {
			t.Errorf("found %v, loads %v, joined %v", a.found, a.own.keys, a.joined)
		}
	})
}

func TestOldValueIsReplacedByOneLoad(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		r.get(t.Context(), 1)
		r.land(0, nil)
		r.wait(time.Second)
		a := r.get(t.Context(), 1)
		b := r.get(t.Context(), 1)
		r.began(2, 1)
		r.land(1, nil)
		a.is("1@1")
		b.is("1@1")
		r.get(t.Context(), 1).is("1@1")
	})
}

// Each loads what the other waits for.
func TestCallsDoNotWaitInARing(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		first := r.get(t.Context(), 1)
		a := r.get(t.Context(), 1, 2)
		b := r.get(t.Context(), 3, 2)
		c := r.get(t.Context(), 3, 1)
		for n := range 3 {
			r.land(n, nil)
		}
		first.is("1@0")
		a.is("1@0 2@1")
		b.is("2@1 3@2")
		c.is("1@0 3@2")
	})
}

func TestLateValueAnswersOnlyWhoBeganItsLoad(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1, 7, 1)
		b := r.get(t.Context(), 1, 7, 2)
		r.land(1, nil)
		r.wait(time.Second)
		r.land(0, nil)
		a.is("1@0")
		r.began(3, 1, 7)
		c := r.get(t.Context(), 1)
		r.began(4, 1)
		r.wait(time.Hour)
		r.land(2, nil)
		b.is("1@2 2@1")
		r.land(3, nil)
		c.is("1@3")
	})
}

func TestLoadThatIsLateAlreadyIsNotJoined(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1)
		r.wait(time.Second)
		b := r.get(t.Context(), 1)
		r.began(2, 1)
		r.land(0, nil)
		c := r.get(t.Context(), 1)
		r.began(2, 1)
		r.land(1, nil)
		a.is("1@0")
		b.is("1@1")
		c.is("1@1")
		r.get(t.Context(), 1).is("1@1")
	})
}

// A kept value grows old while the same call loads another.
func TestKeptValueThatAgedMeanwhileIsLoaded(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		r.get(t.Context(), 1, 2)
		r.land(0, nil)
		r.wait(900 * time.Millisecond)
		a := r.get(t.Context(), 1, 3, 2)
		r.began(2, 3)
		r.wait(100 * time.Millisecond)
		r.land(1, nil)
		r.began(3, 1, 2)
		r.land(2, nil)
		a.is("1@2 2@2 3@1")
	})
}

// The same, but its row is gone by then.
func TestKeptValueThatIsGoneMeanwhileIsNotAnswered(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		r.get(t.Context(), 1)
		r.land(0, nil)
		a := r.get(t.Context(), 1, 2)
		r.wait(time.Second)
		r.land(1, nil)
		r.began(3, 1)
		r.land(2, errGone)
		a.is("2@1")
	})
}

func TestContextOfWhoLoadsIsNoConcernOfOthers(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancel": context.WithCancel,
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(t *testing.T, r *rig) {
				ctx, cancel := how(t.Context())
				a := r.get(ctx, 1)
				b := r.get(t.Context(), 1)
				b.is("waits")
				if name == "deadline" {
					<-ctx.Done()
				}
				cancel()
				synctest.Wait()
				a.is("error: read: " + ctx.Err().Error())
				r.began(2, 1)
				r.land(1, nil)
				b.is("1@1")
			})
		})
	}
}

// A connection's deadline may pass before the context's own timer has run.
func TestContextEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   time.Duration
		want bool
	}{{time.Hour, false}, {-time.Hour, true}} {
		ctx := deadline{Context: t.Context(), at: time.Now().Add(c.in)}
		if got := ended(ctx); got != c.want {
			t.Errorf("in %v: ended is %v", c.in, got)
		}
	}
}

// deadline is a context whose timer never runs.
type deadline struct {
	context.Context
	at time.Time
}

func (d deadline) Deadline() (time.Time, bool) { return d.at, true }

func TestWhoWaitsLeavesWithItsContext(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		b := r.get(ctx, 1)
		cancel()
		synctest.Wait()
		b.is("error: context canceled")
		r.began(1, 1)
		r.land(0, nil)
		a.is("1@0")
		r.get(ctx, 1).is("1@0")
	})
}

func TestDropEmpties(t *testing.T) {
	t.Parallel()
	for name, empty := range emptied {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(t *testing.T, r *rig) {
				r.get(t.Context(), 1, 2, 3)
				r.land(0, nil)
				empty(r.Local)
				a := r.get(t.Context(), 1, 2)
				r.began(2, 1, 2)
				r.land(1, nil)
				a.is("1@1 2@1")
				if name == "Drop" {
					r.get(t.Context(), 3).is("3@0")
				}
			})
		})
	}
}

// emptied are the two ways to forget keys 1 and 2.
var emptied = map[string]func(*Local[int, string]){
	"Drop":  func(l *Local[int, string]) { l.Drop(1, 2) },
	"Clear": (*Local[int, string]).Clear,
}

func TestLoadThatWasDroppedAnswersOnlyWhoWaited(t *testing.T) {
	t.Parallel()
	for name, empty := range emptied {
		t.Run(name, func(t *testing.T) {
			withRig(t, func(t *testing.T, r *rig) {
				a := r.get(t.Context(), 1, 2, 3)
				b := r.get(t.Context(), 1)
				empty(r.Local)
				after := r.get(t.Context(), 1)
				r.began(2, 1)
				r.land(0, nil)
				a.is("1@0 2@0 3@0")
				b.is("1@0")
				after.is("waits")
				second := r.get(t.Context(), 2)
				r.began(3, 2)
				r.land(1, nil)
				r.land(2, nil)
				after.is("1@1")
				second.is("2@2")
				r.get(t.Context(), 1, 2).is("1@1 2@2")
			})
		})
	}
}

func TestMissIsSharedNotKept(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 7)
		b := r.get(t.Context(), 7)
		r.began(1, 7)
		r.land(0, nil)
		a.is("")
		b.is("")
		c := r.get(t.Context(), 7)
		r.began(2, 7)
		r.land(1, nil)
		c.is("")
	})
}

func TestErrorGoesToAllWhoWaitAndIsNotKept(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1, 2)
		b := r.get(t.Context(), 2, 3)
		other := r.get(t.Context(), 3)
		r.land(1, nil)
		r.land(0, errDown)
		a.is("error: down")
		b.is("error: down")
		other.is("3@1")
		c := r.get(t.Context(), 1, 2, 3)
		r.land(2, nil)
		c.is("1@2 2@2 3@1")
	})
}

func TestPanicLeavesNobodyWaiting(t *testing.T) {
	withRig(t, func(t *testing.T, r *rig) {
		a := r.get(t.Context(), 1)
		b := r.get(t.Context(), 1)
		r.land(0, errPanic)
		a.is("recovered: panic")
		b.is("error: " + errBroken.Error())
		c := r.get(t.Context(), 1)
		r.land(1, nil)
		c.is("1@1")
	})
}

func TestEntriesAreBounded(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{-1, 1, 50} {
		l := NewLocal(bound, func(_ context.Context, keys []int) (map[int]int, error) {
			return map[int]int{keys[0]: keys[0]}, nil
		})
		for k := range 1000 {
			if _, err := l.Get(t.Context(), []int{k}); err != nil {
				t.Fatal(err)
			}
		}
		known := l.known.(*otter.Cache[int, dated[int]])
		known.CleanUp()
		if n := known.EstimatedSize(); n > max(1, bound) {
			t.Errorf("%d entries, want at most %d", n, max(1, bound))
		}
		if len(l.flying) > 0 {
			t.Errorf("%d loads are left over", len(l.flying))
		}
	}
}
