package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"kith/social"
)

// bonds is the oracle of how people stand to each other: plain maps, which mutations change
// as the schema says.
type bonds struct {
	edges         map[social.Pair]social.Edge // absent: never was
	blocks, mutes map[social.Pair]social.Millis
	private       map[social.ID]bool
}

func newBonds() *bonds {
	return &bonds{
		edges: map[social.Pair]social.Edge{}, private: map[social.ID]bool{},
		blocks: map[social.Pair]social.Millis{}, mutes: map[social.Pair]social.Millis{},
	}
}

// do does a mutation of the viewer's about another person. It tells whether that changed
// anything, or by which code it is refused.
func (b *bonds) do(verb string, viewer, other social.ID, now social.Millis) (changed bool, refused social.Code) {
	mine := social.Pair{UserID: viewer, TargetID: other}
	theirs := mine.Reversed()
	// For whom somebody blocks there is no such person; but what was between the two they
	// can end all the same.
	isHidden := has(b.blocks, theirs)
	switch {
	case viewer == other:
		return false, social.BadUserInput
	case !isHidden:
	case verb == "unfollow" && has(b.edges, mine), verb == "unblock" && has(b.blocks, mine), has(b.mutes, mine) && isOf(verb, "mute", "unmute"),
		has(b.edges, theirs) && isOf(verb, "removeFollower", "rejectFollowRequest"):
	default:
		return false, social.NotFound
	}
	switch verb {
	case "follow":
		switch {
		case has(b.blocks, mine):
			return false, social.Forbidden
		case b.private[other] && !b.follows(mine):
			return b.move(mine, social.Requested, now), ""
		}
		return b.move(mine, social.Following, now), ""
	case "unfollow":
		return b.move(mine, social.NotFollowing, now), ""
	case "removeFollower":
		return b.follows(theirs) && b.move(theirs, social.NotFollowing, now), ""
	case "acceptFollowRequest":
		if b.edges[theirs].State == social.NotFollowing {
			return false, social.NotFound
		}
		return b.move(theirs, social.Following, now), ""
	case "rejectFollowRequest":
		return b.edges[theirs].State == social.Requested && b.move(theirs, social.NotFollowing, now), ""
	case "block":
		b.move(mine, social.NotFollowing, now)
		b.move(theirs, social.NotFollowing, now)
		return put(b.blocks, mine, now), ""
	case "unblock":
		return take(b.blocks, mine), ""
	case "mute":
		return put(b.mutes, mine, now), ""
	}
	return take(b.mutes, mine), "" // unmute
}

// move brings an edge to a state, since now where it was not in it.
func (b *bonds) move(p social.Pair, to social.FollowState, now social.Millis) (changed bool) {
	if b.edges[p].State == to {
		return false
	}
	b.edges[p] = social.Edge{Pair: p, State: to, Since: now}
	return true
}

func (b *bonds) follows(p social.Pair) bool { return b.edges[p].State == social.Following }

// feeds tells that the feed of the pair's owner has the blogs of its target.
func (b *bonds) feeds(p social.Pair) bool { return b.follows(p) && !has(b.mutes, p) }

// see is the wall, written once more.
func (b *bonds) see(viewer, person social.ID) social.Sight {
	p := social.Pair{UserID: viewer, TargetID: person}
	switch {
	case viewer == person:
		return social.Everything
	case has(b.blocks, p.Reversed()):
		return social.Nothing
	case has(b.blocks, p):
		return social.Name
	case b.private[person] && !b.follows(p):
		return social.Profile
	}
	return social.Everything
}

// ripe are the pairs of viewer and other that the mutation would change something of, in an
// order that is the same each time; nil for a mutation that most pairs are ripe for.
func (b *bonds) ripe(verb string) (pairs []social.Pair) {
	for p, e := range b.edges {
		switch {
		case verb == "unfollow" && e.State != social.NotFollowing:
			pairs = append(pairs, p)
		case verb == "removeFollower" && e.State == social.Following,
			e.State == social.Requested && isOf(verb, "acceptFollowRequest", "rejectFollowRequest"):
			pairs = append(pairs, p.Reversed())
		}
	}
	switch verb {
	case "unblock":
		pairs = slices.Collect(maps.Keys(b.blocks))
	case "unmute":
		pairs = slices.Collect(maps.Keys(b.mutes))
	}
	slices.SortFunc(pairs, func(x, y social.Pair) int {
		return cmp.Or(cmp.Compare(x.UserID, y.UserID), cmp.Compare(x.TargetID, y.TargetID))
	})
	return pairs
}

func isOf(verb string, verbs ...string) bool { return slices.Contains(verbs, verb) }

func has[V any](m map[social.Pair]V, p social.Pair) bool {
	_, ok := m[p]
	return ok
}

func put(m map[social.Pair]social.Millis, p social.Pair, now social.Millis) (changed bool) {
	if has(m, p) {
		return false
	}
	m[p] = now
	return true
}

func take(m map[social.Pair]social.Millis, p social.Pair) (changed bool) {
	changed = has(m, p)
	delete(m, p)
	return changed
}

// refusal is the code of an error that clients may see; empty for none.
func refusal(err error) social.Code {
	var known *social.Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}
