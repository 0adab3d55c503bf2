package social

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// ID names a person or a blog: a 63-bit Snowflake of 41 bits of milliseconds since
// [Epoch], 10 bits of node and 12 bits of sequence. Order by id is order by time.
type ID int64

// Epoch is the first millisecond an ID can hold: 2024-01-01 UTC.
const Epoch Millis = 1704067200000

// The parts of an ID, in bits, low to high.
const (
	sequenceBits = 12
	nodeBits     = 10
	timeShift    = sequenceBits + nodeBits
)

// Nodes is how many makers of ids there can be at once.
const Nodes = 1 << nodeBits

// Time is the millisecond in which the id was made.
func (id ID) Time() Millis { return Epoch + Millis(id>>timeShift) }

// String is the id in decimal digits.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// FirstIDAt is the lowest id that a millisecond can hold; zero before [Epoch].
func FirstIDAt(ms Millis) ID { return max(0, ID(ms-Epoch)<<timeShift) }

// NodeType is the GraphQL type behind a global id.
type NodeType string

// The types that global ids name.
const (
	UserNode         NodeType = "User"
	BlogNode         NodeType = "Blog"
	NotificationNode NodeType = "Notification"
)

// GlobalID is the opaque id of GraphQL: base64("User:<id>").
func GlobalID(t NodeType, id ID) string {
	return base64.StdEncoding.EncodeToString([]byte(string(t) + ":" + id.String()))
}

// ParseGlobalID reads a global id. Only the very form that [GlobalID] writes is taken;
// anything else is BAD_USER_INPUT about field.
func ParseGlobalID(field, s string) (NodeType, ID, error) {
	t, id, ok := parseGlobalID(s)
	if !ok {
		return "", 0, Invalid(field, "this is not an id")
	}
	return t, id, nil
}

// ParseIDOf reads a global id of one type; that of another is BAD_USER_INPUT.
func ParseIDOf(want NodeType, field, s string) (ID, error) {
	t, id, err := ParseGlobalID(field, s)
	if err != nil {
		return 0, err
	}
	if t != want {
		return 0, Invalid(field, "this is the id of a %s, not of a %s", t, want)
	}
	return id, nil
}

// maxGlobalID bounds what is decoded: base64 of the longest type, a colon and 19 digits.
const maxGlobalID = 44

func parseGlobalID(s string) (t NodeType, id ID, ok bool) {
	if len(s) > maxGlobalID {
		return "", 0, false
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return "", 0, false
	}
	kind, digits, _ := strings.Cut(string(raw), ":")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 {
		return "", 0, false
	}
	t, id = NodeType(kind), ID(n)
	switch t {
	case UserNode, BlogNode, NotificationNode:
		return t, id, GlobalID(t, id) == s
	}
	return "", 0, false
}
