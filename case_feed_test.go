package main

import (
	"slices"
	"testing"
	"time"
)

// FEED-1
func TestUnfollowTakesBlogsOutAndFollowBringsThemIn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		u[1].publish(t, "p1")
		w.Clock.Advance(500 * time.Millisecond)
		u[2].publish(t, "q1")
		u[0].follow(t, u[2])
		feedIs := func(want ...string) {
			t.Helper()
			if got := u[0].feed(t, 10, "").titles; !slices.Equal(got, want) {
				t.Fatalf("feed is %v, want %v", got, want)
			}
		}
		u[0].follow(t, u[1])
		feedIs("q1", "p1")
		w.Clock.Advance(500 * time.Millisecond)
		u[1].publish(t, "p2")
		feedIs("p2", "q1", "p1")
		u[0].unfollow(t, u[1])
		feedIs("q1")
		u[0].follow(t, u[1])
		feedIs("p2", "q1", "p1")
	})
}
