package cache

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is the time since the machine started. It never goes back, nobody can set it,
// and it goes on while the machine is suspended, when Go's own monotonic clock stands
// still: a server that slept for an hour must not take what it holds for fresh.
func bootTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(fmt.Errorf("read CLOCK_BOOTTIME, which every Linux has since 2.6.39: %w", err))
	}
	return time.Duration(t.Nano())
}
