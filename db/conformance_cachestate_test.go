package db_test

import (
	"testing"

	"kith/db"
	"kith/socialtest"
)

func TestCachesAreOffInEpoch0UntilSwitchedOn(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		parts, err := s.DB.CacheParts(t.Context())
		noError(t, err)
		equal(t, "partitions", len(parts), 64)
		for i, p := range parts {
			equal(t, "partition", p, db.CachePart{Part: i})
		}
	})
}

func TestCachesAreSwitchedOnlyFromTheEpochThatWasSeen(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		state := func(part int) db.CachePart {
			parts, err := s.DB.CacheParts(t.Context())
			noError(t, err)
			return parts[part]
		}
		on := func(parts ...db.CachePart) { noError(t, s.DB.SwitchCachesOn(t.Context(), parts)) }
		off := func(parts ...db.CachePart) { noError(t, s.DB.SwitchCachesOff(t.Context(), parts)) }
		on()
		off()
		on(db.CachePart{Part: 3}, db.CachePart{Part: 4}, db.CachePart{Part: 5, Epoch: 1})
		equal(t, "3", state(3), db.CachePart{Part: 3, Epoch: 1, On: true})
		equal(t, "4", state(4), db.CachePart{Part: 4, Epoch: 1, On: true})
		equal(t, "5, of another epoch", state(5), db.CachePart{Part: 5})
		on(state(3)) // it is on
		equal(t, "3", state(3), db.CachePart{Part: 3, Epoch: 1, On: true})
		off(db.CachePart{Part: 3})
		equal(t, "3, of an old epoch", state(3), db.CachePart{Part: 3, Epoch: 1, On: true})
		off(state(3), state(4))
		off(state(3))
		equal(t, "3", state(3), db.CachePart{Part: 3, Epoch: 1})
		on(state(3), db.CachePart{Part: 4})
		equal(t, "3", state(3), db.CachePart{Part: 3, Epoch: 2, On: true})
		equal(t, "4, of an old epoch", state(4), db.CachePart{Part: 4, Epoch: 1})
	})
}
