package rdb

import (
	"log/slog"
	"sync"
	"time"

	"kith/social"
)

const (
	// pause is how long Redis is not asked after it failed.
	pause = time.Second
	// sameOutage: a failure this soon after the last one is not logged again, as when one
	// server of a cluster is down and others answer.
	sameOutage = time.Minute
)

// breaker keeps callers from waiting for a Redis that does not answer: after a failure
// nobody asks for a second, then one asks, and the others once it got an answer.
type breaker struct {
	clock social.Clock // of true time: not the one that windows go by
	log   *slog.Logger

	mu       sync.Mutex
	open     bool
	probeAt  time.Time // while open: when the next may ask
	failedAt time.Time
	logged   bool // the outage that is going on
}

// ask tells whether the caller may ask Redis, and if so expects answered or failed. One
// who calls neither (its own time was over) is as one who failed, if it was the probe.
func (b *breaker) ask() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	now := b.clock()
	if now.Before(b.probeAt) {
		return false
	}
	b.probeAt = now.Add(pause)
	return true
}

func (b *breaker) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return
	}
	b.open = false
	if b.logged {
		b.logged = false
		b.log.Info("Redis answers again")
	}
}

func (b *breaker) failed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	if !b.open && (b.failedAt.IsZero() || now.Sub(b.failedAt) > sameOutage) {
		b.logged = true
		b.log.Warn("Redis does not answer; this server counts rate limits by itself", slog.Any("error", err))
	}
	b.open, b.failedAt, b.probeAt = true, now, now.Add(pause)
}
