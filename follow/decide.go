package follow

import (
	"cmp"
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// change is one call of follow or unfollow, and what becomes of it.
type change struct {
	pair social.Pair
	to   social.FollowState

	result  Result
	since   social.Millis // of the change, if it is one
	version int64         // the owner's, after the call
	err     error
}

// state is what the store holds of the people and edges of a batch.
type state struct {
	actors  map[social.ID]*db.Actor
	follows map[social.Pair]social.FollowState // absent: never was
	people  map[social.ID]bool
}

// outcome is what a batch changes: only edges that truly moved, only counts that differ.
type outcome struct {
	actors []*db.Actor
	edges  []social.Edge    // by owner, then target
	counts []db.CountChange // ascending
	events []social.FollowChange
}

// decide takes the changes in their order, each on what those before it left, answers
// each, and gathers what is to be written. It moves s.
func decide(changes []*change, s state, now social.Millis, maxFollowing int64) outcome {
	var o outcome
	moved := map[social.Pair]social.FollowState{} // with the state before the batch
	for _, c := range changes {
		before := s.follows[c.pair]
		c.result, c.err = Result{State: before}, refuse(c, s, maxFollowing)
		if c.err != nil {
			continue
		}
		c.version = s.actors[c.pair.UserID].GraphVersion
		if before == c.to {
			continue
		}
		if _, again := moved[c.pair]; !again {
			moved[c.pair] = before
		}
		owner := s.actors[c.pair.UserID]
		owner.GraphVersion++
		owner.Following += step(before, c.to)
		s.follows[c.pair] = c.to
		c.result, c.since, c.version = Result{State: c.to, Changed: true}, now, owner.GraphVersion
		o.events = append(o.events, c.call().FollowChange)
	}
	o.gather(moved, s, now)
	return o
}

// call is what the call left behind.
func (c *change) call() social.FollowCall {
	return social.FollowCall{Changed: c.result.Changed, FollowChange: social.FollowChange{
		UserID: c.pair.UserID, TargetID: c.pair.TargetID, State: c.result.State, Since: c.since, Version: c.version,
	}}
}

// refuse says why a change cannot be, or nil.
func refuse(c *change, s state, maxFollowing int64) error {
	owner := s.actors[c.pair.UserID]
	state, known := s.follows[c.pair]
	switch {
	case owner == nil || !s.people[c.pair.UserID]:
		return social.Errorf(social.Unauthenticated, "this account does not exist any more")
	case !s.people[c.pair.TargetID] && (c.to == social.Following || !known):
		return &social.Error{Code: social.NotFound, Field: "userId", Message: "there is no such user"}
	case c.to == social.Following && state != social.Following && owner.Following >= maxFollowing:
		return social.Errorf(social.LimitExceeded, "nobody follows more than %d people", maxFollowing)
	}
	return nil
}

// gather sorts what moved into the order of writing.
func (o *outcome) gather(moved map[social.Pair]social.FollowState, s state, now social.Millis) {
	owners := map[social.ID]*db.Actor{}
	followers := map[social.ID]int64{}
	for pair, before := range moved {
		owners[pair.UserID] = s.actors[pair.UserID]
		o.edges = append(o.edges, social.Edge{Pair: pair, State: s.follows[pair], Since: now})
		followers[pair.TargetID] += step(before, s.follows[pair])
	}
	slices.SortFunc(o.edges, byOwner)
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		o.actors = append(o.actors, owners[id])
	}
	for _, id := range slices.Sorted(maps.Keys(followers)) {
		if followers[id] != 0 {
			o.counts = append(o.counts, db.CountChange{UserID: id, Followers: followers[id]})
		}
	}
}

// step is by how much the counts of both people move.
func step(from, to social.FollowState) int64 {
	switch {
	case from != social.Following && to == social.Following:
		return 1
	case from == social.Following && to != social.Following:
		return -1
	}
	return 0
}

func byOwner(a, b social.Edge) int {
	return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.TargetID, b.TargetID))
}

func byTarget(a, b social.Edge) int {
	return cmp.Or(cmp.Compare(a.TargetID, b.TargetID), cmp.Compare(a.UserID, b.UserID))
}
