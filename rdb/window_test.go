package rdb_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/rdb"
)

// fastest takes from a moment on as fast as it goes, until another; when each passed.
func fastest(l rdb.Local, p rdb.Policy, from, to int64) (passed []int64) {
	for now := from; now < to; {
		wait := l.Take("x", now, 1, p)
		if wait == 0 {
			passed = append(passed, now)
		}
		now += wait
	}
	return passed
}

// most is how many of the times lie in one interval [x, x+length).
func most(times []int64, length int64) int {
	n, first := 0, 0
	for i, at := range times {
		for at-times[first] >= length {
			first++
		}
		n = max(n, i-first+1)
	}
	return n
}

func checkPromise(t interface {
	Errorf(format string, args ...any)
}, p rdb.Policy, times []int64) {
	if n := most(times, p.Window.Milliseconds()); int64(n) > p.Max {
		t.Errorf("an interval let %d of %d through", n, p.Max)
	}
}

func TestNoIntervalLetsMoreThroughThanPromised(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rdb.Policy{What: "x", Max: rapid.Int64Range(1, 20).Draw(t, "max"),
			Window: time.Duration(rapid.Int64Range(1, 2000).Draw(t, "window")) * time.Millisecond}
		length, now := p.Window.Milliseconds(), int64(1e12)
		l := rdb.NewLocal(1)
		var times []int64
		for range rapid.IntRange(1, 60).Draw(t, "rounds") { // bursts, pauses, floods
			now += rapid.Int64Range(0, 3*length).Draw(t, "pause")
			end := now + rapid.Int64Range(1, 2*length).Draw(t, "flood")
			times = append(times, fastest(l, p, now, end)...)
			now = end
		}
		checkPromise(t, p, times)
	})
}

// A burst at any place, then as fast as it goes.
func TestABurstWhereverItFallsLetsMaxThrough(t *testing.T) {
	t.Parallel()
	p := rdb.Policy{What: "x", Max: 60, Window: time.Minute}
	for _, x := range []int64{0, 500, 15_000, 30_000, 59_000, 59_999} {
		from := start.UnixMilli() + x
		times := fastest(rdb.NewLocal(1), p, from, from+600_000)
		if got := most(times, 60_000); got != 60 {
			t.Errorf("a burst %d ms into a minute: %d of 60 within a minute", x, got)
		}
	}
}

// Whoever keeps asking gets Max a window in the long run.
func TestLongRunIsTheRate(t *testing.T) {
	t.Parallel()
	p := rdb.Policy{What: "x", Max: 20, Window: time.Minute}
	from := start.UnixMilli() + 31_007
	times := fastest(rdb.NewLocal(1), p, from, from+1000*60_000)
	checkPromise(t, p, times)
	if n := len(times); n > 1001*20 || n < 950*20 {
		t.Errorf("%d passed in 1,000 minutes", n)
	}
}

func TestOwnWindowsAreBounded(t *testing.T) {
	t.Parallel()
	l := rdb.NewLocal(2)
	p := rdb.Policy{What: "x", Max: 1, Window: time.Minute}
	for _, step := range []struct {
		who  string
		pass bool
	}{{"a", true}, {"a", false}, {"b", true}, {"a", false}, {"c", true}, {"a", false}, {"b", true}} { // c drove out b
		if got := l.Take(step.who, 1e12, 1, p) == 0; got != step.pass {
			t.Errorf("%s: %t", step.who, got)
		}
	}
}
