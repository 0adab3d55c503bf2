package social

// FollowState is the state of one edge of the follow graph. Numbers are stored.
type FollowState int8

// The states. An edge that never was has state NotFollowing too.
const (
	NotFollowing FollowState = 0
	Following    FollowState = 1
)

// Pair names an edge: UserID, its owner, follows TargetID.
type Pair struct {
	UserID   ID
	TargetID ID
}

// Edge is an edge of the follow graph with its state and since when it is so.
type Edge struct {
	Pair
	State FollowState
	Since Millis
}

// Relation is how the viewer and another person stand to each other.
type Relation struct {
	ViewerFollows bool
	FollowsViewer bool
}

// Peer is a person in a list of relations, with the time the relation began.
type Peer struct {
	ID    ID
	Since Millis
}

// Cursor is the place of the peer in its list.
func (p Peer) Cursor() Cursor { return Cursor{MinTime: p.Since, ID: p.ID} }
