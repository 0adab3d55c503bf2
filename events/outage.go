package events

import (
	"context"
	"log/slog"
	"sync"
)

// watching is the part of a consumer that is no lane.
const watching = -1

// outage logs once that a consumer stands, and once that it goes on, however many of its
// lanes fail how often in between.
type outage struct {
	log *slog.Logger

	mu      sync.Mutex
	failing map[int]bool // lanes, and watching
}

// tell notes how a part fared. Failing because ctx has ended is no outage.
func (o *outage) tell(ctx context.Context, part int, err error) {
	if ctx.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.failing)
	if err != nil {
		o.failing[part] = true
	} else {
		delete(o.failing, part)
	}
	switch after := len(o.failing); {
	case before == 0 && after > 0:
		o.log.Warn("events wait", "error", err)
	case before > 0 && after == 0:
		o.log.Info("events go on")
	}
}
