package db_test

import (
	"testing"

	"kith/social"
	"kith/socialtest"
)

func TestShownAreFollowsThatStandAndAreNotMuted(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB, edge(1, 2, social.Following, 5), edge(1, 3, social.Hidden, 5), edge(1, 4, social.Requested, 5),
			edge(1, 5, social.NotFollowing, 5), edge(1, 6, social.Following, 5), edge(6, 1, social.Following, 5))
		s.Exec(t, "INSERT INTO mute (user_id, target_id, since) VALUES (1, 6, 5), (2, 1, 5)")
		var pairs []social.Pair
		for id := social.ID(2); id <= 900; id++ {
			pairs = append(pairs, social.Pair{UserID: 1, TargetID: id})
		}
		pairs = append(pairs, social.Pair{UserID: 6, TargetID: 1})
		got, err := s.DB.Shown(t.Context(), pairs)
		noError(t, err)
		equal(t, "shown", got, map[social.Pair]bool{{UserID: 1, TargetID: 2}: true, {UserID: 1, TargetID: 3}: true, {UserID: 6, TargetID: 1}: true})
		got, err = s.DB.Shown(t.Context(), nil)
		noError(t, err)
		equal(t, "of none", got, map[social.Pair]bool{})
	})
}

func TestTheOldestEventThatWaits(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		oldest := func(what string, want social.Millis) {
			t.Helper()
			got, err := s.DB.OldestWaiting(t.Context(), "a")
			noError(t, err)
			equal(t, what, got, want)
		}
		oldest("no events", 0)
		putEvents(t, s, 3)
		s.Exec(t, "UPDATE outbox SET created_at = 100 * seq")
		oldest("never seen", 100)
		claimed(t, s.DB, "a", "x")
		claimed(t, s.DB, "b", "x")
		oldest("begun", 100)
		advanced(t, s.DB, "x", 0, 2)
		oldest("one left", 300)
		if s.DB.Lanes() > 1 {
			s.Exec(t, "INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES (1, 1, 'user', '{}', 250)")
			oldest("of another lane", 250)
			s.Exec(t, "UPDATE consumed SET position = 1 WHERE lane = 1 AND consumer = 'a'")
		}
		advanced(t, s.DB, "x", 2, 3)
		oldest("all passed, not by the other", 0)
	})
}
