package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

const (
	following    = social.Following
	notFollowing = social.NotFollowing
)

func followStates(t testing.TB, s *socialtest.Store, pairs ...social.Pair) map[social.Pair]social.FollowState {
	t.Helper()
	edges, err := s.DB.EdgesOf(t.Context(), pairs)
	noError(t, err)
	states := map[social.Pair]social.FollowState{}
	for pair, e := range edges {
		states[pair] = e.State
		equal(t, "pair", e.Pair, pair)
		equal(t, "since", int64(e.Since), s.Int(t, fmt.Sprintf("SELECT since FROM following WHERE user_id = %d AND target_id = %d", pair.UserID, pair.TargetID)))
	}
	return states
}

func TestEdgeIsWrittenThenReplaced(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		pair := social.Pair{UserID: 1, TargetID: 2}
		equal(t, "never", followStates(t, s, pair), map[social.Pair]social.FollowState{})
		for i, state := range []social.FollowState{following, notFollowing, notFollowing, following} {
			since := social.Millis(1000 + i)
			putEdges(t, s.DB, edge(1, 2, state, since))
			equal(t, "state", followStates(t, s, pair)[pair], state)
			equal(t, "since", s.Int(t, "SELECT since FROM following WHERE user_id = 1 AND target_id = 2"), int64(since))
			equal(t, "rows of both sides that agree", s.Int(t, `
				SELECT COUNT(*) FROM following f JOIN follower g ON g.user_id = f.target_id
				AND g.follower_id = f.user_id AND g.state = f.state AND g.since = f.since`), 1)
		}
		equal(t, "rows", s.Int(t, "SELECT COUNT(*) FROM following"), 1)
	})
}

func TestOneWriteInsertsAndReplacesEdges(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB, edge(1, 2, following, 10), edge(1, 3, following, 10))
		putEdges(t, s.DB, edge(1, 3, notFollowing, 20), edge(1, 4, following, 20), edge(5, 2, following, 20))
		equal(t, "states", followStates(t, s, social.Pair{UserID: 1, TargetID: 2}, social.Pair{UserID: 1, TargetID: 3},
			social.Pair{UserID: 1, TargetID: 4}, social.Pair{UserID: 5, TargetID: 2}, social.Pair{UserID: 2, TargetID: 1}),
			map[social.Pair]social.FollowState{{UserID: 1, TargetID: 2}: 1, {UserID: 1, TargetID: 3}: 0,
				{UserID: 1, TargetID: 4}: 1, {UserID: 5, TargetID: 2}: 1})
		equal(t, "untouched since", s.Int(t, "SELECT since FROM following WHERE user_id = 1 AND target_id = 2"), 10)
	})
}

// Pairs are matched as pairs, not as two lists; repeats do no harm.
func TestEdgesOfManyPairs(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var edges []social.Edge
		var ask []social.Pair
		for i := range social.ID(450) {
			edges = append(edges, edge(i+1, 10_000+i, following, 1))
			ask = append(ask, social.Pair{UserID: i + 1, TargetID: 10_000 + i}, social.Pair{UserID: i + 1, TargetID: 10_001 + i})
		}
		putEdges(t, s.DB, edges...)
		equal(t, "pairs asked", len(ask), db.MaxIn)
		equal(t, "found", len(followStates(t, s, ask...)), 450)
		equal(t, "found twice", len(followStates(t, s, ask[0], ask[0])), 1)
		equal(t, "of none", len(followStates(t, s)), 0)
	})
}

func TestActorsAreWrittenUnderTheirLock(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			actors, err := tx.LockActors(ctx, []social.ID{3, 1})
			if err != nil {
				return err
			}
			actors[1].GraphVersion, actors[1].Following = 5, 4
			actors[3].GraphVersion, actors[3].Following = 1<<40, 1
			return tx.PutActors(ctx, []*db.Actor{actors[1], actors[3]})
		})
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			actors, err := tx.LockActors(ctx, []social.ID{1, 2, 3, 4})
			equal(t, "found", len(actors), 3)
			equal(t, "1", *actors[1], db.Actor{UserID: 1, GraphVersion: 5, Following: 4})
			equal(t, "2", *actors[2], db.Actor{UserID: 2})
			equal(t, "3", *actors[3], db.Actor{UserID: 3, GraphVersion: 1 << 40, Following: 1})
			return err
		})
	})
}

func TestCountsMoveBySteps(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		add := func(changes ...db.CountChange) {
			t.Helper()
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.AddCounts(ctx, changes) })
		}
		add(db.CountChange{UserID: 1, Followers: 3, Blogs: 2}, db.CountChange{UserID: 2, Followers: 1})
		add(db.CountChange{UserID: 1, Followers: -1}, db.CountChange{UserID: 9, Blogs: 1}) // 9: without a row before
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			return tx.PutActors(ctx, []*db.Actor{{UserID: 1, GraphVersion: 1, Following: 12}})
		})
		counts, err := s.DB.CountsByID(t.Context(), []social.ID{1, 2})
		noError(t, err)
		equal(t, "1", counts[1], social.Counts{Followers: 2, Following: 12, Blogs: 2})
		equal(t, "2", counts[2], social.Counts{Followers: 1})
		equal(t, "row made anew", s.Int(t, "SELECT blogs FROM user_count WHERE user_id = 9"), 1)
		equal(t, "version", s.Int(t, "SELECT version FROM user_count WHERE user_id = 1"), 2)
	})
}

func TestWritesOfNothingSendNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		before := s.DB.Statements()
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(tx.PutFollowing(ctx, nil), tx.PutFollower(ctx, nil),
				tx.PutActors(ctx, nil), tx.AddCounts(ctx, nil))
		})
		equal(t, "statements", s.DB.Statements()-before, 0)
	})
}

func TestRelationsAreReadBothWays(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB,
			edge(1, 2, following, 1), edge(1, 3, following, 1), edge(3, 1, following, 1),
			edge(4, 1, following, 1), edge(1, 5, notFollowing, 1), edge(5, 1, notFollowing, 1), edge(7, 6, following, 1))
		putEdges(t, s.DB, edge(1, 8, social.Requested, 1), edge(8, 1, social.Hidden, 1), edge(1, 9, following, 1))
		people(t, s.DB, seq(1, 9)...)
		s.Exec(t, "UPDATE user SET status = 1 WHERE id = 9")
		s.Exec(t, "UPDATE user SET is_private = 1 WHERE id = 8")
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			pair := social.Pair{UserID: 1, TargetID: 5}
			return errors.Join(tx.PutBlock(ctx, pair, 1), tx.PutBlock(ctx, social.Pair{UserID: 6, TargetID: 1}, 1), tx.PutMute(ctx, pair, 1),
				tx.PutMute(ctx, social.Pair{UserID: 7, TargetID: 1}, 1), tx.PutBlock(ctx, social.Pair{UserID: 7, TargetID: 6}, 1))
		})
		relations, err := s.DB.Relations(t.Context(), 1, []social.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3})
		noError(t, err)
		equal(t, "relations", relations, map[social.ID]social.Relation{
			1: {IsThere: true}, 2: {IsThere: true, ViewerFollows: true}, 3: {IsThere: true, ViewerFollows: true, FollowsViewer: true},
			4: {IsThere: true, FollowsViewer: true}, 5: {IsThere: true, ViewerBlocks: true, ViewerMutes: true},
			6: {IsThere: true, BlocksViewer: true}, 7: {IsThere: true}, 8: {IsThere: true, IsPrivate: true, ViewerRequested: true}})
		relations, err = s.DB.Relations(t.Context(), 1, nil)
		noError(t, err)
		equal(t, "with none", len(relations), 0)
	})
}

func TestFollowedAreReadWithTheVersionOfTheEdges(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3, 4, 5)
		putEdges(t, s.DB, edge(1, 2, following, 7), edge(1, 3, notFollowing, 1), edge(1, 4, following, 8), edge(2, 5, following, 1))
		s.Exec(t, "UPDATE actor SET graph_version = 9 WHERE user_id = 1")
		version, followed, err := s.DB.Followed(t.Context(), 1)
		noError(t, err)
		slices.SortFunc(followed, func(a, b social.Peer) int { return int(a.ID - b.ID) })
		equal(t, "followed", followed, []social.Peer{{ID: 2, Since: 7}, {ID: 4, Since: 8}})
		equal(t, "version", version, 9)
		version, followed, err = s.DB.Followed(t.Context(), 3)
		noError(t, err)
		equal(t, "of who follows nobody", len(followed), 0)
		equal(t, "version", version, 0)
		version, followed, err = s.DB.Followed(t.Context(), 99)
		noError(t, err)
		equal(t, "of nobody", len(followed)+int(version), 0)
	})
}

func TestFollowersAreReadInAscendingOrderFromOne(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB, edge(5, 1, following, 3), edge(2, 1, following, 9), edge(3, 1, notFollowing, 1),
			edge(4, 1, following, 1), edge(9, 2, following, 1))
		for _, c := range []struct {
			after social.ID
			limit int
			want  []social.ID
		}{{0, 10, []social.ID{2, 4, 5}}, {0, 2, []social.ID{2, 4}}, {4, 2, []social.ID{5}}, {5, 2, nil}} {
			got, err := s.DB.FollowersAfter(t.Context(), 1, c.after, c.limit)
			noError(t, err)
			equal(t, "followers", got, c.want)
		}
	})
}

// MariaDB names the columns of a list of values after its first row.
func TestPairOfEqualIDsIsAPairLikeAnother(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB, edge(5, 6, following, 1))
		edges, err := s.DB.EdgesOf(t.Context(), []social.Pair{{UserID: 5, TargetID: 5}, {UserID: 5, TargetID: 6}})
		noError(t, err)
		equal(t, "edges", edges, map[social.Pair]social.Edge{{UserID: 5, TargetID: 6}: edge(5, 6, following, 1)})
	})
}
