package rdb

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// localWindows is how many windows a server keeps itself: some 20 MB.
const localWindows = 100_000

// local are the windows of this server alone, for as long as Redis does not answer. When
// there are too many, the one not asked for the longest is forgotten.
type local struct {
	mu      sync.Mutex
	windows *simplelru.LRU[string, window]
}

func newLocal(size int) *local {
	windows, err := simplelru.NewLRU[string, window](size, nil)
	if err != nil { // for a size below 1 alone
		panic(err)
	}
	return &local{windows: windows}
}

// take is lua/limit.lua over these windows.
func (l *local) take(keys []string, n int64, ps []Policy, nowMS int64) (waitMS int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := make([]window, len(keys))
	for i, key := range keys {
		lengthMS := ps[i].Window.Milliseconds()
		found[i], _ = l.windows.Get(key)
		waitMS = max(waitMS, found[i].wait(nowMS, n, ps[i].Max, lengthMS))
	}
	if waitMS > 0 {
		return waitMS
	}
	for i, key := range keys {
		l.windows.Add(key, found[i].with(nowMS, n, ps[i].Max))
	}
	return 0
}
