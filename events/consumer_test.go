package events_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/events"
	"kith/social"
	"kith/socialtest"
)

// consumer is a worker of "test", which does not wait long after failures.
func consumer(d *db.DB, handle func(context.Context, []events.Event) error) *events.Consumer {
	c := events.NewConsumer(d, events.NewBell(nil), quiet, "test", handle)
	c.SetPause(time.Millisecond)
	return c
}

// behind is how many events the consumers have not passed, or -1 before there is one.
func behind(t testing.TB, s *socialtest.Store) int64 {
	t.Helper()
	return s.Int(t, "SELECT COALESCE(SUM(l.seq - c.position), -1) FROM consumed c JOIN lane l ON l.lane = c.lane")
}

func letters(t testing.TB, s *socialtest.Store) int64 {
	t.Helper()
	return s.Int(t, "SELECT COUNT(*) FROM dead_letter")
}

func TestEveryEventIsHandledOnceInTheOrderOfItsLane(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 350, s.Clock.NowMS()) // chunks of one lane
		got := newSeen()
		start(t, consumer(s.DB, got.handle).Run)
		publishUsers(t, s.DB, 1001, 1100)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		equal(t, "users", got.users(), 450)
		got.inOrder(t)
		equal(t, "dead letters", letters(t, s), 0)
	})
}

// Two servers work; one ends, in one way or the other, after it has had its effect and
// before it could tell. Others publish all the time.
func TestNoEventIsLeftOutWhenAWorkerEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *socialtest.Store, d *db.DB, cancel func()){
		"orderly": func(_ *socialtest.Store, _ *db.DB, cancel func()) { cancel() },
		"killed":  func(_ *socialtest.Store, d *db.DB, _ func()) { _ = d.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
				const users = 300
				got, first := newSeen(), s.OpenServer(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var handled atomic.Int64
				dying := consumer(first, func(ctx context.Context, es []events.Event) error {
					err := got.handle(ctx, es)
					if handled.Add(int64(len(es))) > users/3 {
						end(s, first, cancel)
					}
					return err
				})
				ended := make(chan error, 1)
				go func() { ended <- dying.Run(ctx) }()
				var writers sync.WaitGroup
				for w := range social.ID(3) {
					writers.Go(func() { publishUsers(t, s.DB, w*users/3+1, (w+1)*users/3) })
				}
				eventually(t, "the first has had enough", func() bool { return handled.Load() > users/3 })
				start(t, consumer(s.DB, got.handle).Run)
				writers.Wait()
				cancel()
				noError(t, <-ended)
				s.Exec(t, "UPDATE consumed SET held_until = 0 WHERE held_until > 0") // the lease is over
				eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
				equal(t, "users", got.users(), users)
				equal(t, "dead letters", letters(t, s), 0)
			})
		})
	}
}

func TestWorkersShareTheLanes(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		got := newSeen()
		for range 3 {
			start(t, consumer(s.OpenServer(t), got.handle).Run)
		}
		publishUsers(t, s.DB, 1, 200)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		equal(t, "users", got.users(), 200)
		got.inOrder(t)
	})
}

func TestWorkerThatEndsLeavesItsLanesToTheNext(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		got := newSeen()
		stop := start(t, consumer(s.DB, got.handle).Run)
		publishUsers(t, s.DB, 1, 20)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		stop()
		equal(t, "held", s.Int(t, "SELECT COUNT(*) FROM consumed WHERE held_until > 0 OR holder <> ''"), 0)
		publishUsers(t, s.DB, 21, 40)
		next := consumer(s.DB, got.handle)
		next.SetPoll(time.Hour) // its first look is all it needs
		start(t, next.Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		got.inOrder(t)
	})
}

// Another worker has taken the lane and gone on, while this one was at work in it.
func TestWorkerStopsInALaneThatIsAnothers(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 150, s.Clock.NowMS())
		got, working, goOn := newSeen(), make(chan struct{}), make(chan struct{})
		stop := sync.OnceFunc(func() { close(working) })
		start(t, consumer(s.DB, func(ctx context.Context, es []events.Event) error {
			stop()
			<-goOn
			return got.handle(ctx, es)
		}).Run)
		<-working
		s.Exec(t, "UPDATE consumed SET position = 120, holder = 'another', held_until = 9000000000000 WHERE lane = 0")
		close(goOn)
		eventually(t, "the chunk is handled", func() bool { return got.users() == 100 })
		s.Exec(t, "UPDATE consumed SET held_until = 0 WHERE holder = 'another'")
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		equal(t, "users: what the other did is not done again", got.users(), 130)
		got.inOrder(t)
	})
}

func TestNewConsumerBeginsAtTheOldestEventThatIsKept(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 20, s.Clock.NowMS())
		s.Exec(t, "DELETE FROM outbox WHERE seq <= 15")
		got := newSeen()
		start(t, consumer(s.DB, got.handle).Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		equal(t, "users", got.users(), 5)
	})
}

func TestConsumerPassesALaneOfWhichNothingIsKept(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 20, s.Clock.NowMS())
		s.Exec(t, "DELETE FROM outbox")
		got := newSeen()
		start(t, consumer(s.DB, got.handle).Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		publishUsers(t, s.DB, 1, 3)
		eventually(t, "the new are seen", func() bool { return got.users() == 3 })
	})
}

// A look costs one statement, a claim two, whatever the number of lanes.
func TestIdleConsumerSendsOneStatementEachLook(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		publishUsers(t, s.DB, 1, 5)
		c := consumer(s.DB, newSeen().handle)
		sent := func(claim bool) int64 {
			before := s.DB.Statements()
			noError(t, c.Watch(t.Context(), claim))
			return s.DB.Statements() - before
		}
		equal(t, "statements of the very first look", sent(true), 6) // claims, adds itself, claims
		equal(t, "statements of a look that renews", sent(true), 3)
		equal(t, "statements of a look", sent(false), 1)
	})
}
