package follow

import (
	"cmp"
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// Block hides the viewer from the target, and ends follows and requests between the two,
// both ways, in one transaction; idempotent. Oneself is BAD_USER_INPUT, who is not there
// for the viewer NOT_FOUND, one too many LIMIT_EXCEEDED.
func (g *Graph) Block(ctx context.Context, viewer, target social.ID) error {
	pair := social.Pair{UserID: viewer, TargetID: target}
	return g.wall(ctx, []social.Pair{pair, pair.Reversed()}, func(s state, changes []*change) (outcome, error) {
		owner, now := s.actors[viewer], g.clock.NowMS()
		if s.walls.Blocks[pair] {
			return decide(changes, s, now, 0), nil // and there is nothing to end
		}
		if err := s.knows(pair); err != nil {
			return outcome{}, err
		}
		if owner.Blocking >= g.cfg.MaxBlocking {
			return outcome{}, social.Errorf(social.LimitExceeded, "nobody blocks more than %d people", g.cfg.MaxBlocking)
		}
		owner.Blocking++
		o := decide(changes, s, now, 0)
		if !slices.Contains(o.actors, owner) {
			o.actors = append(o.actors, owner)
			slices.SortFunc(o.actors, func(a, b *db.Actor) int { return cmp.Compare(a.UserID, b.UserID) })
		}
		o.wall = func(ctx context.Context, tx *db.Tx) error { return tx.PutBlock(ctx, pair, now) }
		o.walls = wallOf(pair)
		return o, nil
	})
}

// Unblock ends a block; nothing that it ended comes back. Idempotent; oneself is
// BAD_USER_INPUT, who neither is there nor blocked NOT_FOUND.
func (g *Graph) Unblock(ctx context.Context, viewer, target social.ID) error {
	pair := social.Pair{UserID: viewer, TargetID: target}
	return g.wall(ctx, []social.Pair{pair}, func(s state, _ []*change) (outcome, error) {
		if !s.walls.Blocks[pair] {
			return outcome{}, s.knows(pair)
		}
		owner := s.actors[viewer]
		owner.Blocking--
		return outcome{
			actors: []*db.Actor{owner},
			wall:   func(ctx context.Context, tx *db.Tx) error { return tx.DeleteBlock(ctx, pair) },
			walls:  wallOf(pair),
		}, nil
	})
}

// Mute keeps the target's blogs out of the viewer's feed; idempotent. Oneself is
// BAD_USER_INPUT, who is not there for the viewer NOT_FOUND, one too many LIMIT_EXCEEDED.
func (g *Graph) Mute(ctx context.Context, viewer, target social.ID) error {
	pair := social.Pair{UserID: viewer, TargetID: target}
	return g.wall(ctx, []social.Pair{pair}, func(s state, changes []*change) (outcome, error) {
		if s.walls.Mutes[pair] {
			return outcome{}, nil
		}
		if err := s.knows(pair); err != nil {
			return outcome{}, err
		}
		if s.actors[viewer].Muting >= g.cfg.MaxMuting {
			return outcome{}, social.Errorf(social.LimitExceeded, "nobody mutes more than %d people", g.cfg.MaxMuting)
		}
		now := g.clock.NowMS()
		return changes[0].mute(s, true, now, func(ctx context.Context, tx *db.Tx) error { return tx.PutMute(ctx, pair, now) }), nil
	})
}

// Unmute lets them in again, all of them. Idempotent; oneself is BAD_USER_INPUT, who
// neither is there nor muted NOT_FOUND.
func (g *Graph) Unmute(ctx context.Context, viewer, target social.ID) error {
	pair := social.Pair{UserID: viewer, TargetID: target}
	return g.wall(ctx, []social.Pair{pair}, func(s state, changes []*change) (outcome, error) {
		if !s.walls.Mutes[pair] {
			return outcome{}, s.knows(pair)
		}
		return changes[0].mute(s, false, g.clock.NowMS(), func(ctx context.Context, tx *db.Tx) error { return tx.DeleteMute(ctx, pair) }), nil
	})
}

// mute is the outcome of a mute that begins or ends: a version of the owner's edges, since
// whose blogs a feed has changes by it.
func (c *change) mute(s state, to bool, now social.Millis, wall func(context.Context, *db.Tx) error) outcome {
	owner := s.actors[c.pair.UserID]
	owner.GraphVersion++
	owner.Muting += map[bool]int64{true: 1, false: -1}[to]
	c.result.Changed, c.since, c.version, c.muted = true, now, owner.GraphVersion, to
	return outcome{
		actors: []*db.Actor{owner}, wall: wall, walls: wallOf(c.pair),
		events: []social.FollowChange{c.call().FollowChange},
	}
}

func wallOf(p social.Pair) []social.WallChange {
	return []social.WallChange{{UserID: p.UserID, TargetID: p.TargetID}}
}

// knows is NOT_FOUND where the pair's target is not there for its owner.
func (s state) knows(p social.Pair) error {
	if !s.people[p.TargetID] || s.walls.Blocks[p.Reversed()] {
		return nobody()
	}
	return nil
}

// wall commits what do decides, for the owner of the first edge, under the locks of the
// owners of all edges; then it brings what became of these to the caches.
func (g *Graph) wall(ctx context.Context, edges []social.Pair, do func(s state, changes []*change) (outcome, error)) error {
	viewer := edges[0].UserID
	if viewer == edges[0].TargetID {
		return social.Invalid("userId", "this is oneself")
	}
	var changes []*change
	err := g.db.Transact(ctx, func(tx *db.Tx) error {
		changes = changes[:0]
		for _, e := range edges {
			changes = append(changes, &change{pair: e, verb: toEnd})
		}
		s, err := readState(ctx, tx, changes)
		if err != nil {
			return err
		}
		if !s.people[viewer] || s.actors[viewer] == nil {
			return social.Errorf(social.Unauthenticated, "this account does not exist any more")
		}
		for _, c := range changes {
			c.result.State, c.muted = s.follows[c.pair], s.walls.Mutes[c.pair]
			if owner := s.actors[c.pair.UserID]; owner != nil {
				c.version = owner.GraphVersion
			}
		}
		o, err := do(s, changes)
		if err != nil {
			return err
		}
		return write(ctx, tx, o)
	})
	if err != nil {
		return err
	}
	return g.moved(ctx, viewer, changes)
}
