package social_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"kith/social"
)

const owner = social.ID(653247040368672769) // beyond 2^53

var kinds = []social.CursorKind{social.FeedCursor, social.BlogsCursor, social.FollowersCursor, social.FollowingCursor, social.MutualCursor, social.KnownCursor, social.NotificationsCursor}

var cursors = []social.Cursor{
	{MinTime: 1, Offset: 1, ID: 1},
	{MinTime: 1_764_500_000_123, Offset: 3, ID: 9007199254740993},
	{MinTime: 1_764_500_000_123, ID: owner},
	{MinTime: math.MaxInt64, Offset: math.MaxInt32, ID: math.MaxInt64},
}

func refused(t *testing.T, s string, kind social.CursorKind, owner social.ID) {
	t.Helper()
	c, err := social.DecodeCursor("after", s, kind, owner)
	if !social.HasCode(err, social.BadUserInput) {
		t.Errorf("%q of list %d of %d: got %+v, %v", s, kind, owner, c, err)
	}
}

// The zero cursor is the head of a list, which no client is given.
func TestZeroCursorIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		refused(t, social.Cursor{}.Encode(kind, owner), kind, owner)
		refused(t, social.Cursor{MinTime: 5, Offset: 1}.Encode(kind, owner), kind, owner)
	}
}

func TestCursorComesBackAsWritten(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, want := range cursors {
			got, err := social.DecodeCursor("after", want.Encode(kind, owner), kind, owner)
			if err != nil || got != want {
				t.Errorf("list %d: got %+v, %v; want %+v", kind, got, err, want)
			}
		}
	}
}

// Among notifications a place has the version of the list; elsewhere there is no room for it.
func TestCursorOfNotificationsHasAVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []int64{1, 300, math.MaxInt64} {
		want := social.Cursor{MinTime: 1_764_500_000_123, ID: owner, Version: version}
		got, err := social.DecodeCursor("upTo", want.Encode(social.NotificationsCursor, owner), social.NotificationsCursor, owner)
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		refused(t, want.Encode(social.NotificationsCursor, owner), social.NotificationsCursor, owner+1)
	}
}

func TestCursorOfAnotherListOrOwnerIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range cursors {
		for _, kind := range kinds {
			s := c.Encode(kind, owner)
			for _, other := range kinds {
				if other != kind {
					refused(t, s, other, owner)
				}
			}
			for _, other := range []social.ID{0, 1, owner - 1, owner + 1, owner &^ 1, -owner} {
				if other != owner {
					refused(t, s, kind, other)
				}
			}
		}
	}
}

// Every single bit, in the bytes of the cursor and in the letters of its text.
func TestCursorWithAFlippedBitIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range cursors {
		for _, kind := range kinds {
			s := c.Encode(kind, owner)
			raw, err := base64.RawURLEncoding.DecodeString(s)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 8 * len(raw) {
				flipped := []byte(string(raw))
				flipped[i/8] ^= 1 << (i % 8)
				refused(t, base64.RawURLEncoding.EncodeToString(flipped), kind, owner)
			}
			for i := range 8 * len(s) {
				flipped := []byte(s)
				flipped[i/8] ^= 1 << (i % 8)
				refused(t, string(flipped), kind, owner)
			}
		}
	}
}

// A list of two belongs to these two, in their order.
func TestCursorOfAListOfTwoIsTheirsAlone(t *testing.T) {
	t.Parallel()
	for _, want := range cursors {
		s := want.Encode(social.MutualCursor, owner, 7)
		got, err := social.DecodeCursor("after", s, social.MutualCursor, owner, 7)
		if err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		for _, others := range [][]social.ID{{}, {owner}, {7}, {7, owner}, {owner, 8}, {owner + 1, 7}, {0, 7}, {owner, 0}, {owner, 7, 0}} {
			if c, err := social.DecodeCursor("after", s, social.MutualCursor, others...); !social.HasCode(err, social.BadUserInput) {
				t.Errorf("of %v: got %+v, %v", others, c, err)
			}
		}
	}
}

