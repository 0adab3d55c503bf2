package social

// EndedTokens are tokens of a person that are refused before they expire: the one named
// Token, or, where that is empty, all of a version below Version. After Until nobody need
// know of it: by then all of them have expired.
type EndedTokens struct {
	UserID  ID     `db:"user_id" json:"-"`
	Token   string `db:"jti" json:"token,omitempty"`
	Version int64  `db:"version" json:"below,omitempty"`
	Until   Millis `db:"until" json:"until"`
}

// ErrTokenEnded is the error of a token that once was good: it has expired, or was ended.
var ErrTokenEnded = Errorf(Unauthenticated, "the token has ended: sign in again")
