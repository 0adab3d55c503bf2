package follow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"kith/db"
	"kith/social"
)

const (
	settleEvery = time.Second
	// settleAtOnce is how many people are read at once.
	settleAtOnce = 100
	// settlePiece is how many edges share a transaction.
	settlePiece = 100
	// settledAfter is when no transaction is under way any more that has read the status of
	// before: see [db.Group].
	settledAfter = 10 * time.Second
)

// errNoActor is told of edges whose owner's actor is lost: they stay to be settled until that
// is mended.
var errNoActor = errors.New("an edge is not settled: its owner has no actor")

// Settler makes the edges of people whose status has changed match it: those of somebody
// suspended are hidden, with the counts, and are there again once both people are; those of
// somebody deleted end, as do their blocks and mutes, and their blogs are deleted. Any
// number of servers may run one.
type Settler struct {
	graph *Graph
	log   *slog.Logger
	rest  Rest
	after social.Millis
}

// Rest makes what else there is of somebody match their status, tells whether there was
// anything to do, and may be called again.
type Rest func(ctx context.Context, who social.ID, status social.UserStatus) (moved bool, err error)

// NewSettler makes one, for edges and the rest.
func NewSettler(g *Graph, log *slog.Logger, rest Rest) *Settler {
	return &Settler{graph: g, log: log, rest: rest, after: social.Millis(settledAfter.Milliseconds())}
}

// Run settles until ctx ends.
func (s *Settler) Run(ctx context.Context) error {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	failing := false
	for {
		err := s.Settle(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.log.Warn("settling failed; it goes on", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Settle looks once at everybody who is to be settled. Who is begun with is done when a pass
// that began 10 s after the change finds nothing more to do.
func (s *Settler) Settle(ctx context.Context) error {
	var failed error // of some: the others are settled all the same
	for after := (db.Unsettled{}); ; {
		people, err := s.graph.db.Unsettled(ctx, after, settleAtOnce)
		if err != nil {
			return err
		}
		for _, p := range people {
			err := s.settle(ctx, p)
			if social.HasCode(err, social.Unavailable) || ctx.Err() != nil {
				return err
			}
			failed = errors.Join(failed, err)
		}
		if len(people) < settleAtOnce {
			return failed
		}
		after = people[len(people)-1]
	}
}

// settle looks once at somebody, and takes them off those to settle if they are.
func (s *Settler) settle(ctx context.Context, p db.Unsettled) error {
	moved, err := s.pass(ctx, p)
	if err != nil || moved || p.Age < s.after {
		return err
	}
	return s.graph.db.Settled(ctx, p)
}

// pass settles all that there is now, and tells whether there was anything.
func (s *Settler) pass(ctx context.Context, p db.Unsettled) (moved bool, err error) {
	var lost error // of some edges: the rest is settled all the same
	for {
		pairs, err := s.graph.db.EdgesToSettle(ctx, p.UserID, p.Status, settlePiece)
		if err != nil {
			return moved, err
		}
		n, err := s.graph.settle(ctx, pairs)
		if err != nil && !errors.Is(err, errNoActor) {
			return moved, err
		}
		if n == 0 {
			lost = err
			break
		}
		moved = true
	}
	if p.Status == social.Deleted {
		walls, err := s.graph.endWalls(ctx, p.UserID)
		if err != nil {
			return moved, err
		}
		moved = moved || walls
	}
	rest, err := s.rest(ctx, p.UserID, p.Status)
	return moved || rest, errors.Join(lost, err)
}

// settled is what an edge is to be, as the statuses of its two people are.
func settled(before social.FollowState, a, b social.UserStatus) social.FollowState {
	switch {
	case a == social.Deleted || b == social.Deleted:
		return social.NotFollowing
	case a == social.Suspended || b == social.Suspended:
		if before == social.Following {
			return social.Hidden
		}
	case before == social.Hidden:
		return social.Following
	}
	return before
}

// settle brings these edges to what they are to be, and tells how many that moved; errNoActor
// if it could not move some.
func (g *Graph) settle(ctx context.Context, pairs []social.Pair) (moved int, err error) {
	if len(pairs) == 0 {
		return 0, nil
	}
	changes := make([]*change, len(pairs))
	ids := make([]social.ID, 0, 2*len(pairs))
	for i, p := range pairs {
		changes[i] = &change{pair: p, verb: toSettle}
		ids = append(ids, p.UserID, p.TargetID)
	}
	err = g.db.Transact(ctx, func(tx *db.Tx) error {
		before, err := readState(ctx, tx, changes)
		if err != nil {
			return err
		}
		if before.statuses, err = tx.Statuses(ctx, distinct(ids)); err != nil {
			return err
		}
		o := decide(changes, before, g.clock.NowMS(), 0)
		moved = len(o.events)
		return write(ctx, tx, o)
	})
	if err == nil && slices.ContainsFunc(changes, func(c *change) bool { return c.err != nil }) {
		err = errNoActor
	}
	return moved, err
}

// endWalls removes the blocks and mutes of somebody deleted, in both directions, and tells
// whether there were any.
func (g *Graph) endWalls(ctx context.Context, who social.ID) (any bool, err error) {
	for {
		pairs, err := g.db.WallsWith(ctx, who, settlePiece)
		if err != nil || len(pairs) == 0 {
			return any, err
		}
		any = true
		owners := make([]social.ID, len(pairs))
		for i, p := range pairs {
			owners[i] = p.UserID
		}
		err = g.db.Transact(ctx, func(tx *db.Tx) error {
			actors, err := tx.LockActors(ctx, distinct(owners))
			if err != nil {
				return err
			}
			walls, err := tx.WallsOf(ctx, pairs)
			if err != nil {
				return err
			}
			return g.removeWalls(ctx, tx, actors, pairs, walls)
		})
		if err != nil {
			return any, err
		}
	}
}

func (g *Graph) removeWalls(ctx context.Context, tx *db.Tx, actors map[social.ID]*db.Actor, pairs []social.Pair, walls db.Walls) error {
	var owners []*db.Actor
	for _, p := range pairs {
		owner := actors[p.UserID]
		if owner == nil {
			continue
		}
		owners = append(owners, owner)
		if walls.Blocks[p] {
			owner.Blocking--
		}
		if walls.Mutes[p] {
			owner.Muting--
		}
	}
	slices.SortFunc(owners, func(a, b *db.Actor) int { return cmp.Compare(a.UserID, b.UserID) })
	if err := tx.PutActors(ctx, slices.Compact(owners)); err != nil {
		return err
	}
	for _, p := range pairs {
		if err := tx.DeleteBlock(ctx, p); err != nil {
			return err
		}
		if err := tx.DeleteMute(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
