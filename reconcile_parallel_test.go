package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/db"
	"kith/ops"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

var (
	keepTTL = redis.SetArgs{KeepTTL: true}
	garbage = redis.Z{Score: 1, Member: "x"}
)

// reconcileRounds is how often people are looked at while they act.
const reconcileRounds = 8

// Looking and mending beside people who follow, unfollow, block and mute each other through
// two servers finds nothing, since nothing is wrong, and breaks nothing.
func TestReconcileBesideParallelChangesFindsNothing(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		people := w.persons(t, 6)
		for i := range people {
			people[i].publish(t, "before")
			if i%3 == 0 {
				people[i].OK(t, `mutation { updateProfile(input: {isPrivate: true}) { user { id } } }`, nil)
			}
		}
		w.actBeside(t, people, func(s *server, p person) error { return relate(t.Context(), s, p, people[rand.IntN(len(people))]) })
	})
}

// actBeside looks and mends beside people who act, and sees nothing found, then and at rest.
func (w *cachedWorld) actBeside(t *testing.T, people []person, act func(*server, person) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, p := range people {
		for range 2 {
			all.Go(func() {
				for ; ctx.Err() == nil; pause(ctx.Done(), 10*time.Millisecond) { // the looking has its turn too
					if err := act(w.servers[rand.IntN(len(w.servers))], p); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	judged := 0
	for n := range reconcileRounds {
		report := w.reconcile(t, ops.ReconcileConfig{Repair: n%2 == 1})
		if found, _ := report.Drift(); found > 0 {
			t.Errorf("round %d: %+v", n, report.Counts())
		}
		judged += report.Keyed - report.Unjudged
	}
	stop()
	all.Wait()
	w.drained(t)
	report := w.reconcile(t, ops.ReconcileConfig{})
	if found, _ := report.Drift(); found > 0 || report.Unjudged > 0 || report.UnjudgedLikes > 0 || report.People != len(people) {
		t.Errorf("at rest: %+v, %d and %d not judged", report.Counts(), report.Unjudged, report.UnjudgedLikes)
	}
	if judged == 0 {
		t.Error("no caches were judged while people acted")
	}
	t.Logf("caches judged %d times, %d edges, %d likes of %d blogs", judged, report.Edges, report.Likes, report.Blogs)
	w.CheckInvariants(t)
}

// relate does something to a relation; what cannot be, as to follow who blocks, is not done.
func relate(ctx context.Context, s *server, p, other person) error {
	if p.id == other.id {
		return nil
	}
	var err error
	switch rand.IntN(14) {
	case 0, 1, 2, 3:
		_, err = s.graph.Follow(ctx, p.id, other.id)
	case 4, 5:
		_, err = s.graph.Unfollow(ctx, p.id, other.id)
	case 6:
		err = s.graph.Accept(ctx, p.id, other.id)
	case 7:
		err = s.graph.Block(ctx, p.id, other.id)
	case 8, 9:
		err = s.graph.Unblock(ctx, p.id, other.id)
	case 10:
		err = s.graph.Mute(ctx, p.id, other.id)
	case 11:
		err = s.graph.Unmute(ctx, p.id, other.id)
	default:
		_, err = s.feed.Home(ctx, p.id, social.Page{Limit: 5})
	}
	if social.HasCode(err, social.NotFound) || social.HasCode(err, social.Forbidden) {
		return nil
	}
	return err
}

// reconcile runs in this process, on connections of its own.
func (w *cachedWorld) reconcile(t *testing.T, cfg ops.ReconcileConfig) *ops.Reconciled {
	t.Helper()
	r, err := rdb.Open(rdb.Config{URL: w.redis.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	cfg.Redis = r
	report, err := ops.Reconcile(t.Context(), w.DB, w.Clock.Now, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Those who mend the same things at once mend them once.
func TestReconcileTwiceAtOnceMendsOnce(t *testing.T) {
	t.Parallel()
	eachReconciled(t, func(t *testing.T, r *reconciled) {
		r.settle(t)
		r.mendsOnce(t, slices.DeleteFunc(slices.Clone(rowDamage), func(d damage) bool {
			return d.kind == ops.NoEdge || d.kind == ops.EdgeAndBlock // which cannot be planted again
		}))
	})
}

// mendsOnce plants damages and has them mended by several at once.
func (r *reconciled) mendsOnce(t *testing.T, ds []damage) {
	t.Helper()
	for range 3 {
		for _, d := range ds {
			d.plant(t, r)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				report, err := ops.Reconcile(t.Context(), r.DB, r.Clock.Now, ops.ReconcileConfig{Repair: true})
				if _, left := report.Drift(); err != nil || left > 0 {
					t.Errorf("%v, %+v", err, report.Counts())
				}
			})
		}
		all.Wait()
		r.CheckInvariants(t)
	}
}

// crowd writes n people without any relations, with ids from 1.
func crowd(t *testing.T, s *socialtest.Store, n int) {
	t.Helper()
	err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		for id := range social.ID(n) {
			if err := tx.InsertUser(t.Context(), &social.User{ID: id + 1, Handle: fmt.Sprintf("crowd%d", id+1), Name: "Name"}, "hash"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReconcileGoesOnWhereItWasStopped(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		crowd(t, s, 250)
		for _, id := range []int{7, 100, 101, 250} {
			s.Exec(t, "UPDATE actor SET muting = 3 WHERE user_id = ?", id)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var told []string
		first, err := ops.Reconcile(ctx, s.DB, s.Clock.Now, ops.ReconcileConfig{Progress: func(done, of int64) {
			told = append(told, fmt.Sprint(done, " of ", of))
			stop()
		}})
		if found, _ := first.Drift(); err == nil || found != 2 || first.Next != 101 {
			t.Fatalf("%v: %d found, goes on with %d", err, found, first.Next)
		}
		second, err := ops.Reconcile(t.Context(), s.DB, s.Clock.Now, ops.ReconcileConfig{From: first.Next, Repair: true, Progress: func(done, of int64) {
			told = append(told, fmt.Sprint(done, " of ", of))
		}})
		if found, left := second.Drift(); err != nil || found != 2 || left != 0 || second.People != 150 {
			t.Errorf("%v: %d found in %d people, %d left", err, found, second.People, left)
		}
		if got := strings.Join(told, ", "); got != "100 of 250, 100 of 150, 150 of 150" {
			t.Errorf("progress: %s", got)
		}
		code, out, errs := kith(t, on(s, "reconcile", "--from", "8")...) // what the first found is there still
		if s.IsMySQL() {
			code, out, errs = kith(t, on(s, "reconcile", "--redis", redisURL(t), "--from", social.GlobalID(social.UserNode, 8))...)
		}
		if code != 1 || !strings.Contains(out, "243 people") || !strings.Contains(out, "1 things disagree") || !strings.Contains(out, "@crowd100 (100)") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	})
}

// On a signal it prints what it found, and where it was.
func TestReconcileThatIsInterruptedTellsWhereItWas(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	crowd(t, s, 150)
	s.Exec(t, "UPDATE actor SET muting = 3 WHERE user_id IN (5, 120)")
	tx, err := s.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec("UPDATE actor SET muting = 4 WHERE user_id = 120"); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], on(s, "reconcile", "--redis", redisURL(t))...)
	c.Env = append(os.Environ(), "KITH_TEST_MAIN=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	awaitLockWait(t, s)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // the code tells
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), "@crowd5 (5)") || !strings.Contains(errs.String(), "goes on with --from 101") {
		t.Errorf("exit code %d: %s%s", c.ProcessState.ExitCode(), out.String(), errs.String())
	}
}
