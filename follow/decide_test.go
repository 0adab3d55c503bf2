package follow

import (
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/social"
)

const (
	on  = social.Following
	off = social.NotFollowing
	now = social.Millis(1000)
)

func call(user, target social.ID, to social.FollowState) *change {
	v := toUnfollow
	if to == on {
		v = toFollow
	}
	return &change{pair: social.Pair{UserID: user, TargetID: target}, verb: v}
}

// world is a state in which people 1 to 9 exist and follow nobody, but for the edges.
func world(edges map[social.Pair]social.FollowState) state {
	s := state{actors: map[social.ID]*db.Actor{}, follows: map[social.Pair]social.FollowState{}, since: map[social.Pair]social.Millis{}, accepted: map[social.Pair]bool{}, people: map[social.ID]bool{}}
	for id := social.ID(1); id <= 9; id++ {
		s.actors[id] = &db.Actor{UserID: id, GraphVersion: 100}
		s.people[id] = true
	}
	for pair, state := range edges {
		s.follows[pair] = state
		s.actors[pair.UserID].Following += int64(state)
	}
	return s
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func codes(changes []*change) (codes []string) {
	for _, c := range changes {
		code := "unchanged"
		for _, k := range []social.Code{social.NotFound, social.LimitExceeded, social.Unauthenticated} {
			if social.HasCode(c.err, k) {
				code = string(k)
			}
		}
		switch {
		case c.err != nil && code == "unchanged":
			code = c.err.Error()
		case c.result.Changed && c.result.State == on:
			code = "followed"
		case c.result.Changed:
			code = "unfollowed"
		}
		codes = append(codes, code)
	}
	return codes
}

// CNT-5 of the cases, each call in a batch of its own.
func TestEachCallDecidesOnTheStateBeforeIt(t *testing.T) {
	t.Parallel()
	s := world(nil)
	for i, c := range []struct {
		to      social.FollowState
		answer  string
		count   int64 // by how much the target's followers move
		follows int64 // how many the owner follows then
	}{
		{on, "followed", 1, 1}, {on, "unchanged", 0, 1}, {off, "unfollowed", -1, 0}, {off, "unchanged", 0, 0}, {on, "followed", 1, 1},
	} {
		calls := []*change{call(1, 2, c.to)}
		o := decide(calls, s, now, 5000)
		same(t, fmt.Sprintf("answer %d", i), codes(calls), []string{c.answer})
		same(t, "state", calls[0].result.State, c.to)
		same(t, "following", s.actors[1].Following, c.follows)
		if c.count == 0 {
			same(t, "what is written", o, outcome{})
			continue
		}
		same(t, "counts", o.counts, []db.CountChange{{UserID: 2, Followers: c.count}})
		same(t, "edges", o.edges, []social.Edge{{Pair: calls[0].pair, State: c.to, Since: now}})
		same(t, "events", o.events, []social.FollowChange{{UserID: 1, TargetID: 2, State: c.to, Since: now, Version: s.actors[1].GraphVersion}})
	}
	same(t, "versions", s.actors[1].GraphVersion, 103)
}

// The same in one batch: what is written is what is left, what is told is what happened.
func TestOnePairSeveralTimesInABatch(t *testing.T) {
	t.Parallel()
	s := world(nil)
	calls := []*change{call(1, 2, on), call(1, 2, on), call(1, 2, off), call(1, 2, off), call(1, 2, on)}
	o := decide(calls, s, now, 5000)
	same(t, "answers", codes(calls), []string{"followed", "unchanged", "unfollowed", "unchanged", "followed"})
	same(t, "edges", o.edges, []social.Edge{{Pair: calls[0].pair, State: on, Since: now}})
	same(t, "counts", o.counts, []db.CountChange{{UserID: 2, Followers: 1}})
	same(t, "actor", *o.actors[0], db.Actor{UserID: 1, GraphVersion: 103, Following: 1})
	var versions []int64
	for _, e := range o.events {
		versions = append(versions, e.Version)
	}
	same(t, "versions rise by one", versions, []int64{101, 102, 103})
}

// There and back again: no count moves, but since and the version do.
func TestNetZeroMovesNoCount(t *testing.T) {
	t.Parallel()
	pair := social.Pair{UserID: 1, TargetID: 2}
	for _, before := range []social.FollowState{off, on} {
		s := world(map[social.Pair]social.FollowState{pair: before})
		o := decide([]*change{call(1, 2, 1-before), call(1, 2, before)}, s, now, 5000)
		same(t, "counts", len(o.counts), 0)
		same(t, "edges", o.edges, []social.Edge{{Pair: pair, State: before, Since: now}})
		same(t, "events", len(o.events), 2)
		same(t, "actor", *o.actors[0], db.Actor{UserID: 1, GraphVersion: 102, Following: int64(before)})
	}
	// One follows as another leaves.
	s := world(map[social.Pair]social.FollowState{pair: on})
	o := decide([]*change{call(1, 2, off), call(3, 2, on)}, s, now, 5000)
	same(t, "counts", len(o.counts), 0)
	same(t, "edges", len(o.edges), 2)
}

// A follow that was asked for stays one while somebody is suspended; whoever follows anew after
// that has not asked.
func TestAFollowThatWasAcceptedStaysSo(t *testing.T) {
	t.Parallel()
	pair := social.Pair{UserID: 1, TargetID: 2}
	s := world(nil)
	s.follows[pair] = social.Requested
	s.statuses = map[social.ID]social.UserStatus{1: social.Active, 2: social.Suspended}
	for _, c := range []struct {
		verb verb
		want social.Edge
	}{
		{toAccept, social.Edge{Pair: pair, State: on, Since: now, Accepted: true}},
		{toSettle, social.Edge{Pair: pair, State: social.Hidden, Since: now, Accepted: true}},
		{toUnfollow, social.Edge{Pair: pair, State: off, Since: now}},
		{toFollow, social.Edge{Pair: pair, State: on, Since: now}},
	} {
		o := decide([]*change{{pair: pair, verb: c.verb}}, s, now, 5000)
		same(t, "edges", o.edges, []social.Edge{c.want})
	}
}

func TestCapReachedInTheMiddleOfABatch(t *testing.T) {
	t.Parallel()
	s := world(map[social.Pair]social.FollowState{{UserID: 1, TargetID: 2}: on})
	calls := []*change{
		call(1, 3, on), // the second
		call(1, 4, on), // the third, the cap
		call(1, 5, on), // one too many
		call(1, 3, on), // already: no error
		call(2, 5, on), // another's cap
		call(1, 2, off),
		call(1, 6, on), // there is room again
		call(1, 2, on), // and no more
	}
	decide(calls, s, now, 3)
	same(t, "answers", codes(calls), []string{
		"followed", "followed", "LIMIT_EXCEEDED", "unchanged", "followed", "unfollowed", "followed", "LIMIT_EXCEEDED"})
	same(t, "following", s.actors[1].Following, 3)
	same(t, "state told with the refusal", calls[2].result.State, off)
}

func TestWhoeverIsAboveTheCapCanStillUnfollow(t *testing.T) {
	t.Parallel()
	s := world(map[social.Pair]social.FollowState{{UserID: 1, TargetID: 2}: on, {UserID: 1, TargetID: 3}: on})
	calls := []*change{call(1, 4, on), call(1, 2, on), call(1, 2, off), call(1, 2, on)}
	decide(calls, s, now, 1)
	same(t, "answers", codes(calls), []string{"LIMIT_EXCEEDED", "unchanged", "unfollowed", "LIMIT_EXCEEDED"})
}

func TestUnknownTargets(t *testing.T) {
	t.Parallel()
	ended, stands := social.Pair{UserID: 1, TargetID: 50}, social.Pair{UserID: 1, TargetID: 51}
	s := world(map[social.Pair]social.FollowState{ended: off, stands: on})
	calls := []*change{
		call(1, 99, on), call(1, 99, off), // never was anybody
		call(1, 50, off), call(1, 50, on), // was followed once, is gone
		call(1, 51, on), call(1, 51, off), call(1, 51, off), call(1, 51, on), // is followed, is gone
		call(1, 2, off), // exists, was never followed
	}
	o := decide(calls, s, now, 5000)
	same(t, "answers", codes(calls), []string{
		"NOT_FOUND", "NOT_FOUND", "unchanged", "NOT_FOUND", "NOT_FOUND", "unfollowed", "unchanged", "NOT_FOUND", "unchanged"})
	same(t, "edges", o.edges, []social.Edge{{Pair: stands, State: off, Since: now}})
	same(t, "counts", o.counts, []db.CountChange{{UserID: 51, Followers: -1}})
}

func TestOwnerWhoIsGone(t *testing.T) {
	t.Parallel()
	calls := []*change{call(77, 2, on), call(77, 2, off)}
	o := decide(calls, world(nil), now, 5000)
	same(t, "answers", codes(calls), []string{"UNAUTHENTICATED", "UNAUTHENTICATED"})
	same(t, "what is written", o, outcome{})
}

// Rows are locked in the order in which they are written: that order is one for all.
func TestOutcomeIsSorted(t *testing.T) {
	t.Parallel()
	var calls []*change
	for user := social.ID(9); user >= 1; user-- {
		for target := social.ID(9); target >= 1; target -= 2 {
			if user != target {
				calls = append(calls, call(user, target, on))
			}
		}
	}
	for range 20 { // maps have another order each time
		o := decide(calls, world(nil), now, 5000)
		if !slices.IsSortedFunc(o.edges, byOwner) || len(o.edges) != len(calls) {
			t.Fatalf("edges: %+v", o.edges)
		}
		if !slices.IsSortedFunc(o.actors, func(a, b *db.Actor) int { return int(a.UserID - b.UserID) }) || len(o.actors) != 9 {
			t.Fatalf("actors: %+v", o.actors)
		}
		if !slices.IsSortedFunc(o.counts, func(a, b db.CountChange) int { return int(a.UserID - b.UserID) }) || len(o.counts) != 5 {
			t.Fatalf("counts: %+v", o.counts)
		}
		for i, e := range o.events { // in the order of the calls
			same(t, "event", social.Pair{UserID: e.UserID, TargetID: e.TargetID}, calls[i].pair)
		}
		for _, c := range calls {
			*c = change{pair: c.pair, verb: c.verb}
		}
	}
}

// A token can outlive its account's row while the actor is still there.
func TestWhoIsGoneFollowsNobody(t *testing.T) {
	t.Parallel()
	s := world(nil)
	delete(s.people, 1)
	calls := []*change{call(1, 2, on), call(1, 2, off)}
	o := decide(calls, s, now, 5000)
	same(t, "answers", codes(calls), []string{"UNAUTHENTICATED", "UNAUTHENTICATED"})
	same(t, "events", len(o.events), 0)
}