func TestCursorByHandleIsOfItsBeginningAlone(t *testing.T) {
	t.Parallel()
	for _, handle := range []string{"ada", "ad_", "ad" + strings.Repeat("z", 28)} {
		want := social.Cursor{ID: math.MaxInt64, Handle: handle}
		s := want.EncodeByHandle("ad")
		if got, err := social.DecodeHandleCursor("after", s, "ad"); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		for _, prefix := range []string{"", "a", "ada", "da", "ae"} {
			if c, err := social.DecodeHandleCursor("after", s, prefix); !social.HasCode(err, social.BadUserInput) {
				t.Errorf("of %q: got %+v, %v", prefix, c, err)
			}
		}
		for _, kind := range kinds { // nor is a cursor of another list one of these, or the other way round
			refused(t, s, kind, owner)
			refused(t, want.Encode(kind, owner), kind, owner)
		}
		if c, err := social.DecodeHandleCursor("after", social.Cursor{ID: 7}.EncodeByHandle("ad"), "ad"); err == nil {
			t.Errorf("without a handle: %+v", c)
		}
		raw, _ := base64.RawURLEncoding.DecodeString(s)
		for i := range 8 * len(raw) {
			flipped := []byte(string(raw))
			flipped[i/8] ^= 1 << (i % 8)
			if c, err := social.DecodeHandleCursor("after", base64.RawURLEncoding.EncodeToString(flipped), "ad"); err == nil {
				t.Errorf("bit %d: %+v", i, c)
			}
		}
	}
}

func TestTextThatIsNoCursorIsRefused(t *testing.T) {
	t.Parallel()
	s := cursors[2].Encode(social.FeedCursor, owner)
	for _, text := range []string{
		"", " ", "=", "null", "MA==", s + "=", s + "==", s + "A", " " + s, s + "\n", s[:len(s)-1], s[1:], s + s,
		strings.ToLower(s), strings.Repeat("A", 1<<20), "\x00", "\xff\xfe", "こんにちは", s[:4] + "\n" + s[4:], s[:4] + "+" + s[5:],
	} {
		if text != s {
			refused(t, text, social.FeedCursor, owner)
		}
	}
	for i := range s {
		refused(t, s[:i], social.FeedCursor, owner)
	}
}

func TestRefusedCursorNamesItsArgument(t *testing.T) {
	t.Parallel()
	_, err := social.DecodeCursor("before", "x", social.FeedCursor, owner)
	if e, ok := err.(*social.Error); !ok || e.Field != "before" { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
}

// What is taken is what Encode writes, letter for letter; nothing panics.
func FuzzDecodeCursor(f *testing.F) {
	for _, c := range cursors {
		s := c.Encode(social.FeedCursor, owner)
		raw, _ := base64.RawURLEncoding.DecodeString(s)
		raw[len(raw)/2] ^= 4
		f.Add(s)
		f.Add(s[:len(s)-2])                                // cut short
		f.Add(base64.RawURLEncoding.EncodeToString(raw))   // flipped
		f.Add(c.Encode(social.FollowersCursor, owner))     // another list
		f.Add(c.Encode(social.FeedCursor, owner+1))        // another owner
		f.Add(s + strings.Repeat("=", (4-len(s)%4)%4))     // padded
		f.Add(s[:len(s)-1] + string(s[len(s)-1]+1))        // other bits where none count
		f.Add(base64.RawURLEncoding.EncodeToString([]byte{ // numbers written longer than they are
			0x11, 0x80, 0x00, 0x80, 0x00, 0x80, 0x00, 1, 2, 3, 4}))
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range kinds {
			c, err := social.DecodeCursor("after", s, kind, owner)
			if err == nil && (c.Encode(kind, owner) != s || c.MinTime < 0 || c.Offset < 0 || c.ID < 0) {
				t.Errorf("%q was read as %+v, which is written %q", s, c, c.Encode(kind, owner))
			}
			if err != nil && !social.HasCode(err, social.BadUserInput) {
				t.Errorf("%q: %v", s, err)
			}
		}
	})
}
