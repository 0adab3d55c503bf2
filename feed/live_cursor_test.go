package feed_test

import (
	"testing"
	"time"

	"kith/social"
)

// A blog that was published long ago and has not been fanned out is not on the page, nor will
// it be heard: the page's cursor leads to it. One that has been fanned out is not replayed.
func TestALiveCursorLiesBeforeWhatHasNotBeenFannedOut(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		done, waiting := r.row(2, 40*time.Second), r.row(2, 30*time.Second)
		r.row(2, 25*time.Second)
		at := r.Clock.NowMS()
		r.Exec(r, `INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES (0, 1, 'blog', '{}', ?), (0, 2, 'blog', '{}', ?)`,
			at-40_000, at-29_000)
		r.Exec(r, "UPDATE lane SET seq = 2 WHERE lane = 0")
		r.Exec(r, "INSERT INTO consumed (consumer, lane, position, holder, held_until) VALUES ('feed', 0, 1, '', 0)")
		c, err := r.live.Cursor(r.Context())
		noError(r, err)
		if want := social.FirstIDAt(at - 29_000); c.ID != want {
			r.Fatalf("the cursor is of %v, want %v", c.ID.Time(), want.Time())
		}
		s := r.subscribe(1, &c)
		if e, err := r.next(s); err != nil || e.Blog.ID != waiting.ID {
			r.Errorf("%+v, %v; want %v, not %v", e, err, waiting, done)
		}
	})
}

// The tail's knowledge bounds it as well: the blogs of stars are read as the tail tells them.
func TestALiveCursorLiesBeforeWhatTheTailHasNotSeen(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		seen := r.Clock.NowMS()
		r.Clock.Advance(5 * time.Second)
		c, err := r.live.Cursor(r.Context())
		noError(r, err)
		if c.MinTime != seen {
			r.Errorf("it is of %v, want %v", c.MinTime, seen)
		}
	})
}
