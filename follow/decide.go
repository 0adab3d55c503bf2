package follow

import (
	"context"
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// verb is what a call does to an edge.
type verb int8

const (
	toFollow verb = iota
	toUnfollow
	// The following are of the edge's target.
	toRemove // a follower
	toAccept // a request
	toReject
	// toEnd is what a block does, to edges of both directions.
	toEnd
	// toSettle makes an edge match the statuses of its two people.
	toSettle
)

// change is one call about an edge, and what becomes of it.
type change struct {
	pair social.Pair
	verb verb

	result  Result
	since   social.Millis // of the change, if it is one
	version int64         // the owner's, after the call
	muted   bool          // the target, by the owner
	err     error
}

// viewer is who calls, other the one at the edge's other end.
func (c *change) viewer() (viewer, other social.ID) {
	switch c.verb {
	case toRemove, toAccept, toReject:
		return c.pair.TargetID, c.pair.UserID
	}
	return c.pair.UserID, c.pair.TargetID
}

// call is what the call left behind.
func (c *change) call() social.FollowCall {
	return social.FollowCall{Changed: c.result.Changed, FollowChange: social.FollowChange{
		UserID: c.pair.UserID, TargetID: c.pair.TargetID, State: c.result.State, Since: c.since, Version: c.version, Muted: c.muted,
	}}
}

// state is what the store holds of the people and edges of a batch.
type state struct {
	actors  map[social.ID]*db.Actor
	follows map[social.Pair]social.FollowState // absent: never was
	since   map[social.Pair]social.Millis
	// accepted are follows that began by a request.
	accepted map[social.Pair]bool
	people   map[social.ID]bool // who is active
	walls    db.Walls
	// statuses are needed for toSettle alone.
	statuses map[social.ID]social.UserStatus
}

// outcome is what a batch changes: only edges that truly moved, only counts that differ.
type outcome struct {
	actors []*db.Actor                         // ascending
	wall   func(context.Context, *db.Tx) error // writes a block or mute; nil for none
	walls  []social.WallChange                 // which that is
	edges  []social.Edge                       // by owner, then target
	counts []db.CountChange                    // ascending
	events []social.FollowChange
}

// decide takes the changes in their order, each on what those before it left, answers
// each, and gathers what is to be written. It moves s.
func decide(changes []*change, s state, now social.Millis, maxFollowing int64) outcome {
	var o outcome
	moved := map[social.Pair]social.FollowState{} // with the state before the batch
	for _, c := range changes {
		before := s.follows[c.pair]
		c.result = Result{State: before}
		var after social.FollowState
		if after, c.err = s.next(c, maxFollowing); c.err != nil {
			continue
		}
		c.muted = s.walls.Mutes[c.pair]
		c.version = s.actors[c.pair.UserID].GraphVersion
		if before == after {
			continue
		}
		if _, again := moved[c.pair]; !again {
			moved[c.pair] = before
		}
		owner := s.actors[c.pair.UserID]
		owner.GraphVersion++
		owner.Following += step(before, after, isFollow)
		owner.Pending += step(before, after, social.FollowState.IsPending)
		s.follows[c.pair] = after
		c.result, c.since, c.version = Result{State: after, Changed: true}, s.sinceThen(c.pair, before, now), owner.GraphVersion
		s.since[c.pair] = c.since
		s.accepted[c.pair] = c.verb == toAccept || s.accepted[c.pair] && before.Stands() && after.Stands()
		o.events = append(o.events, c.call().FollowChange)
	}
	o.gather(moved, s)
	return o
}

// sinceThen is since when an edge that moves is what it is now: one that stood and stands
// was hidden or is no longer, and began when it did.
func (s state) sinceThen(p social.Pair, before social.FollowState, now social.Millis) social.Millis {
	if before.Stands() && s.follows[p].Stands() {
		return s.since[p]
	}
	return now
}

// next is the state that a change brings an edge to, or why it cannot be.
func (s state) next(c *change, maxFollowing int64) (social.FollowState, error) {
	before, known := s.follows[c.pair]
	viewer, other := c.viewer()
	owner := s.actors[c.pair.UserID]
	if c.verb < toEnd {
		isThere := s.people[other] && !s.walls.Blocks[social.Pair{UserID: other, TargetID: viewer}]
		switch {
		case !s.people[viewer] || viewer == c.pair.UserID && owner == nil:
			return before, social.Errorf(social.Unauthenticated, "this account does not exist any more")
		case !isThere && (!known || c.verb == toFollow || c.verb == toAccept):
			return before, nobody()
		}
	}
	if owner == nil {
		return before, nobody()
	}
	switch c.verb {
	case toFollow:
		return s.followed(c.pair, before, maxFollowing)
	case toAccept:
		if before != social.Requested && before != social.Following {
			return before, &social.Error{Code: social.NotFound, Field: "userId", Message: "this person has not asked to follow"}
		}
		return social.Following, nil
	case toReject:
		if before != social.Requested {
			return before, nil
		}
	case toRemove:
		if !before.Stands() {
			return before, nil
		}
	case toSettle:
		return settled(before, s.statuses[c.pair.UserID], s.statuses[c.pair.TargetID]), nil
	}
	return social.NotFollowing, nil
}

// followed is what a follow of somebody who is there brings an edge to.
func (s state) followed(pair social.Pair, before social.FollowState, maxFollowing int64) (social.FollowState, error) {
	owner := s.actors[pair.UserID]
	switch {
	case s.walls.Blocks[pair]:
		return before, &social.Error{Code: social.Forbidden, Field: "userId", Message: "whom one blocks one does not follow; unblock first"}
	case before == social.NotFollowing && owner.Following+owner.Pending >= maxFollowing:
		return before, social.Errorf(social.LimitExceeded, "nobody follows, or asks to follow, more than %d people", maxFollowing)
	case s.walls.Private[pair.TargetID] && !before.Stands():
		return social.Requested, nil
	}
	return social.Following, nil
}

func nobody() error {
	return &social.Error{Code: social.NotFound, Field: "userId", Message: "there is no such user"}
}

// gather sorts what moved into the order of writing.
func (o *outcome) gather(moved map[social.Pair]social.FollowState, s state) {
	owners := map[social.ID]*db.Actor{}
	counts := map[social.ID]db.CountChange{}
	for pair, before := range moved {
		after := s.follows[pair]
		owners[pair.UserID] = s.actors[pair.UserID]
		o.edges = append(o.edges, social.Edge{Pair: pair, State: after, Since: s.since[pair], Accepted: s.accepted[pair]})
		n := counts[pair.TargetID]
		n.Followers += step(before, after, isFollow)
		n.Requests += step(before, after, isRequest)
		counts[pair.TargetID] = n
	}
	slices.SortFunc(o.edges, byOwner)
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		o.actors = append(o.actors, owners[id])
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		n := counts[id]
		if n.UserID = id; n.Followers != 0 || n.Requests != 0 {
			o.counts = append(o.counts, n)
		}
	}
}

// step is by how much a count of the edges that are so moves.
func step(from, to social.FollowState, isSo func(social.FollowState) bool) int64 {
	var n int64
	if isSo(to) {
		n++
	}
	if isSo(from) {
		n--
	}
	return n
}

func isFollow(s social.FollowState) bool  { return s == social.Following }
func isRequest(s social.FollowState) bool { return s == social.Requested }

func byOwner(a, b social.Edge) int { return a.Compare(b.Pair) }

func byTarget(a, b social.Edge) int { return a.Reversed().Compare(b.Reversed()) }
