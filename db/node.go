package db

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"kith/social"
)

const (
	leaseTime  = 15 * time.Second
	leaseRenew = 3 * time.Second
	// leaseGrace keeps a number unused after its lease, so that clocks which differ do not
	// let two servers hold one number in the same millisecond.
	leaseGrace = 10 * time.Second
	// maxClockError is how far a server that makes ids may be off the store's clock.
	maxClockError = time.Second
)

// NodeLease holds a node number for [social.Snowflake], leased in SQL. A server that
// could not renew it in time, or whose clock is more than a second off the store's, has
// none until that is mended.
type NodeLease struct {
	db    *DB
	clock social.Clock
	log   *slog.Logger
	owner string

	mu    sync.Mutex
	node  int
	until time.Time // by this server's clocks; zero: no lease
	err   error     // why there is none
}

// NewNodeLease prepares a lease; [NodeLease.Renew] or [NodeLease.Run] takes it.
func NewNodeLease(d *DB, clock social.Clock, log *slog.Logger) *NodeLease {
	owner := make([]byte, 16)
	_, _ = rand.Read(owner) // never fails
	return &NodeLease{db: d, clock: clock, log: log, owner: hex.EncodeToString(owner), node: -1}
}

// Node is the number that this server may use now, or UNAVAILABLE.
func (l *NodeLease) Node() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	// Once by the monotonic clock and once by the other, which goes on while the machine
	// is suspended.
	if l.until.IsZero() || !now.Before(l.until) || !now.Round(0).Before(l.until.Round(0)) {
		return 0, &social.Error{Code: social.Unavailable, Message: "no ids can be made now; try again", Cause: l.err}
	}
	return l.node, nil
}

// Run renews the lease until ctx ends.
func (l *NodeLease) Run(ctx context.Context) error {
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		if err := l.Renew(ctx); err != nil && ctx.Err() == nil {
			l.log.Warn("node lease not renewed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Renew renews the lease, or takes another number where it was lost.
func (l *NodeLease) Renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseRenew)
	defer cancel()
	began := l.clock()
	node, err := l.take(ctx, began)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.node, l.until, l.err = node, began.Add(leaseTime), nil
	case errors.Is(err, errClock):
		l.until, l.err = time.Time{}, err
	default: // the old lease holds as long as it says
		l.err = err
	}
	return err
}

var errClock = errors.New("the clock of this server is more than a second off the store's")

// take writes the lease in one transaction; began is the time before it.
func (l *NodeLease) take(ctx context.Context, began time.Time) (node int, err error) {
	lease := func(tx *Tx) error {
		asked := l.clock()
		now, err := tx.NowMS(ctx)
		if err != nil {
			return err
		}
		middle := asked.Add(l.clock().Sub(asked) / 2).UnixMilli()
		if off := time.Duration(now-middle) * time.Millisecond; off.Abs() > maxClockError {
			return fmt.Errorf("%w: %s", errClock, off)
		}
		// Counted from before the reading: what we believe ends before what is stored.
		node, err = tx.leaseNode(ctx, l.owner, l.held(), now, now+leaseTime.Milliseconds())
		return err
	}
	// Two servers that start at once may insert the same number: the primary key lets one
	// of them, and the other looks again.
	for err = l.db.Transact(ctx, lease); classify(err) == duplicate && ctx.Err() == nil; {
		err = l.db.Transact(ctx, lease)
	}
	if err == nil && l.clock().Sub(began) > leaseTime {
		return 0, errors.New("the lease ended while it was taken")
	}
	return node, err
}

func (l *NodeLease) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node
}

// leaseNode gives owner the number it holds, or the lowest that nobody has held of late.
func (tx *Tx) leaseNode(ctx context.Context, owner string, held int, now, until int64) (int, error) {
	var rows []struct {
		Node      int    `db:"node"`
		Owner     string `db:"owner"`
		ExpiresAt int64  `db:"expires_at"`
	}
	// The lane of sign-ups and follows is not touched; this lock is of leases alone, and
	// makes two servers that start at once wait for each other.
	if err := tx.all(ctx, "read node leases", &rows,
		`SELECT node, owner, expires_at FROM node_lease ORDER BY node`+tx.dialect.forUpdate); err != nil {
		return 0, err
	}
	free, gap := -1, 0
	for _, r := range rows {
		if r.Node == held && r.Owner == owner {
			return held, tx.exec(ctx, "renew node lease", `UPDATE node_lease SET expires_at = ? WHERE node = ?`, until, held)
		}
		if free < 0 && r.ExpiresAt+leaseGrace.Milliseconds() < now {
			free = r.Node
		}
		if r.Node == gap {
			gap++
		}
	}
	if free >= 0 {
		return free, tx.exec(ctx, "take over node lease",
			`UPDATE node_lease SET owner = ?, expires_at = ? WHERE node = ?`, owner, until, free)
	}
	if gap >= social.Nodes {
		return 0, social.Errorf(social.Unavailable, "all %d node numbers are leased", social.Nodes)
	}
	return gap, tx.exec(ctx, "insert node lease",
		`INSERT INTO node_lease (node, owner, expires_at) VALUES (?, ?, ?)`, gap, owner, until)
}
