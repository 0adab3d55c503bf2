package account

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

func testHasher(t *testing.T) *hasher {
	t.Helper()
	h, err := newHasher(true)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPasswordMatchesItsOwnHash(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	first, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	second, _ := h.hash(t.Context(), "correct horse")
	if first == second {
		t.Error("two hashes of one password are alike: no salt")
	}
	if len(first) > 200 || !strings.HasPrefix(first, "$argon2id$") {
		t.Errorf("got %s", first)
	}
	for password, want := range map[string]bool{"correct horse": true, "Correct horse": false, "correct horse ": false, "": false} {
		if got, err := h.matches(t.Context(), password, first); got != want || err != nil {
			t.Errorf("%q: got %v, %v", password, got, err)
		}
	}
}

// Nobody's password is not even that of the hash that stands in for it.
func TestNobodyMatches(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	for _, password := range []string{"nobody", "", "anything"} {
		if got, err := h.matches(t.Context(), password, ""); got || err != nil {
			t.Errorf("%q: got %v, %v", password, got, err)
		}
	}
	// The stand-in is truly hashed against: a damaged one shows.
	h.nobody = "$argon2id$garbage"
	if _, err := h.matches(t.Context(), "x", ""); err == nil {
		t.Error("an unknown handle costs no hash")
	}
}

func TestDamagedHashIsAnError(t *testing.T) {
	t.Parallel()
	if got, err := testHasher(t).matches(t.Context(), "x", "$argon2id$garbage"); got || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRealHashesTakeWhatOWASPRecommends(t *testing.T) {
	t.Parallel()
	h, err := newHasher(false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(h.nobody, "$argon2id$v=19$m=47104,t=1,p=1$") {
		t.Errorf("got %s", h.nobody)
	}
}

// With every place taken nothing is hashed, for nobody's password either: an unknown
// handle costs its turn and its hash as well.
func TestNoMoreThanTwoPasswordsAreHashedAtOnce(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	known, err := h.hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	var places []func()
	for range maxHashes {
		done, err := h.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, done)
	}
	full, cancel := context.WithCancel(t.Context())
	cancel()
	_, hashed := h.hash(full, "x")
	_, matched := h.matches(full, "correct horse", known)
	_, nobody := h.matches(full, "x", "")
	for what, err := range map[string]error{"hash": hashed, "matches": matched, "matches nobody": nobody} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s did not wait: %v", what, err)
		}
	}

	var all sync.WaitGroup
	ended := make(chan error, 20)
	for range cap(ended) {
		all.Go(func() {
			_, err := h.hash(t.Context(), "correct horse")
			if n := len(h.turns); n > maxHashes {
				t.Errorf("%d at once", n)
			}
			ended <- err
		})
	}
	if len(ended) != 0 {
		t.Error("hashed without a place")
	}
	for _, done := range places {
		done()
	}
	all.Wait()
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(h.turns) != 0 {
		t.Errorf("%d places were not given back", len(h.turns))
	}
}

func TestPlacesAreGivenBackAfterErrors(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	for range 3 * maxHashes {
		_, _ = h.matches(t.Context(), "x", "garbage")
	}
	if len(h.turns) != 0 {
		t.Errorf("%d places are taken", len(h.turns))
	}
}
