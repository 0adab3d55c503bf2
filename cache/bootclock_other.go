//go:build !linux

package cache

import "time"

// started is when this process began to count.
var started = time.Now()

// bootTime is the time since the process started: by the wall clock, which goes on while
// the machine is suspended, or by the monotonic one where that says more, since nobody can
// set it back.
func bootTime() time.Duration {
	now := time.Now()
	return max(now.Sub(started), now.Round(0).Sub(started.Round(0)))
}
