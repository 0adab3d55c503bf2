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

func liking(user, blog social.ID, state social.LikeState, since social.Millis) social.Like {
	return social.Like{Pair: social.Pair{UserID: user, TargetID: blog}, State: state, Since: since}
}

// putBrokenLikes writes likes whose sides agree and likes whose sides do not.
func putBrokenLikes(t testing.TB, s *socialtest.Store) {
	t.Helper()
	putLikes(t, s.DB, liking(1, 20, social.Liked, 5), liking(1, 30, social.HiddenLike, 6), liking(2, 20, social.NotLiked, 7))
	write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
		return errors.Join(
			tx.PutLikes(ctx, []social.Like{liking(2, 30, social.Liked, 9)}),
			tx.PutLikers(ctx, []social.Like{liking(1, 30, social.Liked, 6), liking(4, 10, social.Liked, 4)}))
	})
}

func TestLikesAreReadFromBothSidesInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putBrokenLikes(t, s)
		for _, c := range []struct {
			name string
			read func(context.Context, social.Pair, social.ID, int) ([]db.LikeSides, error)
			upTo social.ID
			want []string
		}{
			{"people", s.DB.LikesAfter, math.MaxInt64, []string{"1-20 1@5 1@5", "1-30 2@6 1@6", "2-20 0@7 0@7", "2-30 1@9 none"}},
			{"people up to 1", s.DB.LikesAfter, 1, []string{"1-20 1@5 1@5", "1-30 2@6 1@6"}},
			{"blogs", s.DB.LikersAfter, math.MaxInt64, []string{"4-10 none 1@4", "1-20 1@5 1@5", "2-20 0@7 0@7", "1-30 2@6 1@6"}},
			{"blogs up to 20", s.DB.LikersAfter, 20, []string{"4-10 none 1@4", "1-20 1@5 1@5", "2-20 0@7 0@7"}},
		} {
			for limit := 1; limit <= 5; limit++ {
				equal(t, fmt.Sprint(c.name, " by ", limit), inPieces(t, c.read, c.upTo, limit), c.want)
			}
		}
		sides, err := s.DB.LikeSidesOf(t.Context(), []social.Pair{
			{UserID: 1, TargetID: 30}, {UserID: 2, TargetID: 30}, {UserID: 4, TargetID: 10}, {UserID: 4, TargetID: 20}, {UserID: 30, TargetID: 1}})
		noError(t, err)
		var got []string
		for _, p := range []social.Pair{{UserID: 1, TargetID: 30}, {UserID: 2, TargetID: 30}, {UserID: 4, TargetID: 10}} {
			got = append(got, told(sides[p]))
		}
		equal(t, "of pairs", got, []string{"1-30 2@6 1@6", "2-30 1@9 none", "4-10 none 1@4"})
		equal(t, "with any row", len(sides), 3)
	})
}

// talliesText tells what is counted of blogs, with heats in half-lives from a time.
func talliesText(counted []db.CountedLikes, from social.Millis) (told []string) {
	zero := db.Heat(float64(from) / (6 * 60 * 60 * 1000))
	for _, c := range counted {
		told = append(told, fmt.Sprintf("%d %t %d %.3f, %d %.3f of %.3f",
			c.BlogID, c.HasCount, c.Stored.Likes, c.Stored.Heat-zero, c.Rows.Likes, c.Rows.Heat-zero, c.Most-zero))
	}
	return told
}

func TestLikersAreCountedWithWhatIsStored(t *testing.T) {
	t.Parallel()
	const now, half = social.Millis(1_790_000_000_000), social.Millis(6 * 60 * 60 * 1000)
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putLikes(t, s.DB,
			liking(1, 10, social.Liked, now-half), liking(2, 10, social.Liked, now-half), liking(3, 10, social.NotLiked, now), liking(4, 10, social.HiddenLike, now),
			liking(1, 20, social.NotLiked, now),
			liking(1, 30, social.Liked, now-3000*half), liking(2, 30, social.NotLiked, now))
		var w db.Warmth
		w.Add(now, 1)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			return tx.AddLikeCounts(ctx, []db.LikeCountChange{{BlogID: 10, Likes: 7, Warmth: w}, {BlogID: 40, Likes: 1}})
		})
		counted, err := s.DB.CountLikers(t.Context(), []social.ID{40, 10, 20, 30, 99})
		noError(t, err)
		equal(t, "counted", talliesText(counted, now), []string{
			"40 true 1 -Inf, 0 -Inf of -Inf", "10 true 7 0.000, 2 0.000 of 1.585",
			"20 false 0 -Inf, 0 -Inf of 0.000", "30 false 0 -Inf, 1 -3000.000 of 0.000"})
		for after, want := range map[social.ID][]social.ID{0: {10, 20}, 10: {20, 30}, 30: {40}, 40: nil} {
			ids, err := s.DB.EverLikedAfter(t.Context(), after, 2)
			noError(t, err)
			equal(t, "ever liked", ids, want)
		}
		n, err := s.DB.CountEverLikedAfter(t.Context(), 10)
		noError(t, err)
		equal(t, "counts after", n, 1)
	})
}

func TestLikeCountThatIsThereIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(tx.AddLikeCounts(ctx, []db.LikeCountChange{{BlogID: 10, Likes: 2}}),
				tx.EnsureLikeCount(ctx, 10, 77), tx.EnsureLikeCount(ctx, 20, 77))
		})
		counts, err := s.DB.LikeCounts(t.Context(), []social.ID{10, 20})
		noError(t, err)
		equal(t, "counts", counts, map[social.ID]social.LikeCount{10: {Likes: 2, Version: 1}, 20: {Version: 77}})
	})
}

// What rounding makes of a heat is far less than what is told of as wrong.
func TestHeatThatMovedOftenIsNearThatOfItsRows(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		since := func(i int) social.Millis { return social.Millis(1_790_000_000_000 + i*i*1000) }
		var likes []social.Like
		for i := range 300 {
			likes = append(likes, liking(social.ID(i+1), 10, social.Liked, since(i)))
			var w db.Warmth
			w.Add(since(i), 1)
			if i%3 == 2 { // the one before ends
				w.Add(since(i-1), -1)
				likes[i-1] = liking(social.ID(i), 10, social.NotLiked, since(i))
			}
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				return tx.AddLikeCounts(ctx, []db.LikeCountChange{{BlogID: 10, Likes: 1, Warmth: w}})
			})
		}
		putLikes(t, s.DB, likes...)
		counted, err := s.DB.CountLikers(t.Context(), []social.ID{10})
		noError(t, err)
		if c := counted[0]; !c.Stored.Heat.Near(c.Rows.Heat, c.Most) || c.Stored.Heat.Near(c.Rows.Heat+1e-4, c.Most) {
			t.Errorf("stored %v, rows %v, most %v", c.Stored.Heat, c.Rows.Heat, c.Most)
		}
	})
}

// Looking at likes reads the likes that it looks at, however many there are.
func TestPieceOfLikesReadsNoMoreThanItself(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const blogs, likers, piece = 300, 30, 10
		var likes []social.Like
		for b := range social.ID(blogs) {
			for u := range social.ID(likers) {
				likes = append(likes, liking(u+1, 1000+b, social.Liked, 5))
			}
		}
		putLikes(t, s.DB, likes...)
		s.Exec(t, "INSERT INTO blog_count (blog_id, likes, version) SELECT blog_id, COUNT(*), 1 FROM blog_liker GROUP BY blog_id")
		s.Exec(t, "ANALYZE TABLE blog_like, blog_liker, blog_count")
		for _, at := range []social.ID{999, 1000 + blogs/2, 1000 + blogs - piece - 1} {
			for what, c := range map[string]struct {
				most int
				read func(ctx context.Context, tx *db.Tx) (int, error)
			}{
				"ever liked": {5 * piece * likers, func(ctx context.Context, tx *db.Tx) (int, error) {
					ids, err := tx.EverLikedAfter(ctx, at, piece)
					return len(ids), err
				}},
				"counted": {5 * piece * likers, func(ctx context.Context, tx *db.Tx) (int, error) {
					var ids []social.ID
					for i := range social.ID(piece) {
						ids = append(ids, at+1+i)
					}
					counted, err := tx.CountLikers(ctx, ids)
					return len(counted), err
				}},
				"both sides": {12 * piece, func(ctx context.Context, tx *db.Tx) (int, error) {
					sides, err := tx.LikersAfter(ctx, social.Pair{UserID: math.MaxInt64, TargetID: at}, math.MaxInt64, piece)
					return len(sides), err
				}},
			} {
				n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
					found, err := c.read(ctx, tx)
					equal(t, what, found, piece)
					return err
				})
				if n > c.most {
					t.Errorf("%s after %d read %d rows", what, at, n)
				}
			}
		}
	})
}
