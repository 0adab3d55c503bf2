package ops

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"kith/db"
	"kith/social"
)

// edges looks at all edges of the owners after one, up to another; with mirrors at those of
// the targets, from where nothing is new but what has no row at its owner.
func (r *reconciler) edges(ctx context.Context, mirrors bool, from, upTo social.ID) error {
	read, after := r.db.EdgesAfter, social.Pair{UserID: from, TargetID: math.MaxInt64}
	if mirrors {
		read, after = r.db.MirrorsAfter, after.Reversed()
	}
	for {
		piece, err := read(ctx, after, upTo, edgePiece)
		if err != nil {
			return err
		}
		var doubtful []social.Pair
		for _, e := range piece {
			if kind, _ := judgeEdge(e); kind != "" && (kind == NoEdge || !mirrors) {
				doubtful = append(doubtful, e.Pair)
			}
		}
		for chunk := range slices.Chunk(doubtful, edgesAtOnce) {
			if err := r.mendEdges(ctx, chunk); err != nil {
				return err
			}
		}
		r.report.Edges += len(piece)
		if len(piece) < edgePiece {
			return nil
		}
		after = piece[len(piece)-1].Pair
	}
}

// judgeEdge is what is wrong with an edge, empty for nothing, and how both sides should have
// it; nil for ended now.
func judgeEdge(e db.EdgeSides) (Drift, *db.Side[social.FollowState]) {
	switch {
	case e.Own == nil && e.Mirror == nil:
		return "", nil
	case e.Own == nil:
		return NoEdge, nil
	case e.Blocked && e.Own.State != social.NotFollowing:
		return EdgeAndBlock, nil
	case e.Mirror == nil:
		return NoMirror, e.Own
	case *e.Mirror != *e.Own:
		return OtherMirror, e.Own
	}
	return "", e.Own
}

// mendEdges looks at edges again under the locks of their owners, without which nobody
// changes them, and makes both sides of those that are wrong agree.
func (r *reconciler) mendEdges(ctx context.Context, pairs []social.Pair) error {
	var m edgeMending
	err := r.db.Transact(ctx, func(tx *db.Tx) error {
		var owners []social.ID
		for _, p := range pairs {
			owners = append(owners, p.UserID)
		}
		slices.Sort(owners)
		actors, err := tx.LockActors(ctx, slices.Compact(owners))
		if err != nil {
			return err
		}
		sides, err := tx.SidesOf(ctx, pairs)
		if err != nil {
			return err
		}
		walls, err := tx.WallsOf(ctx, pairs)
		if err != nil {
			return err
		}
		for p, e := range sides {
			e.Blocked = walls.Blocks[p] || walls.Blocks[p.Reversed()]
			sides[p] = e
		}
		m = decideEdges(sides, actors, walls.Mutes, r.clock.NowMS())
		if !r.cfg.Repair {
			return nil
		}
		return m.write(ctx, tx)
	})
	if err == nil {
		r.report.add(m.found, r.cfg.Repair)
	}
	return err
}

// edgeMending is what is wrong with some edges, and what mends them.
type edgeMending struct {
	found  []Found
	actors []*db.Actor      // ascending
	edges  []social.Edge    // by owner, then target
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
		m.found = append(m.found, Found{Kind: kind, Who: pair.UserID, Target: pair.TargetID, Detail: sidesText(e)})
		if want == nil {
			want = &db.Side[social.FollowState]{State: social.NotFollowing, Since: now}
		}
		m.edges = append(m.edges, social.Edge{Pair: pair, State: want.State, Since: want.Since})
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
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		m.actors = append(m.actors, owners[id])
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[id]; n.Followers != 0 || n.Requests != 0 {
			m.counts = append(m.counts, n)
		}
	}
	return m
}

// write stores what was decided, in the one order of locks.
func (m edgeMending) write(ctx context.Context, tx *db.Tx) error {
	if err := tx.PutActors(ctx, m.actors); err != nil {
		return err
	}
	if err := tx.PutFollowing(ctx, m.edges); err != nil {
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

func stateOf(s *db.Side[social.FollowState]) social.FollowState {
	if s == nil {
		return social.NotFollowing
	}
	return s.State
}

func is(so bool) int64 {
	if so {
		return 1
	}
	return 0
}

// sidesText tells what is stored.
func sidesText(e db.EdgeSides) string {
	text := func(s *db.Side[social.FollowState]) string {
		if s == nil {
			return "no row"
		}
		return fmt.Sprintf("%s since %d", stateText(s.State), s.Since)
	}
	blocked := ""
	if e.Blocked {
		blocked = "; one blocks the other"
	}
	return fmt.Sprintf("following: %s; follower: %s%s", text(e.Own), text(e.Mirror), blocked)
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
