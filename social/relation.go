package social

import "cmp"

// FollowState is the state of one edge of the follow graph. Numbers are stored.
type FollowState int8

// The states. An edge that never was has state NotFollowing too.
const (
	NotFollowing FollowState = 0
	Following    FollowState = 1
	// Requested: the target is private, and has not accepted yet.
	Requested FollowState = 2
	// Hidden is a follow while one of the two is suspended: in no list and no count.
	Hidden FollowState = 3
)

// Stands tells that the edge is a follow, perhaps of people who are not to be seen now.
func (s FollowState) Stands() bool { return s == Following || s == Hidden }

// IsPending tells that the edge may become a follow by what its target, or an operator, does.
func (s FollowState) IsPending() bool { return s == Requested || s == Hidden }

// Pair names an edge: UserID, its owner, follows TargetID.
type Pair struct {
	UserID   ID
	TargetID ID
}

// Reversed is the edge of the other direction.
func (p Pair) Reversed() Pair { return Pair{UserID: p.TargetID, TargetID: p.UserID} }

// Compare orders edges by owner, then target: as they are stored and locked.
func (p Pair) Compare(q Pair) int {
	return cmp.Or(cmp.Compare(p.UserID, q.UserID), cmp.Compare(p.TargetID, q.TargetID))
}

// Edge is an edge of the follow graph with its state and since when it is so.
type Edge struct {
	Pair
	State FollowState
	Since Millis
	// Accepted: it is a follow that began by the target's accepting a request. Only the
	// owner's row says so.
	Accepted bool
}

// Relation is how the viewer and another person stand to each other. The zero Relation is
// that to somebody who is not there.
type Relation struct {
	IsThere   bool // the person exists and is active
	IsPrivate bool // the person

	ViewerFollows   bool
	ViewerRequested bool
	ViewerBlocks    bool
	ViewerMutes     bool
	FollowsViewer   bool
	BlocksViewer    bool
}

// Sight is how much of a person a viewer sees; each sees what those before it do.
type Sight int8

// What there is to see.
const (
	// Nothing: for the viewer there is no such person.
	Nothing Sight = iota
	// Name: whom the viewer blocks is found by id, by handle and among those blocked, in no
	// other list, with empty lists.
	Name
	// Profile: a private person's profile and counts; blogs and lists are empty.
	Profile
	// Everything there is.
	Everything
)

// See is the wall: what the viewer, 0 for nobody, sees of a person. Every path to a person
// or blog goes through it, see package loaders.
func See(viewer, person ID, r Relation) Sight {
	switch {
	case !r.IsThere, r.BlocksViewer:
		return Nothing
	case viewer == person:
		return Everything
	case r.ViewerBlocks:
		return Name
	case r.IsPrivate && !r.ViewerFollows:
		return Profile
	}
	return Everything
}

// Peer is a person in a list of relations, with the time the relation began.
type Peer struct {
	ID    ID
	Since Millis
}

// Cursor is the place of the peer in its list.
func (p Peer) Cursor() Cursor { return Cursor{MinTime: p.Since, ID: p.ID} }
