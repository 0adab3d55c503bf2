package cache

import (
	"context"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// Settler brings committed changes to the caches. Safe for parallel use.
type Settler struct {
	state *State
	group *db.Group[*change]
}

// change is what one caller brings.
type change struct {
	calls []*rdb.Call
	off   []db.CachePart // of the partitions that it touches
}

// NewSettler brings changes to the caches of the state.
func NewSettler(s *State) *Settler {
	return &Settler{state: s, group: db.NewGroup(s.settle)}
}

// Settle makes the caches of these calls' partitions right by the calls, or makes sure
// that no server believes them any more. It is called after the commit and before the
// answer; calls that come at the same time share a reading of the state and a round trip.
// Of a partition that is off, calls are not sent: see [rdb.Call.Err]. Takes as long as a
// command may, and 2 s where it must switch off; UNAVAILABLE where SQL cannot be asked.
func (s *Settler) Settle(ctx context.Context, calls ...*rdb.Call) error {
	if len(calls) == 0 {
		return nil
	}
	c := &change{calls: calls}
	if err := s.group.Do(ctx, c); err != nil {
		return err
	}
	return s.state.awaitOff(ctx, c.off)
}

// SettleApart is Settle for large changes, which others need not wait for.
func (s *Settler) SettleApart(ctx context.Context, calls ...*rdb.Call) error {
	if len(calls) == 0 {
		return nil
	}
	c := &change{calls: calls}
	if err := s.state.settle(ctx, []*change{c}); err != nil {
		return err
	}
	return s.state.awaitOff(ctx, c.off)
}

// settle sends the calls of partitions that are on and switches off those where that
// fails. The state is read anew, after the commits: what is off now is switched on later,
// and filled later still, from rows that have the changes.
func (s *State) settle(ctx context.Context, changes []*change) error {
	now, err := s.read(ctx)
	if err != nil {
		return err
	}
	var send []*rdb.Call
	for _, c := range changes {
		for _, call := range c.calls {
			if now.parts[call.Part].On && !s.isFailing(call.Part) {
				send = append(send, call)
			}
		}
	}
	s.redis.Run(ctx, func(part int) int64 { return now.parts[part].Epoch }, send...)
	failed, why := now.failed(changes)
	for _, p := range failed {
		if !s.isFailing(p.Part) { // as a neighbour of one before
			s.Failed(ctx, p.Part)
		}
	}
	return s.switchOff(ctx, failed, why)
}

// failed notes for each change which of its partitions are off, and answers those that are
// on and must not be, since a call was not answered or not even sent.
func (r *reading) failed(changes []*change) (failed []db.CachePart, why error) {
	var seen [rdb.Parts]bool
	for _, c := range changes {
		for _, call := range c.calls {
			err := call.Err()
			if err == nil {
				continue
			}
			part := r.parts[call.Part]
			c.off = append(c.off, part)
			if part.On && !seen[call.Part] {
				seen[call.Part] = true
				failed, why = append(failed, part), err
			}
		}
	}
	return failed, why
}

func unavailable(err error) error {
	return &social.Error{Code: social.Unavailable, Message: "the store is too slow now; try again", Cause: err}
}
