package db_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// told writes an edge as both sides have it.
func told[S ~int8](e db.Sides[S]) string {
	side := func(s *db.Side[S]) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprintf("%d@%d", s.State, s.Since)
	}
	text := fmt.Sprintf("%d-%d %s %s", e.UserID, e.TargetID, side(e.Own), side(e.Mirror))
	if e.Blocked {
		text += " blocked"
	}
	return text
}

// inPieces reads all there is and tells it.
func inPieces[S ~int8](t testing.TB, read func(context.Context, social.Pair, social.ID, int) ([]db.Sides[S], error), upTo social.ID, limit int) (got []string) {
	t.Helper()
	for after := (social.Pair{}); ; {
		piece, err := read(t.Context(), after, upTo, limit)
		noError(t, err)
		for _, e := range piece {
			got, after = append(got, told(e)), e.Pair
		}
		if len(piece) < limit {
			return got
		}
	}
}

// putBroken writes edges whose sides agree and edges whose sides do not.
func putBroken(t testing.TB, s *socialtest.Store) {
	t.Helper()
	putEdges(t, s.DB, edge(1, 2, following, 5), edge(1, 3, social.Requested, 6), edge(2, 1, notFollowing, 7), edge(3, 1, following, 8))
	write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
		return errors.Join(
			tx.PutFollowing(ctx, []social.Edge{edge(2, 3, following, 9)}),
			tx.PutFollower(ctx, []social.Edge{edge(1, 3, following, 6), edge(4, 1, social.Hidden, 4)}),
			tx.PutBlock(ctx, social.Pair{UserID: 1, TargetID: 3}, 1), tx.PutBlock(ctx, social.Pair{UserID: 2, TargetID: 1}, 1))
	})
}

func TestEdgesAreReadFromBothSidesInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putBroken(t, s)
		type reader func(context.Context, social.Pair, social.ID, int) ([]db.EdgeSides, error)
		for _, c := range []struct {
			name string
			read reader
			upTo social.ID
			want []string
		}{
			{"owners", s.DB.EdgesAfter, math.MaxInt64, []string{
				"1-2 1@5 1@5 blocked", "1-3 2@6 1@6 blocked", "2-1 0@7 0@7 blocked", "2-3 1@9 none", "3-1 1@8 1@8 blocked"}},
			{"owners up to 2", s.DB.EdgesAfter, 2, []string{
				"1-2 1@5 1@5 blocked", "1-3 2@6 1@6 blocked", "2-1 0@7 0@7 blocked", "2-3 1@9 none"}},
			{"targets", s.DB.MirrorsAfter, math.MaxInt64, []string{
				"2-1 0@7 0@7 blocked", "3-1 1@8 1@8 blocked", "4-1 none 3@4", "1-2 1@5 1@5 blocked", "1-3 2@6 1@6 blocked"}},
			{"targets up to 1", s.DB.MirrorsAfter, 1, []string{
				"2-1 0@7 0@7 blocked", "3-1 1@8 1@8 blocked", "4-1 none 3@4"}},
		} {
			for limit := 1; limit <= 6; limit++ {
				equal(t, fmt.Sprint(c.name, " by ", limit), inPieces(t, c.read, c.upTo, limit), c.want)
			}
		}
	})
}

func TestSidesOfPairsAreReadFromBothTables(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putBroken(t, s)
		sides, err := s.DB.SidesOf(t.Context(), []social.Pair{
			{UserID: 1, TargetID: 3}, {UserID: 2, TargetID: 3}, {UserID: 4, TargetID: 1}, {UserID: 1, TargetID: 4}, {UserID: 2, TargetID: 1}})
		noError(t, err)
		for pair, want := range map[social.Pair]string{
			{UserID: 1, TargetID: 3}: "1-3 2@6 1@6", {UserID: 2, TargetID: 3}: "2-3 1@9 none",
			{UserID: 4, TargetID: 1}: "4-1 none 3@4", {UserID: 2, TargetID: 1}: "2-1 0@7 0@7",
		} {
			equal(t, "sides", told(sides[pair]), want)
		}
		equal(t, "with any row", len(sides), 4)
		sides, err = s.DB.SidesOf(t.Context(), nil)
		noError(t, err)
		equal(t, "of none", len(sides), 0)
	})
}

