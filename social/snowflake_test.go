package social_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

func next(t testing.TB, s *social.Snowflake) social.ID {
	t.Helper()
	id, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIDsAreUniqueAndRise(t *testing.T) {
	t.Parallel()
	s := social.NewSnowflake(time.Now, socialtest.Node(1))
	const makers, each = 10, 1000
	made := make([][]social.ID, makers)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], next(t, s))
			}
		})
	}
	all.Wait()
	seen := map[social.ID]bool{}
	for _, ids := range made {
		if !slices.IsSorted(ids) {
			t.Error("ids fell for one who makes them one after the other")
		}
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != makers*each {
		t.Errorf("%d different ids of %d", len(seen), makers*each)
	}
}

func TestIDHoldsTimeAndNode(t *testing.T) {
	t.Parallel()
	clock := socialtest.NewClock()
	for _, node := range []int{0, 1, 512, social.Nodes - 1} {
		id := next(t, social.NewSnowflake(clock.Now, socialtest.Node(node)))
		if got := int(id >> 12 & (social.Nodes - 1)); got != node {
			t.Errorf("node %d came back as %d", node, got)
		}
		if id.Time() != clock.NowMS() {
			t.Errorf("time %d came back as %d", clock.NowMS(), id.Time())
		}
	}
}

// waits tells that Next does not answer while the clock stands still.
func waits(t *testing.T, s *social.Snowflake) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if id, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %d, %v; want it to wait", id, err)
	}
}

func TestMillisecondWithoutIDsLeftWaitsForTheClock(t *testing.T) {
	t.Parallel()
	clock := socialtest.NewClock()
	s := social.NewSnowflake(clock.Now, socialtest.Node(1))
	last := next(t, s)
	for last&(1<<12-1) != 1<<12-1 {
		id := next(t, s)
		if id != last+1 {
			t.Fatalf("%d after %d", id, last)
		}
		last = id
	}
	waits(t, s)
	answer := make(chan social.ID)
	go func() { id, _ := s.Next(t.Context()); answer <- id }()
	clock.Advance(time.Millisecond)
	if id := <-answer; id.Time() != last.Time()+1 {
		t.Errorf("got an id of %d, want of %d", id.Time(), last.Time()+1)
	}
}

func TestEachMillisecondHasAtLeast2048IDs(t *testing.T) {
	t.Parallel()
	clock := socialtest.NewClock()
	s := social.NewSnowflake(clock.Now, socialtest.Node(1))
	for range 100 {
		clock.Advance(time.Millisecond)
		if seq := next(t, s) & (1<<12 - 1); seq >= 2048 {
			t.Errorf("began at %d", seq)
		}
	}
}

func TestClockThatStepsBackALittleIsWaitedFor(t *testing.T) {
	t.Parallel()
	clock := socialtest.NewClock()
	s := social.NewSnowflake(clock.Now, socialtest.Node(1))
	last := next(t, s)
	for _, back := range []time.Duration{time.Millisecond, time.Second} {
		clock.Advance(-back)
		waits(t, s)
		clock.Advance(back)
		id := next(t, s)
		if id <= last {
			t.Errorf("%d after %d", id, last)
		}
		last = id
	}
}

func TestClockThatIsWrongIsUnavailable(t *testing.T) {
	t.Parallel()
	clock := socialtest.NewClock()
	s := social.NewSnowflake(clock.Now, socialtest.Node(1))
	last := next(t, s)
	now := clock.Now()
	for _, at := range []time.Time{now.Add(-1001 * time.Millisecond), now.Add(-time.Hour), social.Epoch.Time().Add(-time.Millisecond), {}} {
		clock.Set(at)
		if id, err := s.Next(t.Context()); !social.HasCode(err, social.Unavailable) {
			t.Errorf("at %s: %d, %v", at, id, err)
		}
	}
	clock.Set(social.Epoch.Time().Add(-time.Millisecond))
	if id, err := social.NewSnowflake(clock.Now, socialtest.Node(1)).Next(t.Context()); !social.HasCode(err, social.Unavailable) {
		t.Errorf("first id before the epoch: %d, %v", id, err)
	}
	clock.Set(now)
	if id := next(t, s); id <= last {
		t.Errorf("after recovery %d, before %d", id, last)
	}
}

func TestServerWithoutANodeNumberMakesNoIDs(t *testing.T) {
	t.Parallel()
	none := social.Errorf(social.Unavailable, "no lease")
	s := social.NewSnowflake(time.Now, func() (int, error) { return 0, none })
	if _, err := s.Next(t.Context()); !errors.Is(err, none) {
		t.Errorf("got %v", err)
	}
}
