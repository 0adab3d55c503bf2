package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// offClock goes on with the true time, off by what the test sets.
type offClock struct{ off atomic.Int64 }

func (c *offClock) now() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }

func (c *offClock) set(off time.Duration) { c.off.Store(int64(off)) }

func lease(d *db.DB, clock social.Clock) *db.NodeLease {
	return db.NewNodeLease(d, clock, slog.New(slog.DiscardHandler))
}

// renewed takes or renews the lease and gives its number.
func renewed(t testing.TB, l *db.NodeLease) int {
	t.Helper()
	noError(t, l.Renew(t.Context()))
	node, err := l.Node()
	noError(t, err)
	return node
}

// expire makes a lease one that ended some time ago.
func expire(t testing.TB, s *socialtest.Store, node int, ago time.Duration) {
	t.Helper()
	s.Exec(t, fmt.Sprintf("UPDATE node_lease SET expires_at = %d WHERE node = %d", time.Now().Add(-ago).UnixMilli(), node))
}

func TestNoNumberBeforeTheFirstLease(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		_, err := lease(s.DB, time.Now).Node()
		hasCode(t, err, social.Unavailable)
	})
}

func TestServersThatStartAtOnceGetDifferentNumbers(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const servers = 6
		leases, errs := make([]*db.NodeLease, servers), make(chan error, servers)
		other := s.OpenServer(t)
		for i := range leases {
			leases[i] = lease([]*db.DB{s.DB, other}[i%2], time.Now)
			go func() { errs <- leases[i].Renew(t.Context()) }()
		}
		for range leases {
			noError(t, <-errs)
		}
		numbers := map[int]bool{}
		for _, l := range leases {
			node, err := l.Node()
			noError(t, err)
			numbers[node] = true
		}
		equal(t, "different numbers", len(numbers), servers)
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM node_lease"), servers)
		equal(t, "highest: the lowest free are taken", s.Int(t, "SELECT MAX(node) FROM node_lease"), servers-1)
	})
}

func TestRenewedLeaseKeepsItsNumberAndLastsLonger(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := lease(s.DB, time.Now)
		node := renewed(t, l)
		expire(t, s, node, time.Hour) // long over, but nobody took it
		equal(t, "number", renewed(t, l), node)
		if until := s.Int(t, "SELECT expires_at FROM node_lease"); until < time.Now().Add(10*time.Second).UnixMilli() {
			t.Errorf("lasts until %d only", until)
		}
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM node_lease"), 1)
	})
}

// A number rests for ten seconds after its lease: its holder's clock may be slow.
func TestNumberIsTakenOverOnlyAfterTheGrace(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		first := lease(s.DB, time.Now)
		equal(t, "first", renewed(t, first), 0)
		expire(t, s, 0, time.Second)
		equal(t, "second, within the grace", renewed(t, lease(s.DB, time.Now)), 1)
		expire(t, s, 0, 11*time.Second)
		equal(t, "third, after it", renewed(t, lease(s.DB, time.Now)), 0)
		// The first finds that its number is another's, and takes one of its own.
		equal(t, "first again", renewed(t, first), 2)
	})
}

func TestLeaseEndsByTheServersOwnClock(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		clock := &offClock{}
		l := lease(s.DB, clock.now)
		node := renewed(t, l)
		clock.set(14 * time.Second)
		got, err := l.Node()
		noError(t, err)
		equal(t, "still", got, node)
		clock.set(15 * time.Second)
		_, err = l.Node()
		hasCode(t, err, social.Unavailable)
		clock.set(0)
		equal(t, "renewed", renewed(t, l), node)
	})
}

func TestClockOffByMoreThanASecondHasNoNumber(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		clock := &offClock{}
		l := lease(s.DB, clock.now)
		node := renewed(t, l)
		for _, off := range []time.Duration{1500 * time.Millisecond, -1500 * time.Millisecond, time.Hour, -time.Hour} {
			clock.set(off)
			if err := l.Renew(t.Context()); err == nil {
				t.Errorf("off by %s: renewed", off)
			}
			_, err := l.Node()
			hasCode(t, err, social.Unavailable)
			if err == nil || !strings.Contains(err.Error(), "clock") {
				t.Errorf("off by %s: %v does not tell why", off, err)
			}
			clock.set(0)
			equal(t, "recovered", renewed(t, l), node)
		}
	})
}

func TestLeaseHoldsWhileTheStoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := lease(s.DB, time.Now)
		node := renewed(t, l)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Renew(ended); err == nil {
			t.Error("renewed without a store")
		}
		got, err := l.Node()
		noError(t, err)
		equal(t, "number", got, node)
	})
}

func TestWhenAllNumbersAreLeasedThereIsNone(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var rows []string
		until := time.Now().Add(time.Minute).UnixMilli()
		for node := range social.Nodes {
			rows = append(rows, fmt.Sprintf("(%d, '%032d', %d)", node, node, until))
		}
		s.Exec(t, "INSERT INTO node_lease (node, owner, expires_at) VALUES "+strings.Join(rows, ","))
		l := lease(s.DB, time.Now)
		hasCode(t, l.Renew(t.Context()), social.Unavailable)
		_, err := l.Node()
		hasCode(t, err, social.Unavailable)
		expire(t, s, 700, time.Minute)
		equal(t, "the one that ended", renewed(t, l), 700)
	})
}

func TestRunTakesALeaseAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := lease(s.DB, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		eventually(t, "a number", func() bool { _, err := l.Node(); return err == nil })
		cancel()
		noError(t, <-ended)
	})
}
