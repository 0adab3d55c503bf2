package events_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/events"
	"kith/rdb"
	"kith/socialtest"
)

// Of readers that would look again in an hour only the bell makes quick ones.
func TestBellWakesReaders(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		bell, tailed := events.NewBell(nil), newSeen()
		s.DB.OnEvents(bell.Ring)
		start(t, bell.Run)
		got := rung(t, s.DB, bell)
		tl := events.NewTail(s.DB, bell, quiet, tailed.tail, tailed.gap)
		tl.SetPoll(time.Hour)
		noError(t, tl.Look(t.Context()))
		start(t, tl.Run)
		for i := range 5 {
			publish(t, s, i+1)
			eventually(t, "it is consumed", func() bool { return got.users() == i+1 })
			eventually(t, "it is seen", func() bool { return tailed.users() == i+1 })
		}
	})
}

// rung runs a consumer that looks at the bell alone.
func rung(t testing.TB, d *db.DB, bell *events.Bell) *seen {
	t.Helper()
	got := newSeen()
	c := events.NewConsumer(d, bell, quiet, "test", got.handle)
	c.SetPoll(time.Hour)
	start(t, c.Run)
	return got
}

func TestBellWakesReadersOfOtherServers(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		redis, err := rdb.Open(rdb.Config{}) // of this test alone
		noError(t, err)
		t.Cleanup(func() { noError(t, redis.Close()) })
		ours, theirs := events.NewBell(redis), events.NewBell(redis)
		s.DB.OnEvents(ours.Ring)
		start(t, ours.Run)
		start(t, theirs.Run)
		got := rung(t, s.OpenServer(t), theirs)
		for i := range 5 {
			publish(t, s, i+1)
			eventually(t, "it is consumed", func() bool { return got.users() == i+1 })
		}
	})
}

// With Redis gone, commits are not held up, and readers of this server still hear.
func TestBellRingsHereWithoutRedis(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		redis, err := rdb.Open(rdb.Config{URL: "redis://127.0.0.1:1"})
		noError(t, err)
		t.Cleanup(func() { noError(t, redis.Close()) })
		bell := events.NewBell(redis)
		s.DB.OnEvents(bell.Ring)
		stop := start(t, bell.Run)
		got := rung(t, s.DB, bell)
		publish(t, s, 5)
		eventually(t, "all are consumed", func() bool { return got.users() == 5 })
		stop()
		bell.Ring() // as a commit does while the server ends
	})
}

func TestOnlyCommitsOfEventsRing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var rings atomic.Int64
		s.DB.OnEvents(func() { rings.Add(1) })
		noError(t, s.DB.Transact(t.Context(), func(*db.Tx) error { return nil }))
		equal(t, "without an event", rings.Load(), 0)
		publish(t, s, 1)
		equal(t, "with one", rings.Load(), 1)
		no := errors.New("no")
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			return errors.Join(tx.Publish(t.Context(), userEvent), no)
		})
		equal(t, "rolled back", errors.Is(err, no), true)
		equal(t, "with one rolled back", rings.Load(), 1)
	})
}
