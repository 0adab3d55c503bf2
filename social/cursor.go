package social

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"
)

// CursorKind is the list that a cursor belongs to.
type CursorKind byte

// The lists. Numbers are part of cursors that clients hold: never reuse one.
const (
	FeedCursor CursorKind = iota + 1
	BlogsCursor
	FollowersCursor
	FollowingCursor
	RequestsCursor
	BlockedCursor
	MutedCursor
)

// Cursor is a place in a list: reading resumes strictly after the entry of this time and
// id. Offset says how many entries of that time have been given out up to and with it;
// it is 0 where unknown, and reading never trusts it.
type Cursor struct {
	MinTime Millis
	Offset  int
	ID      ID
}

const (
	cursorVersion = 1
	cursorSumLen  = 4
	// maxCursorLen is base64 of a byte, three varints of at most 10 bytes, and the sum.
	maxCursorLen = 48
)

// Encode writes the cursor for one list of one owner: base64url of a byte of version and
// kind, (minTime, offset, id) as varints, and a CRC-32 over these and the owner, so that
// a foreign or damaged cursor is told.
func (c Cursor) Encode(kind CursorKind, owner ID) string {
	b := make([]byte, 0, maxCursorLen)
	b = append(b, cursorVersion<<4|byte(kind))
	b = binary.AppendUvarint(b, uint64(c.MinTime))
	b = binary.AppendUvarint(b, uint64(c.Offset))
	b = binary.AppendUvarint(b, uint64(c.ID))
	b = binary.BigEndian.AppendUint32(b, cursorSum(b, owner))
	return base64.RawURLEncoding.EncodeToString(b)
}

// DecodeCursor reads a cursor of this list of this owner. Any other text, also a cursor
// of another list or owner, is BAD_USER_INPUT about field.
func DecodeCursor(field, s string, kind CursorKind, owner ID) (Cursor, error) {
	c, ok := decodeCursor(s, kind, owner)
	if !ok {
		return Cursor{}, Invalid(field, "this is not a cursor of this list")
	}
	return c, nil
}

func decodeCursor(s string, kind CursorKind, owner ID) (Cursor, bool) {
	if len(s) > base64.RawURLEncoding.EncodedLen(maxCursorLen) {
		return Cursor{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 1+cursorSumLen || b[0] != cursorVersion<<4|byte(kind) {
		return Cursor{}, false
	}
	var parts [3]uint64
	rest := b[1 : len(b)-cursorSumLen]
	for i := range parts {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > math.MaxInt64 {
			return Cursor{}, false
		}
		parts[i], rest = v, rest[n:]
	}
	if parts[1] > math.MaxInt32 { // no list is that long; and counting on must not overflow
		return Cursor{}, false
	}
	c := Cursor{MinTime: Millis(parts[0]), Offset: int(parts[1]), ID: ID(parts[2])}
	// One cursor has one text: what encodes differently was not written here. And id 0 is
	// nobody's: the zero cursor stands for the head of a list.
	if len(rest) != 0 || c.ID == 0 || c.Encode(kind, owner) != s {
		return Cursor{}, false
	}
	return c, true
}

func cursorSum(b []byte, owner ID) uint32 {
	sum := crc32.ChecksumIEEE(b)
	return crc32.Update(sum, crc32.IEEETable, binary.BigEndian.AppendUint64(nil, uint64(owner)))
}
