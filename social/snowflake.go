package social

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// maxStepBack is how far a clock may step back and still be waited for.
const maxStepBack = time.Second

// NodeFunc gives the node number this server may use now, or an error when it holds none.
type NodeFunc func() (int, error)

// Snowflake makes ids that rise within one server and are unique over all of them.
// Safe for parallel use.
type Snowflake struct {
	clock Clock
	node  NodeFunc

	mu   sync.Mutex
	last Millis
	seq  int64
}

// NewSnowflake makes ids of the clock's time under the node number that node gives.
func NewSnowflake(clock Clock, node NodeFunc) *Snowflake {
	return &Snowflake{clock: clock, node: node}
}

// Next makes an id. It waits while the clock stands behind the last id or a millisecond
// has none left; a clock more than a second back, or no node number, is UNAVAILABLE.
func (s *Snowflake) Next(ctx context.Context) (ID, error) {
	for {
		id, err := s.try()
		if err != nil || id != 0 {
			return id, err
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// try makes an id, or none when this millisecond cannot give one.
func (s *Snowflake) try() (ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The time first: frozen between the two, this server would give a new time to a node
	// number that is somebody else's by then.
	now := s.clock.NowMS()
	node, err := s.node()
	if err != nil {
		return 0, err
	}
	switch {
	case now < Epoch || s.last-now > Millis(maxStepBack.Milliseconds()):
		return 0, Errorf(Unavailable, "the clock of this server is wrong")
	case now > s.last:
		// A random start spreads ids made one in a millisecond; the lower half of the
		// range leaves at least 2,048 to each.
		s.last, s.seq = now, rand.Int64N(1<<(sequenceBits-1))
	case now < s.last || s.seq+1 == 1<<sequenceBits:
		return 0, nil
	default:
		s.seq++
	}
	return FirstIDAt(now) | ID(node)<<sequenceBits | ID(s.seq), nil
}
