package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"kith/social"
)

// bonds is the oracle of how people stand to each other: plain maps, which mutations change
// as the schema says.
type bonds struct {
	edges         map[social.Pair]social.Edge // absent: never was
	blocks, mutes map[social.Pair]social.Millis
	private       map[social.ID]bool
	status        map[social.ID]social.UserStatus // absent: active
}

func newBonds() *bonds {
	return &bonds{
		edges: map[social.Pair]social.Edge{}, private: map[social.ID]bool{}, status: map[social.ID]social.UserStatus{},
		blocks: map[social.Pair]social.Millis{}, mutes: map[social.Pair]social.Millis{},
	}
}

// do does a mutation of the viewer's about another person. It tells whether that changed
// anything, or by which code it is refused.
func (b *bonds) do(verb string, viewer, other social.ID, now social.Millis) (changed bool, refused social.Code) {
	mine := social.Pair{UserID: viewer, TargetID: other}
	theirs := mine.Reversed()
	// For whom somebody blocks there is no such person, nor is who is suspended; but what was
	// between the two they can end all the same.
	isHidden := has(b.blocks, theirs) || !b.isActive(other)
	switch {
	case viewer == other:
		return false, social.BadUserInput
	case !b.isActive(viewer):
		return false, social.Unauthenticated
	case !isHidden:
	case verb == "unfollow" && has(b.edges, mine), has(b.blocks, mine) && isOf(verb, "block", "unblock"), has(b.mutes, mine) && isOf(verb, "mute", "unmute"),
		has(b.edges, theirs) && isOf(verb, "removeFollower", "rejectFollowRequest"):
	default:
		return false, social.NotFound
	}
	switch verb {
	case "follow":
		switch {
		case has(b.blocks, mine):
			return false, social.Forbidden
		case b.private[other] && !b.stands(mine):
			return b.move(mine, social.Requested, now), ""
		}
		return b.move(mine, social.Following, now), ""
	case "unfollow":
		return b.move(mine, social.NotFollowing, now), ""
	case "removeFollower":
		return b.stands(theirs) && b.move(theirs, social.NotFollowing, now), ""
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

// setStatus suspends, restores or deletes somebody. Edges of the suspended stand, unseen;
// with the deleted go theirs, and the walls.
func (b *bonds) setStatus(who social.ID, to social.UserStatus, now social.Millis) {
	b.status[who] = to
	if to != social.Deleted {
		return
	}
	isTheirs := func(p social.Pair, _ social.Millis) bool { return p.UserID == who || p.TargetID == who }
	for p := range b.edges {
		if isTheirs(p, 0) {
			b.move(p, social.NotFollowing, now)
		}
	}
	maps.DeleteFunc(b.blocks, isTheirs)
	maps.DeleteFunc(b.mutes, isTheirs)
}

func (b *bonds) isActive(who social.ID) bool { return b.status[who] == social.Active }

// active draws one of those people who are.
func (b *bonds) active(r *rapid.T, label string, people []social.ID) social.ID {
	people = slices.DeleteFunc(slices.Clone(people), func(id social.ID) bool { return !b.isActive(id) })
	return rapid.SampledFrom(people).Draw(r, label)
}

// otherStatus draws whose status changes, and to what: mostly somebody comes back, so that
// few are away, and never everybody.
func (b *bonds) otherStatus(r *rapid.T, people []social.ID) (who social.ID, to social.UserStatus) {
	var away, here []social.ID
	for _, id := range people {
		switch b.status[id] {
		case social.Active:
			here = append(here, id)
		case social.Suspended:
			away = append(away, id)
		}
	}
	switch n := rapid.IntRange(0, 7).Draw(r, "status"); {
	case len(away) > 0 && (n > 2 || len(here) < 4):
		return rapid.SampledFrom(away).Draw(r, "who comes back"), social.Active
	case len(here) < 4:
		r.Skip("few are left")
	case n == 0:
		return rapid.SampledFrom(here).Draw(r, "who leaves"), social.Deleted
	}
	return rapid.SampledFrom(here).Draw(r, "who is suspended"), social.Suspended
}

// stands tells that an edge is a follow, follows that it is to be seen.
func (b *bonds) stands(p social.Pair) bool { return b.edges[p].State == social.Following }
func (b *bonds) follows(p social.Pair) bool {
	return b.stands(p) && b.isActive(p.UserID) && b.isActive(p.TargetID)
}

// feeds tells that the feed of the pair's owner has the blogs of its target.
func (b *bonds) feeds(p social.Pair) bool { return b.follows(p) && !has(b.mutes, p) }

// see is the wall, written once more.
func (b *bonds) see(viewer, person social.ID) social.Sight {
	p := social.Pair{UserID: viewer, TargetID: person}
	switch {
	case !b.isActive(person), has(b.blocks, p.Reversed()):
		return social.Nothing
	case viewer == person:
		return social.Everything
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
