package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// edges looks at all edges of the owners after one, up to another; with mirrors at those of
// the targets, from where nothing is new but what has no row at its owner.
func (r *reconciler) edges(ctx context.Context, mirrors bool, from, upTo social.ID) error {
	read := r.db.EdgesAfter
	if mirrors {
		read = r.db.MirrorsAfter
	}
	n, err := walk(ctx, mirrors, from, upTo, read, judgeEdge, r.mendEdges)
	r.report.Edges += n
	return err
}

// judgeEdge is what is wrong with an edge, empty for nothing, and how both sides should have
// it; nil for ended now.
func judgeEdge(e db.EdgeSides) (Drift, *db.Side[social.FollowState]) {
	if e.Blocked && e.Own != nil && e.Own.State != social.NotFollowing {
		return EdgeAndBlock, nil
	}
	return judgeSides(e, NoEdge, NoMirror, OtherMirror)
}

// mendEdges looks at edges again under the locks of their owners, without which nobody
// changes them, and makes both sides of those that are wrong agree.
func (r *reconciler) mendEdges(ctx context.Context, pairs []social.Pair) error {
	return r.mend(ctx, func(tx *db.Tx) ([]Found, error) {
		actors, err := lockOwners(ctx, tx, pairs)
		if err != nil {
			return nil, err
		}
		sides, err := tx.SidesOf(ctx, pairs)
		if err != nil {
			return nil, err
		}
		walls, err := tx.WallsOf(ctx, pairs)
		if err != nil {
			return nil, err
		}
		for p, e := range sides {
			e.Blocked = walls.Blocks[p] || walls.Blocks[p.Reversed()]
			sides[p] = e
		}
		m := decideEdges(sides, actors, walls.Mutes, r.clock.NowMS())
		if !r.cfg.Repair {
			return m.found, nil
		}
		return m.found, m.write(ctx, tx)
	})
}

// edgeMending is what is wrong with some edges, and what mends them.
type edgeMending struct {
	found  []Found
	actors []*db.Actor      // ascending
	edges  []social.Edge    // by owner, then target
	owned  []social.Edge    // those of edges whose owner's row is wrong
	counts []db.CountChange // ascending
	events []social.FollowChange
}

// decideEdges judges edges and moves the counts by what is changed of the rows that they
// count: so what is wrong with a count stays as wrong as it was, for whoever mends counts.
// It moves actors. An owner without an actor, who does not exist, has no counts, and no version.
func decideEdges(sides map[social.Pair]db.EdgeSides, actors map[social.ID]*db.Actor, mutes map[social.Pair]bool, now social.Millis) edgeMending {
	var m edgeMending
	owners, counts := map[social.ID]*db.Actor{}, map[social.ID]db.CountChange{}
	for _, pair := range slices.SortedFunc(maps.Keys(sides), social.Pair.Compare) {
		e := sides[pair]
		kind, want := judgeEdge(e)
		if kind == "" {
			continue
		}
		m.found = append(m.found, Found{Kind: kind, Who: pair.UserID, Target: pair.TargetID, Detail: edgeText(e)})
		if want == nil {
			want = &db.Side[social.FollowState]{State: social.NotFollowing, Since: now}
		}
		edge := social.Edge{Pair: pair, State: want.State, Since: want.Since}
		m.edges = append(m.edges, edge)
		if e.Own == nil || *e.Own != *want { // else it keeps what the mirror does not know
			m.owned = append(m.owned, edge)
		}
		own, mirror := stateOf(e.Own), stateOf(e.Mirror)
		n := counts[pair.TargetID]
		n.UserID = pair.TargetID
		n.Followers += is(want.State == social.Following) - is(mirror == social.Following)
		n.Requests += is(want.State == social.Requested) - is(mirror == social.Requested)
		counts[pair.TargetID] = n
		told := social.FollowChange{UserID: pair.UserID, TargetID: pair.TargetID, State: want.State, Since: want.Since, Muted: mutes[pair]}
		if owner := actors[pair.UserID]; owner != nil {
			owners[pair.UserID] = owner
			owner.GraphVersion++
			owner.Following += is(want.State == social.Following) - is(own == social.Following)
			owner.Pending += is(want.State.IsPending()) - is(own.IsPending())
			told.Version = owner.GraphVersion
		}
		m.events = append(m.events, told) // also of an owner who is nobody: the target's counts move
	}
	maps.DeleteFunc(counts, func(_ social.ID, n db.CountChange) bool { return n.Followers == 0 && n.Requests == 0 })
	m.actors, m.counts = ascending(owners), ascending(counts)
	return m
}

// write stores what was decided, in the one order of locks.
func (m edgeMending) write(ctx context.Context, tx *db.Tx) error {
	if err := tx.PutActors(ctx, m.actors); err != nil {
		return err
	}
	if err := tx.PutFollowing(ctx, m.owned); err != nil {
		return err
	}
	slices.SortFunc(m.edges, func(a, b social.Edge) int { return a.Reversed().Compare(b.Reversed()) })
	if err := tx.PutFollower(ctx, m.edges); err != nil {
		return err
	}
	if err := tx.AddCounts(ctx, m.counts); err != nil || len(m.events) == 0 {
		return err
	}
	return tx.Publish(ctx, social.Event{Kind: social.FollowEvent, Body: social.FollowBody{Changes: m.events}})
}

func is(so bool) int64 {
	if so {
		return 1
	}
	return 0
}

// edgeText tells what is stored.
func edgeText(e db.EdgeSides) string {
	text := sidesText(e, "following", "follower", stateText)
	if e.Blocked {
		text += "; one blocks the other"
	}
	return text
}

func stateText(s social.FollowState) string {
	switch s {
	case social.NotFollowing:
		return "ended"
	case social.Following:
		return "follows"
	case social.Requested:
		return "requested"
	case social.Hidden:
		return "hidden"
	}
	return fmt.Sprintf("state %d", s)
}
