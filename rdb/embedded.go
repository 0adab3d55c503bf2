package rdb

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is how late at most the time of a Redis in process is, and how much too early a key
// may expire.
const tick = 100 * time.Millisecond

// KeepTime lets keys of a Redis in process expire, until stop is called. Its own clock
// (ClockTTL) sorts all keys at every command.
func KeepTime(m *miniredis.Miniredis) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for last := time.Now(); ; {
			select {
			case <-stopped:
				return
			case <-ticker.C:
			}
			now := time.Now()
			m.FastForward(now.Sub(last))
			last = now
		}
	}()
	return sync.OnceFunc(func() { close(stopped) })
}
