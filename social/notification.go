package social

// NotificationKind says what a notification tells. Numbers are stored.
type NotificationKind int8

// The kinds. The subject of BlogLiked is the blog; of the others it is who did it.
const (
	// Followed: somebody follows the person, who did not have to accept it.
	Followed        NotificationKind = 1
	FollowRequested NotificationKind = 2
	// FollowAccepted: somebody has accepted the person's request.
	FollowAccepted NotificationKind = 3
	BlogLiked      NotificationKind = 4
)

// NotificationSubject is what one line is about: a kind of thing, told to a person. While a
// line is unread there is one of each subject.
type NotificationSubject struct {
	UserID  ID               `db:"user_id"` // who is told
	Kind    NotificationKind `db:"kind"`
	Subject ID               `db:"subject"`
}

// Notification is a line of a person's notifications.
type Notification struct {
	ID ID `db:"id"`
	NotificationSubject
	// ActorCount is how many people are behind it; none while nobody of them is to be seen.
	ActorCount int64 `db:"actor_count"`
	// UpdatedAt is since when the newest of them is.
	UpdatedAt Millis `db:"updated_at"`
	// Grown is the version of the person's list as of which somebody was added last, Version
	// that of the last change.
	Grown   int64 `db:"grown"`
	Version int64 `db:"version"`
	IsRead  bool  `db:"is_read"`
	// Newest are the latest three of those behind it, latest first.
	Newest []ID `db:"-"`
}

// IsNode marks Notification as a GraphQL Node.
func (*Notification) IsNode() {}

// GlobalID is the opaque id of GraphQL.
func (n *Notification) GlobalID() string { return GlobalID(NotificationNode, n.ID) }

// Cursor is the place of the line in its person's list as it is in this version.
func (n *Notification) Cursor(version int64) Cursor {
	return Cursor{MinTime: n.UpdatedAt, ID: n.ID, Version: version}
}

// NotificationBody names people whose notifications have changed, or were read.
type NotificationBody struct {
	UserIDs []NotifiedID `json:"users"`
}

// NotifiedID is a person whose notifications have changed.
type NotifiedID struct {
	UserID ID `json:"user,string"`
}
