package social

import "time"

// Clock tells the time. Production passes [time.Now]; tests pass one that they hold.
type Clock func() time.Time

// NowMS is the clock's time, cut to the millisecond.
func (c Clock) NowMS() Millis { return Millis(c().UnixMilli()) }
