package db_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

const liked, notLiked, hiddenLike = social.Liked, social.NotLiked, social.HiddenLike

func like(user, blog social.ID, state social.LikeState, since social.Millis) social.Like {
	return social.Like{Pair: social.Pair{UserID: user, TargetID: blog}, State: state, Since: since}
}

// putLikes writes likes from both sides.
func putLikes(t testing.TB, d *db.DB, likes ...social.Like) {
	t.Helper()
	for chunk := range slices.Chunk(likes, 2000) {
		write(t, d, func(ctx context.Context, tx *db.Tx) error {
			slices.SortFunc(chunk, func(a, b social.Like) int { return a.Compare(b.Pair) })
			if err := tx.PutLikes(ctx, chunk); err != nil {
				return err
			}
			slices.SortFunc(chunk, func(a, b social.Like) int { return a.Reversed().Compare(b.Reversed()) })
			return tx.PutLikers(ctx, chunk)
		})
	}
}

func TestLikesComeBackAsTheyWereWrittenLast(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const far = 1<<63 - 1
		putLikes(t, s.DB, like(1, 10, liked, 5), like(1, 11, liked, 6), like(2, 10, hiddenLike, 7), like(far, far-1, liked, 8))
		putLikes(t, s.DB, like(1, 11, notLiked, 9), like(3, 12, notLiked, 9))
		pairs := []social.Pair{{UserID: far, TargetID: far - 1}, {UserID: 1, TargetID: 10}, {UserID: 1, TargetID: 10}, {UserID: 1, TargetID: 11},
			{UserID: 2, TargetID: 10}, {UserID: 3, TargetID: 12}, {UserID: 10, TargetID: 1}, {UserID: 2, TargetID: 11}}
		found, err := s.DB.LikesOf(t.Context(), pairs)
		noError(t, err)
		equal(t, "likes", found, map[social.Pair]social.Like{
			{UserID: far, TargetID: far - 1}: like(far, far-1, liked, 8), {UserID: 1, TargetID: 10}: like(1, 10, liked, 5),
			{UserID: 1, TargetID: 11}: like(1, 11, notLiked, 9), {UserID: 2, TargetID: 10}: like(2, 10, hiddenLike, 7),
			{UserID: 3, TargetID: 12}: like(3, 12, notLiked, 9),
		})
		none, err := s.DB.LikesOf(t.Context(), nil)
		noError(t, err)
		equal(t, "of no pairs", len(none), 0)

		for who, want := range map[social.ID][]social.ID{1: {10}, 2: nil, 3: nil, far: {far - 1}} {
			among, err := s.DB.LikedAmong(t.Context(), who, []social.ID{10, 11, 12, 13, far - 1, 10})
			noError(t, err)
			equal(t, fmt.Sprint("liked by ", who), sorted(among), want)
		}
		among, err := s.DB.LikedAmong(t.Context(), 1, nil)
		noError(t, err)
		equal(t, "among none", len(among), 0)
		equal(t, "sides that differ", s.Int(t, `SELECT COUNT(*) FROM blog_like l LEFT JOIN blog_liker r
			ON r.blog_id = l.blog_id AND r.user_id = l.user_id AND r.state = l.state AND r.since = l.since WHERE r.user_id IS NULL`), 0)
	})
}

// Likes full of ties, in pages of every size and from both sides; the newest of them too.
func TestListsOfLikesArePagedExactlyAtEverySize(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		rng := rand.New(rand.NewPCG(3, 4))
		likers, blogs := map[social.ID][]social.Peer{}, map[social.ID][]social.Peer{}
		var likes []social.Like
		people(t, s.DB, seq(1, 12)...)
		for who := social.ID(1); who <= 12; who++ {
			for blog := social.ID(101); blog <= 112; blog++ {
				l := like(who, blog, []social.LikeState{liked, liked, liked, notLiked, hiddenLike}[rng.IntN(5)], social.Millis(1_700_000_000_000+rng.Int64N(4)))
				if likes = append(likes, l); l.State == liked {
					likers[blog] = append(likers[blog], social.Peer{ID: who, Since: l.Since})
					blogs[who] = append(blogs[who], social.Peer{ID: blog, Since: l.Since})
				}
			}
		}
		putLikes(t, s.DB, likes...)
		for name, l := range map[string]struct {
			read func(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error)
			want map[social.ID][]social.Peer
		}{"likers": {s.DB.Likers, likers}, "liked blogs": {s.DB.LikedBlogs, blogs}} {
			for owner, want := range l.want {
				slices.SortFunc(want, latestFirst)
				for size := 1; size <= len(want)+1; size++ {
					pg := social.Page{Limit: size}
					var all []social.Peer
					for more := true; more; {
						peers, err := page(t.Context(), l.read, owner, pg)
						noError(t, err)
						part := social.Cut(pg, peers)
						if all, more = append(all, part.Items...), part.HasNext; more {
							pg.From = part.Items[len(part.Items)-1].Cursor()
						}
					}
					equal(t, fmt.Sprintf("%s of %d by %d", name, owner, size), all, want)
				}
			}
		}
		s.Exec(t, "UPDATE actor SET like_version = 1000000 + user_id")
		for who, want := range blogs {
			for _, limit := range []int{1, 2, len(want), len(want) + 1, 100_000} {
				version, newest, err := s.DB.NewestLikes(t.Context(), who, limit)
				noError(t, err)
				equal(t, "version", version, 1_000_000+int64(who))
				equal(t, fmt.Sprint("newest ", limit, " of ", who), newest, want[:min(limit, len(want))])
			}
		}
		version, newest, err := s.DB.NewestLikes(t.Context(), 99, 10)
		noError(t, err)
		equal(t, "of nobody", fmt.Sprint(version, newest), "0 []")
	})
}

