package social_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"kith/social"
)

func newSeal(t testing.TB, secret string) *social.Seal {
	t.Helper()
	s, err := social.NewSeal(secret)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsClosedOpensAndHasOneText(t *testing.T) {
	t.Parallel()
	a, b := newSeal(t, "a secret"), newSeal(t, "a secret")
	for _, c := range cursors {
		want := c.Encode(social.FollowersCursor, owner)
		s := a.Close(want)
		if s != b.Close(want) {
			t.Errorf("%s has two texts", want)
		}
		if got := b.Open(&s); *got != want {
			t.Errorf("got %q, want %q", *got, want)
		}
		if strings.Contains(s, want) || len(want) > 8 && strings.Contains(s, want[4:]) {
			t.Errorf("%s tells %s", s, want)
		}
	}
	if a.Open(nil) != nil {
		t.Error("no cursor is one")
	}
}

// Two cursors that differ by a bit have nothing in common that tells.
func TestSealsOfLikeCursorsDiffer(t *testing.T) {
	t.Parallel()
	s := newSeal(t, "a secret")
	raw := func(c social.Cursor) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s.Close(c.Encode(social.FollowersCursor, owner)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b := raw(social.Cursor{MinTime: 5, ID: 1 << 40}), raw(social.Cursor{MinTime: 5, ID: 1<<40 + 1})
	for i := range len(a) - 4 {
		if bytes.Contains(b, a[i:i+4]) {
			t.Errorf("%x and %x share %x", a, b, a[i:i+4])
		}
	}
}

func TestWhatWasNotSealedHereIsNoCursor(t *testing.T) {
	t.Parallel()
	s, other := newSeal(t, "a secret"), newSeal(t, "another secret")
	plain := cursors[1].Encode(social.FollowersCursor, owner)
	good := s.Close(plain)
	for _, text := range []string{
		"", "A", plain, other.Close(plain), good + "=", good + "A", good + "\n", " " + good, good[:len(good)-1], good[1:], good + good,
		strings.ToLower(good), strings.Repeat("A", 16), strings.Repeat("A", 1<<20), "\x00", "\xff\xfe", good[:4] + "\n" + good[4:],
	} {
		if got := s.Open(&text); *got != "" {
			t.Errorf("%.80q was opened as %q", text, *got)
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(raw) {
		flipped := bytes.Clone(raw)
		flipped[i/8] ^= 1 << (i % 8)
		if text := base64.RawURLEncoding.EncodeToString(flipped); *s.Open(&text) != "" {
			t.Errorf("bit %d", i)
		}
	}
	for i := range 8 * len(good) {
		flipped := []byte(good)
		flipped[i/8] ^= 1 << (i % 8)
		if text := string(flipped); *s.Open(&text) != "" {
			t.Errorf("bit %d of the text", i)
		}
	}
}

// What opens is what was closed, letter for letter; nothing panics.
func FuzzOpen(f *testing.F) {
	s := newSeal(f, "a secret")
	for _, c := range cursors {
		f.Add(s.Close(c.Encode(social.FollowersCursor, owner)))
	}
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if got := *s.Open(&text); got != "" && s.Close(got) != text {
			t.Errorf("%q was opened as %q, which is closed as %q", text, got, s.Close(got))
		}
	})
}
