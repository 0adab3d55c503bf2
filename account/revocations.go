package account

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// endedTrust is for how long it is believed that no other token has ended than those
	// known of, from before the last look at the events.
	endedTrust = time.Second
	// endedPage is how many rows are read at once.
	endedPage = 1000
	// endedTidy is how often what has expired is forgotten, and a failed reading repeated.
	endedTidy = time.Minute
	retryLoad = 200 * time.Millisecond
)

// Revocations knows which tokens have ended before they expire, in process: so that no
// request costs a statement for it, and none is let in by a token that ended a second ago.
//
// It reads them once, after the events have begun to be followed (Seen), and hears of
// those that end then (Heard), in the same transaction as their row. While it has not read
// them all, since its beginning or since events were missed (Missed), and while the last
// look at the events is older than a second, it asks the store for each token instead. It
// forgets nothing but what has expired. Safe for parallel use.
type Revocations struct {
	db    *db.DB
	clock social.Clock // that of the tokens
	now   func() time.Time
	trust time.Duration
	wake  chan struct{} // that there is something to load

	mu      sync.RWMutex
	tokens  map[string]social.Millis         // by name: until when that is of interest
	persons map[social.ID]social.EndedTokens // the highest version of each
	missed  int                              // how often events were
	loaded  bool                             // all rows, and every event since
	seen    time.Time                        // before the last look at the events
}

func newRevocations(d *db.DB, clock social.Clock, trust time.Duration) *Revocations {
	if trust == 0 {
		trust = endedTrust
	}
	return &Revocations{
		db: d, clock: clock, now: time.Now, trust: trust, wake: make(chan struct{}, 1),
		tokens: map[string]social.Millis{}, persons: map[social.ID]social.EndedTokens{},
	}
}

// Run reads what has ended as often as that is needed, and forgets what has expired,
// until ctx ends.
func (r *Revocations) Run(ctx context.Context, log *slog.Logger) error {
	tidy := time.NewTicker(endedTidy)
	defer tidy.Stop()
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tidy.C:
			r.forget()
			continue
		case <-r.wake:
		case <-again:
		}
		again = nil
		if err := r.Load(ctx); err != nil && ctx.Err() == nil {
			log.Warn("ended tokens not read", "error", err)
			again = time.After(retryLoad)
		}
	}
}

// Load reads all rows, unless that was done. Before the first Seen it does nothing: what is
// committed after the reading is to be heard.
func (r *Revocations) Load(ctx context.Context) error {
	r.mu.RLock()
	missed, idle := r.missed, r.loaded || r.seen.IsZero()
	r.mu.RUnlock()
	if idle {
		return nil
	}
	for after, more := int64(0), true; more; {
		ended, last, err := r.db.EndedAfter(ctx, after, endedPage)
		if err != nil {
			return err
		}
		r.add(ended...)
		after, more = last, len(ended) == endedPage
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded = r.missed == missed
	return nil
}

// Seen says that every event has been handed on that was committed before at.
func (r *Revocations) Seen(at time.Time) {
	r.mu.Lock()
	r.seen = at
	loaded := r.loaded
	r.mu.Unlock()
	if loaded {
		return
	}
	select {
	case r.wake <- struct{}{}:
	default: // it will look
	}
}

// Heard takes what an event says; bodies that are not about people are passed by.
func (r *Revocations) Heard(body any) {
	if e, ok := body.(social.UserBody); ok && e.Ended != nil {
		ended := *e.Ended
		ended.UserID = e.UserID
		r.add(ended)
	}
}

// Missed says that there were events which nobody handed on.
func (r *Revocations) Missed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed++
	r.loaded = false
}

func (r *Revocations) add(ended ...social.EndedTokens) {
	now := r.clock.NowMS()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range ended {
		switch {
		case e.Until < now:
		case e.Token != "":
			r.tokens[e.Token] = e.Until
		case e.Version >= r.persons[e.UserID].Version:
			r.persons[e.UserID] = e
		}
	}
}

// forget drops what is of no interest any more.
func (r *Revocations) forget() {
	now := r.clock.NowMS()
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, until := range r.tokens {
		if until < now {
			delete(r.tokens, id)
		}
	}
	for id, e := range r.persons {
		if e.Until < now {
			delete(r.persons, id)
		}
	}
}

// has tells whether a token has ended before it expires: no statement while what is in
// process may be believed, else one.
func (r *Revocations) has(ctx context.Context, t token) (bool, error) {
	r.mu.RLock()
	_, ended := r.tokens[t.id]
	ended = ended || t.version < r.persons[t.user].Version
	believed := r.loaded && r.fresh()
	r.mu.RUnlock()
	if ended || believed {
		return ended, nil
	}
	return r.db.TokenEnded(ctx, t.user, t.id, t.version)
}

// judge is ErrTokenEnded of a token that has ended before it expires.
func (r *Revocations) judge(ctx context.Context, t token) error {
	ended, err := r.has(ctx, t)
	if err == nil && ended {
		err = social.ErrTokenEnded
	}
	return err
}

// fresh goes once by the monotonic clock and once by the other, which goes on while the
// machine is suspended.
func (r *Revocations) fresh() bool {
	now := r.now()
	return now.Sub(r.seen) < r.trust && now.Round(0).Sub(r.seen.Round(0)) < r.trust
}
