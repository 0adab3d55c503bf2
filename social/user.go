package social

import "strings"

// maxHandle is how many characters a handle has at most.
const maxHandle = 30

// User is a person with an account.
type User struct {
	ID        ID      `db:"id"`
	Handle    string  `db:"handle"`
	Name      string  `db:"name"`
	Bio       string  `db:"bio"`
	AvatarURL *string `db:"avatar_url"`
	// IsPrivate: the person approves their followers.
	IsPrivate bool       `db:"is_private"`
	Status    UserStatus `db:"status"`
}

// UserStatus says whether a person is there for others. The numbers are stored.
type UserStatus int8

// The states of an account. Whoever is not Active is as if not there, for everybody.
const (
	Active    UserStatus = 0
	Suspended UserStatus = 1 // by an operator, who may restore the account
	Deleted   UserStatus = 2 // for good; the handle stays taken
)

// IsNode marks User as a GraphQL Node.
func (*User) IsNode() {}

// GlobalID is the opaque id of GraphQL.
func (u *User) GlobalID() string { return GlobalID(UserNode, u.ID) }

// CreatedAt is when the account was made.
func (u *User) CreatedAt() Millis { return u.ID.Time() }

// Counts are the sizes of a person's lists.
type Counts struct {
	Followers int64
	Following int64
	Blogs     int64
}

// Cursor is the place of the person in a list by handle.
func (u *User) Cursor() Cursor { return Cursor{ID: u.ID, Handle: u.Handle} }

// ParseHandle brings a handle into its stored form, lower case. Anything but 3 to 30 of
// a-z, 0-9 and _ is BAD_USER_INPUT.
func ParseHandle(field, s string) (string, error) {
	if len(s) < 3 || len(s) > maxHandle {
		return "", Invalid(field, "a handle has 3 to %d characters", maxHandle)
	}
	return lowerHandle(field, s)
}

// ParseHandlePrefix is [ParseHandle] for the beginning of handles, of 2 to 30 characters.
func ParseHandlePrefix(field, s string) (string, error) {
	if len(s) < 2 || len(s) > maxHandle {
		return "", Invalid(field, "the beginning of a handle has 2 to %d characters", maxHandle)
	}
	return lowerHandle(field, s)
}

func lowerHandle(field, s string) (string, error) {
	for _, c := range []byte(s) {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "", Invalid(field, "a handle is made of a-z, 0-9 and _")
		}
	}
	return strings.ToLower(s), nil
}
