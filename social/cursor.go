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
	MutualCursor // of a viewer and a person, as the next
	KnownCursor
	HandlesCursor // of a handle's beginning
	RequestsCursor
	BlockedCursor
	MutedCursor
	LikersCursor // of a blog
	LikedCursor  // of a person, as whom the viewer sees
	HotCursor    // of one snapshot, whose time is the owner
	NotificationsCursor
)

// Cursor is a place in a list: reading resumes strictly after the entry of this time and
// id. Offset says how many entries of that time have been given out up to and with it;
// it is 0 where unknown, and reading never trusts it. In a list by handle the place is
// after Handle, whether or not somebody still has it; everywhere else Handle is empty. Among
// notifications Version is that of the list when the place was read; everywhere else it is 0.
type Cursor struct {
	MinTime Millis
	Offset  int
	ID      ID
	Handle  string
	Version int64
}

const (
	cursorVersion = 1
	cursorSumLen  = 4
	// maxCursorLen is more than a byte, three varints of at most 10 bytes, a handle or one
	// varint more, and the sum.
	maxCursorLen = 80
)

// Encode writes the cursor for one list, whose kind and owner it names; some lists have
// two: base64url of a byte of version and kind, (minTime, offset, id) as varints, the
// handle or version if there is one, and a CRC-32 over these and the owners, so that a foreign or
// damaged cursor is told.
func (c Cursor) Encode(kind CursorKind, owner ...ID) string { return c.encode(kind, owners(owner)) }

// EncodeByHandle writes the cursor for the list of the people whose handle begins so.
func (c Cursor) EncodeByHandle(prefix string) string { return c.encode(HandlesCursor, []byte(prefix)) }

func (c Cursor) encode(kind CursorKind, owner []byte) string {
	b := make([]byte, 0, maxCursorLen)
	b = append(b, cursorVersion<<4|byte(kind))
	b = binary.AppendUvarint(b, uint64(c.MinTime))
	b = binary.AppendUvarint(b, uint64(c.Offset))
	b = binary.AppendUvarint(b, uint64(c.ID))
	b = append(b, c.Handle...)
	if kind == NotificationsCursor {
		b = binary.AppendUvarint(b, uint64(c.Version))
	}
	b = binary.BigEndian.AppendUint32(b, cursorSum(b, owner))
	return base64.RawURLEncoding.EncodeToString(b)
}

// DecodeCursor reads a cursor of this list of this owner, or these. Any other text, also a
// cursor of another list or owner, is BAD_USER_INPUT about field.
func DecodeCursor(field, s string, kind CursorKind, owner ...ID) (Cursor, error) {
	return decodeOr(field, s, kind, owners(owner))
}

// DecodeHandleCursor reads a cursor of the list of the people whose handle begins so. Any
// other text, also a cursor of another beginning, is BAD_USER_INPUT about field.
func DecodeHandleCursor(field, s, prefix string) (Cursor, error) {
	return decodeOr(field, s, HandlesCursor, []byte(prefix))
}

func decodeOr(field, s string, kind CursorKind, owner []byte) (Cursor, error) {
	c, ok := decodeCursor(s, kind, owner)
	if !ok {
		return Cursor{}, Invalid(field, "this is not a cursor of this list")
	}
	return c, nil
}

func decodeCursor(s string, kind CursorKind, owner []byte) (Cursor, bool) {
	if len(s) > base64.RawURLEncoding.EncodedLen(maxCursorLen) {
		return Cursor{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 1+cursorSumLen || b[0] != cursorVersion<<4|byte(kind) {
		return Cursor{}, false
	}
	var numbers [4]uint64
	parts := numbers[:3]
	if kind == NotificationsCursor {
		parts = numbers[:]
	}
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
	c := Cursor{
		MinTime: Millis(parts[0]), Offset: int(parts[1]), ID: ID(parts[2]),
		Handle: string(rest), Version: int64(numbers[3]),
	}
	// One cursor has one text: what encodes differently was not written here. And id 0 is
	// nobody's: the zero cursor stands for the head of a list.
	if (c.Handle != "") != (kind == HandlesCursor) || c.ID == 0 || c.encode(kind, owner) != s {
		return Cursor{}, false
	}
	return c, true
}

func cursorSum(b, owner []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(b), crc32.IEEETable, owner)
}

func owners(ids []ID) []byte {
	b := make([]byte, 0, 16)
	for _, id := range ids {
		b = binary.BigEndian.AppendUint64(b, uint64(id))
	}
	return b
}