func TestLikeCountsMoveAndTheirVersionsRise(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		add := func(changes ...db.LikeCountChange) {
			t.Helper()
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.AddLikeCounts(ctx, changes) })
		}
		add(db.LikeCountChange{BlogID: 1, Likes: 5}, db.LikeCountChange{BlogID: 2, Likes: 0}, db.LikeCountChange{BlogID: 1<<63 - 1, Likes: 1})
		add(db.LikeCountChange{BlogID: 1, Likes: -2}, db.LikeCountChange{BlogID: 3, Likes: 1})
		add(db.LikeCountChange{BlogID: 1, Likes: 0})
		counts, err := s.DB.LikeCounts(t.Context(), []social.ID{1, 2, 3, 4, 1<<63 - 1, 1})
		noError(t, err)
		equal(t, "counts", counts, map[social.ID]social.LikeCount{
			1: {Likes: 3, Version: 3}, 2: {Likes: 0, Version: 1}, 3: {Likes: 1, Version: 1}, 1<<63 - 1: {Likes: 1, Version: 1}})
		none, err := s.DB.LikeCounts(t.Context(), nil)
		noError(t, err)
		equal(t, "of no blogs", len(none), 0)
	})
}

func TestLikesToSettleAreThoseThatDoNotMatchTheStatus(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putLikes(t, s.DB, like(1, 10, liked, 1), like(1, 11, hiddenLike, 1), like(1, 12, notLiked, 1), like(1, 13, liked, 1), like(2, 14, liked, 1))
		for status, want := range map[social.UserStatus][]social.ID{
			social.Active: {11}, social.Suspended: {10, 13}, social.Deleted: {10, 11, 13},
		} {
			for limit := 1; limit <= len(want)+1; limit++ {
				pairs, err := s.DB.LikesToSettle(t.Context(), 1, status, limit)
				noError(t, err)
				equal(t, "number", len(pairs), min(limit, len(want)))
				for _, p := range pairs {
					if p.UserID != 1 || !slices.Contains(want, p.TargetID) {
						t.Errorf("status %d: %+v", status, p)
					}
				}
			}
		}
	})
}

func TestAuthorshipsAreOfDeletedBlogsToo(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10, 11)
		blogs(t, s.DB, 2, 20)
		deleteBlog(t, s.DB, 11)
		found, err := s.DB.Authorships(t.Context(), []social.ID{20, 10, 11, 99, 10})
		noError(t, err)
		equal(t, "authorships", found, map[social.ID]db.Authorship{10: {AuthorID: 1}, 11: {AuthorID: 1, Deleted: true}, 20: {AuthorID: 2}})
		found, err = s.DB.Authorships(t.Context(), nil)
		noError(t, err)
		equal(t, "of none", len(found), 0)
	})
}

// warmed is a change of a count by likes that began at these times, or with n -1 ended.
func warmed(blog social.ID, n float64, since ...social.Millis) db.LikeCountChange {
	c := db.LikeCountChange{BlogID: blog, Likes: int64(n) * int64(len(since))}
	for _, at := range since {
		c.Warmth.Add(at, n)
	}
	return c
}

// addLikes moves counts, whatever their order.
func addLikes(t testing.TB, d *db.DB, changes ...db.LikeCountChange) {
	t.Helper()
	slices.SortFunc(changes, func(a, b db.LikeCountChange) int { return cmp.Compare(a.BlogID, b.BlogID) })
	write(t, d, func(ctx context.Context, tx *db.Tx) error { return tx.AddLikeCounts(ctx, changes) })
}
