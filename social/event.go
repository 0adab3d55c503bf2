package social

// EventKind says what an event is about. The text is stored.
type EventKind string

// The kinds of events, each with the type of its body.
const (
	FollowEvent EventKind = "follow" // FollowBody
	BlogEvent   EventKind = "blog"   // BlogBody
	UserEvent   EventKind = "user"   // UserBody
	LikeEvent   EventKind = "like"   // LikeBody

	NotificationEvent EventKind = "notification" // NotificationBody
)

// Event is a change that others react to. It is a hint: whoever reads it looks at the
// rows as they are now. Body is written as JSON with ids as strings.
type Event struct {
	Kind EventKind
	Body any
}

// FollowBody is a batch of edges that changed, in the order of the changes, and of people
// between whom a wall went up or came down.
type FollowBody struct {
	Changes []FollowChange `json:"changes"`
	Walls   []WallChange   `json:"walls,omitempty"`
}

// WallChange is a block or a mute of the target that the person began or ended.
type WallChange struct {
	UserID   ID `json:"user,string"`
	TargetID ID `json:"target,string"`
}

// FollowChange is one edge that truly moved to State, since when, or whose target was muted
// or no longer is, and the owner's graph version after that: versions of one owner rise by
// one from change to change.
type FollowChange struct {
	UserID   ID          `json:"user,string"`
	TargetID ID          `json:"target,string"`
	State    FollowState `json:"state"`
	Since    Millis      `json:"since"`
	Version  int64       `json:"version"`
	// Muted: the owner mutes the target.
	Muted bool `json:"muted,omitempty"`
}

// IsShown tells whether the owner's feed has the target's blogs.
func (c FollowChange) IsShown() bool { return c.State.Stands() && !c.Muted }

// FollowCall is what a call left behind of an edge, and of its owner's version: as before
// where it Changed nothing.
type FollowCall struct {
	FollowChange
	Changed bool
}

// BlogBody is a blog that was published or deleted.
type BlogBody struct {
	BlogID   ID   `json:"blog,string"`
	AuthorID ID   `json:"author,string"`
	Deleted  bool `json:"deleted,omitempty"`
}

// UserBody is a person whose account was made, whose profile, status or tokens changed, whose
// counts were mended, or who has become a star.
type UserBody struct {
	UserID ID `json:"user,string"`
	// Ended is which of their tokens have ended with it; nil for none.
	Ended *EndedTokens `json:"ended,omitempty"`
	// Star: they have become one.
	Star bool `json:"star,omitempty"`
}
