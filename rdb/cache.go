package rdb

import (
	"fmt"
	"time"

	"kith/social"
)

const (
	countLife = time.Hour
	wroteLife = 24 * time.Hour
)

// DropCounts drops a person's counts, and ends the filling of them that is under way.
func DropCounts(who social.ID) *Call {
	return &Call{Part: Partition(who), name: "DEL", keys: withLease(who, countKey)}
}

// Taken is a reading of a small value: of a person, or of a blog.
type Taken[T any] struct {
	Of    social.ID
	Call  *Call
	parse func(string, *T) error
}

// take reads a value; who finds none may fill it by the token.
func take[T any](of social.ID, token string, key func(int64, social.ID) string, parse func(string, *T) error) Taken[T] {
	return Taken[T]{of, &Call{
		Part: Partition(of), script: takeScript, args: []any{token, ms(leaseLife)}, keys: withLease(of, key),
	}, parse}
}

// Answer tells the value, and whether there is one.
func (t Taken[T]) Answer() (value T, known bool) {
	s, err := t.Call.cmd.Text()
	if err != nil {
		return value, false
	}
	err = t.parse(s, &value)
	return value, err == nil
}

// withLease are a key and its lease.
func withLease(of social.ID, key func(int64, social.ID) string) func(int64) []string {
	return func(e int64) []string { return []string{key(e, of), leaseOf(key(e, of))} }
}

// TakeCounts reads a person's counts; who finds none may fill them by the token.
func TakeCounts(who social.ID, token string) Taken[social.Counts] {
	return take(who, token, countKey, func(s string, n *social.Counts) error {
		_, err := fmt.Sscan(s, &n.Followers, &n.Following, &n.Blogs)
		return err
	})
}

// TakeLikeCount reads how many like a blog; who finds nothing may fill it by the token.
func TakeLikeCount(blog social.ID, token string) Taken[social.LikeCount] {
	return take(blog, token, likeCountKey, parseLikeCount)
}

func parseLikeCount(s string, n *social.LikeCount) error {
	_, err := fmt.Sscan(s, &n.Likes, &n.Version)
	return err
}

// FillCounts stores a person's counts, under the lease of token.
func FillCounts(who social.ID, token string, n social.Counts) *Call {
	return fill(who, countKey, []any{token, ms(countLife), "SET", fmt.Sprint(n.Followers, n.Following, n.Blogs)})
}

// FillLikeCount stores how many like a blog, under the lease of token.
func FillLikeCount(blog social.ID, token string, n social.LikeCount) *Call {
	return fill(blog, likeCountKey, []any{token, ms(countLife), "SET", fmt.Sprint(n.Likes, n.Version)})
}

// RenewLikeCount gives a like count that is there a newer version, and ends the filling of it
// that is under way.
func RenewLikeCount(blog social.ID, n social.LikeCount) *Call {
	return &Call{
		Part: Partition(blog), script: renewScript, keys: withLease(blog, likeCountKey),
		args: []any{n.Version, fmt.Sprint(n.Likes, n.Version), ms(countLife)},
	}
}

// MarkWrote says that a person wrote just now.
func MarkWrote(who social.ID) *Call {
	return &Call{Part: Partition(who), name: "SET", keys: wrote(who), args: []any{"", "PX", ms(wroteLife)}}
}

// Wrote is a reading of when a person wrote.
type Wrote struct{ Call *Call }

// NewWrote asks when a person wrote.
func NewWrote(who social.ID) Wrote {
	return Wrote{&Call{Part: Partition(who), script: wroteScript, keys: wrote(who), args: []any{ms(wroteLife)}}}
}

// Since is how long ago that was; 0 where it is not known.
func (w Wrote) Since() time.Duration {
	n, err := w.Call.cmd.Int64()
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func wrote(who social.ID) func(int64) []string {
	return func(e int64) []string { return []string{wroteKey(e, who)} }
}
