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
	return &Call{Part: Partition(who), name: "DEL", keys: func(e int64) []string {
		return []string{countKey(e, who), leaseOf(countKey(e, who))}
	}}
}

// Counts is a reading of a person's counts.
type Counts struct {
	Who  social.ID
	Call *Call
}

// TakeCounts reads a person's counts; who finds none may fill them by the token.
func TakeCounts(who social.ID, token string) Counts {
	return Counts{who, &Call{
		Part: Partition(who), script: takeScript, args: []any{token, ms(leaseLife)},
		keys: func(e int64) []string { return []string{countKey(e, who), leaseOf(countKey(e, who))} },
	}}
}

// Answer tells the counts, and whether there are any.
func (c Counts) Answer() (n social.Counts, known bool) {
	s, err := c.Call.cmd.Text()
	if err != nil {
		return n, false
	}
	_, err = fmt.Sscan(s, &n.Followers, &n.Following, &n.Blogs)
	return n, err == nil
}

// FillCounts stores a person's counts, under the lease of token.
func FillCounts(who social.ID, token string, n social.Counts) *Call {
	return fill(who, countKey, []any{token, ms(countLife), "SET", fmt.Sprint(n.Followers, n.Following, n.Blogs)})
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
