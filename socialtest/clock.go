package socialtest

import (
	"sync"
	"time"

	"kith/social"
)

// Clock stands still until the test moves it. Safe for parallel use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock stands at the true time, cut to the millisecond.
func NewClock() *Clock { return &Clock{now: time.Now().Truncate(time.Millisecond)} }

// Now is a [social.Clock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// NowMS is the clock's time in milliseconds.
func (c *Clock) NowMS() social.Millis { return social.Millis(c.Now().UnixMilli()) }

// Advance moves the clock by d, which may be negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set moves the clock to a time.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}