func TestStoredCountsAreReadWithTheRowsCounted(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3)
		putEdges(t, s.DB, edge(1, 2, following, 1), edge(1, 3, social.Requested, 1), edge(1, 4, social.Hidden, 1), edge(1, 5, notFollowing, 1),
			edge(2, 1, following, 1), edge(3, 1, following, 1), edge(4, 1, social.Requested, 1), edge(5, 1, social.Hidden, 1))
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(
				tx.PutActors(ctx, []*db.Actor{{UserID: 1, GraphVersion: 9, Following: 11, Pending: 12, Blocking: 13, Muting: 14}}),
				tx.AddCounts(ctx, []db.CountChange{{UserID: 1, Followers: 15, Requests: 16, Blogs: 17}}),
				tx.PutBlock(ctx, social.Pair{UserID: 1, TargetID: 7}, 1), tx.PutBlock(ctx, social.Pair{UserID: 7, TargetID: 1}, 1),
				tx.PutMute(ctx, social.Pair{UserID: 1, TargetID: 8}, 1), tx.PutMute(ctx, social.Pair{UserID: 1, TargetID: 9}, 1),
				tx.InsertBlog(ctx, &social.Blog{ID: 20, AuthorID: 1}), tx.InsertBlog(ctx, &social.Blog{ID: 21, AuthorID: 1}), tx.MarkBlogDeleted(ctx, 20))
		})
		s.Exec(t, "DELETE FROM actor WHERE user_id = 2")
		s.Exec(t, "DELETE FROM user_count WHERE user_id = 3")
		s.Exec(t, "UPDATE user SET status = 1 WHERE id = 3")
		counted, err := s.DB.CountRows(t.Context(), []social.ID{3, 1, 2, 99})
		noError(t, err)
		equal(t, "counted", counted, []db.Counted{
			{UserID: 1, HasActor: true, HasCounts: true,
				Stored: db.Tally{Following: 11, Pending: 12, Blocking: 13, Muting: 14, Followers: 15, Requests: 16, Blogs: 17},
				Rows:   db.Tally{Following: 1, Pending: 2, Blocking: 1, Muting: 2, Followers: 2, Requests: 1, Blogs: 1}},
			{UserID: 2, HasCounts: true, Rows: db.Tally{Following: 1, Followers: 1}},
			{UserID: 3, HasActor: true, Rows: db.Tally{Following: 1, Requests: 1}},
		})
	})
}

func TestActorThatIsThereIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2)
		s.Exec(t, "UPDATE actor SET graph_version = 5, following = 4 WHERE user_id = 1")
		s.Exec(t, "DELETE FROM actor WHERE user_id = 2")
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			if err := errors.Join(tx.EnsureActor(ctx, 1, 77), tx.EnsureActor(ctx, 2, 77)); err != nil {
				return err
			}
			actors, err := tx.LockActors(ctx, []social.ID{1, 2})
			equal(t, "there before", *actors[1], db.Actor{UserID: 1, GraphVersion: 5, Following: 4})
			equal(t, "made", *actors[2], db.Actor{UserID: 2, GraphVersion: 77})
			return err
		})
	})
}

func TestEverybodyIsReadInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 2, 4, 6)
		s.Exec(t, "UPDATE user SET status = 2 WHERE id = 4")
		for _, c := range []struct {
			after social.ID
			limit int
			want  []social.ID
			left  int64
		}{{0, 2, []social.ID{2, 4}, 3}, {2, 9, []social.ID{4, 6}, 2}, {6, 9, nil, 0}} {
			ids, err := s.DB.UsersAfter(t.Context(), c.after, c.limit)
			noError(t, err)
			equal(t, "ids", ids, c.want)
			n, err := s.DB.CountUsersAfter(t.Context(), c.after)
			noError(t, err)
			equal(t, "left", n, c.left)
		}
		handles, err := s.DB.Handles(t.Context(), []social.ID{4, 6, 7})
		noError(t, err)
		equal(t, "handles", handles, map[social.ID]string{4: "user4", 6: "user6"})
	})
}

func TestPositionsOfAConsumerAreReadByLane(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		s.Exec(t, `INSERT INTO consumed (consumer, lane, position, holder, held_until) VALUES ('a', 0, 8, '', 0), ('b', 0, 3, '', 0)`)
		for consumer, want := range map[string]map[int]int64{"a": {0: 8}, "b": {0: 3}, "c": {}} {
			got, err := s.DB.ConsumerPositions(t.Context(), consumer)
			noError(t, err)
			equal(t, consumer, got, want)
		}
	})
}

// A piece deep in the list of somebody with 10,000 followers costs what the first costs.
func TestPieceOfEdgesReadsNoMoreThanItself(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const entries, size = 10_000, 100
		var edges []social.Edge
		for i := range social.ID(entries) {
			edges = append(edges, edge(1, 10+i, following, 1), edge(10+i, 1, following, 1))
		}
		putEdges(t, s.DB, edges...)
		s.Exec(t, "ANALYZE TABLE following, follower, block")
		for _, from := range []social.ID{0, entries / 2, entries - size} {
			for name, read := range map[string]func(tx *db.Tx) func(context.Context, social.Pair, social.ID, int) ([]db.EdgeSides, error){
				"owners": func(tx *db.Tx) func(context.Context, social.Pair, social.ID, int) ([]db.EdgeSides, error) {
					return tx.EdgesAfter
				},
				"targets": func(tx *db.Tx) func(context.Context, social.Pair, social.ID, int) ([]db.EdgeSides, error) {
					return tx.MirrorsAfter
				},
			} {
				after := social.Pair{UserID: 1, TargetID: 9 + from}
				if name == "targets" {
					after = after.Reversed()
				}
				n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
					piece, err := read(tx)(ctx, after, 1, size)
					equal(t, "edges", len(piece), size)
					return err
				})
				if n > 12*size {
					t.Errorf("%s from %d read %d rows", name, from, n)
				}
			}
		}
	})
}
