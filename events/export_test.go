package events

import (
	"context"
	"time"

	"kith/social"
)

// Decode is decode, and ErrUnknown its error for a kind of a newer binary.
var (
	Decode     = decode
	ErrUnknown = errUnknown
)

// MaxBehind is how far behind a tail reads on.
const MaxBehind = maxBehind

// SetPoll sets how often the consumer looks by itself.
func (c *Consumer) SetPoll(every time.Duration) { c.poll = every }

// SetPause sets how long a lane rests after its first failure.
func (c *Consumer) SetPause(d time.Duration) { c.pause = d }

// Watch is one look of the consumer at the lanes.
func (c *Consumer) Watch(ctx context.Context, claim bool) error { return c.watch(ctx, claim) }

// SetPoll sets how often the tail looks by itself.
func (t *Tail) SetPoll(every time.Duration) { t.poll = every }

// SetClock sets what the tail measures its silence by, from now on.
func (t *Tail) SetClock(clock social.Clock) { t.clock, t.looked = clock, clock() }

// Look is one look of the tail at the lanes.
func (t *Tail) Look(ctx context.Context) error { return t.look(ctx) }
