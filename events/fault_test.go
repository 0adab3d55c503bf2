package events_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/events"
	"kith/social"
	"kith/socialtest"
)

func TestLaneWaitsForWhatIsUnavailableAndGoesOn(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		for _, away := range []error{
			social.Errorf(social.Unavailable, "away"), context.DeadlineExceeded,
		} {
			fill(t, s, 150, s.Clock.NowMS())
			got, log := newSeen(), &logged{}
			var refused atomic.Int64
			c := events.NewConsumer(s.DB, events.NewBell(nil), log.logger(), "test", func(ctx context.Context, es []events.Event) error {
				if refused.Add(1) < 6 {
					return away
				}
				return got.handle(ctx, es)
			})
			c.SetPause(time.Millisecond)
			stop := start(t, c.Run)
			eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
			eventually(t, "its end is logged", func() bool { return log.count("events go on") == 1 })
			stop()
			equal(t, "users", got.users(), 150)
			got.inOrder(t)
			equal(t, "dead letters", letters(t, s), 0)
			equal(t, "times that the outage is logged", log.count("events wait"), 1)
		}
	})
}

// One event of a chunk is at fault, whatever way it is: it alone becomes a dead letter.
func TestEventThatCannotBeTakenBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(){
		"an error": nil,
		"a panic":  func() { panic("poison") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
				fill(t, s, 250, s.Clock.NowMS())
				got, log := newSeen(), &logged{}
				var tried atomic.Int64
				c := events.NewConsumer(s.DB, events.NewBell(nil), log.logger(), "test", func(ctx context.Context, es []events.Event) error {
					for _, e := range es {
						if e.Seq == 120 {
							tried.Add(1)
							if fault != nil {
								fault()
							}
							return errors.New("poison")
						}
					}
					return got.handle(ctx, es)
				})
				c.SetPause(time.Millisecond)
				start(t, c.Run)
				eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
				equal(t, "users", got.users(), 249)
				got.inOrder(t)
				equal(t, "tries, one of them in its chunk", tried.Load(), 4)
				equal(t, "dead letters", letters(t, s), 1)
				equal(t, "it is whole", s.Int(t, `SELECT COUNT(*) FROM dead_letter WHERE consumer = 'test' AND lane = 0 AND seq = 120
					AND kind = 'user' AND body = '{"user":"120"}' AND error LIKE '%poison%'`), 1)
				equal(t, "times that it is logged", log.count("dead letter"), 1)
				equal(t, "outages", log.count("events wait"), 0)
			})
		})
	}
}

func TestBodyThatCannotBeReadBecomesADeadLetterAtOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 20, s.Clock.NowMS())
		s.Exec(t, `UPDATE outbox SET body = 'garbage' WHERE seq = 5`)
		s.Exec(t, `UPDATE outbox SET kind = 'newer' WHERE seq = 6`)
		got := newSeen()
		start(t, consumer(s.DB, got.handle).Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		equal(t, "users", got.users(), 18)
		got.inOrder(t)
		equal(t, "dead letters: the newer kind is none", letters(t, s), 1)
		equal(t, "the garbage", s.Int(t, "SELECT COUNT(*) FROM dead_letter WHERE seq = 5 AND body = 'garbage'"), 1)
	})
}

// The reason may be anything: long, and not even text.
func TestReasonOfADeadLetterIsBounded(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 1, s.Clock.NowMS())
		start(t, consumer(s.DB, func(context.Context, []events.Event) error {
			return errors.New("\xff\x00" + strings.Repeat("ü", 5000))
		}).Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		var reason string
		noError(t, s.SQL.Get(&reason, "SELECT error FROM dead_letter"))
		equal(t, "characters", len([]rune(reason)), 1000)
	})
}

func TestReplayedEventIsHandledOnceMore(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 10, s.Clock.NowMS())
		got := newSeen()
		var mended atomic.Bool
		start(t, consumer(s.DB, func(ctx context.Context, es []events.Event) error {
			if !mended.Load() {
				return errors.New("no")
			}
			return got.handle(ctx, es)
		}).Run)
		eventually(t, "all are dead letters", func() bool { return letters(t, s) == 10 })
		mended.Store(true)
		s.Exec(t, "DELETE FROM outbox") // the letters are whole without it
		var ids []int64
		noError(t, s.SQL.Select(&ids, "SELECT id FROM dead_letter ORDER BY id"))
		for _, id := range ids[:9] {
			noError(t, events.Replay(t.Context(), s.DB, id))
		}
		noError(t, events.Drop(t.Context(), s.DB, ids[9]))
		eventually(t, "nine are handled", func() bool { return got.users() == 9 })
		equal(t, "dead letters", letters(t, s), 0)
		for _, again := range []error{events.Replay(t.Context(), s.DB, ids[0]), events.Drop(t.Context(), s.DB, ids[9])} {
			equal(t, "a letter that is gone is not there", social.HasCode(again, social.NotFound), true)
		}
	})
}
