package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// The times of likes here, in ms: a moment, and in how much time heat halves.
const (
	moment = 1_790_000_000_000
	half   = 6 * 60 * 60 * 1000
)

// heat is that of a blog as it is stored.
func heat(t testing.TB, s *socialtest.Store, blog social.ID) (h sql.NullFloat64) {
	t.Helper()
	noError(t, s.SQL.Get(&h, "SELECT heat FROM blog_count WHERE blog_id = ?", blog))
	return h
}

// isHeat checks it against the sum over its likes.
func isHeat(t testing.TB, s *socialtest.Store, what string, blog social.ID, likes []social.Millis) {
	t.Helper()
	newest, sum := slices.Max(append([]social.Millis{0}, likes...)), 0.0
	for _, since := range likes {
		sum += math.Exp2(float64(since-newest) / half)
	}
	got := heat(t, s, blog)
	if want := float64(newest)/half + math.Log2(sum); got.Valid != (len(likes) > 0) || got.Valid && !(math.Abs(got.Float64-want) < 1e-6) {
		t.Errorf("%s: the heat of blog %d is %+v, want %f of %d likes", what, blog, got, want, len(likes))
	}
}

// Likes of three days begin and end in batches: the heat is that of those there are, and of a
// blog without likes there is none.
func TestHeatIsThatOfTheLikesThereAre(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		rng := rand.New(rand.NewPCG(5, 6))
		likes := make([][]social.Millis, 8)
		batch := func(ends func(have int) bool) {
			var changes []db.LikeCountChange
			for blog := range likes {
				c := db.LikeCountChange{BlogID: social.ID(blog + 1)}
				for range rng.IntN(4) {
					if n := len(likes[blog]); n > 0 && ends(n) {
						i := rng.IntN(n)
						c.Likes--
						c.Warmth.Add(likes[blog][i], -1)
						likes[blog] = slices.Delete(likes[blog], i, i+1)
					} else if !ends(0) {
						at := moment - social.Millis(rng.Int64N(12*half))
						c.Likes++
						c.Warmth.Add(at, 1)
						likes[blog] = append(likes[blog], at)
					}
				}
				changes = append(changes, c)
			}
			addLikes(t, s.DB, changes...)
			for blog := range likes {
				if len(likes[blog]) != 1 { // of many, the last may be too small a part to be exact
					isHeat(t, s, "in the middle", social.ID(blog+1), likes[blog])
				}
			}
		}
		for range 40 {
			batch(func(have int) bool { return have > 0 && rng.IntN(5) < 2 })
		}
		for i := 0; i < 200 && s.Int(t, "SELECT COALESCE(SUM(likes), 0) FROM blog_count") > 0; i++ {
			batch(func(int) bool { return true })
		}
		equal(t, "likes left", s.Int(t, "SELECT SUM(likes) FROM blog_count"), 0)
		equal(t, "heat left", s.Int(t, "SELECT COUNT(*) FROM blog_count WHERE heat IS NOT NULL"), 0)
	})
}

// An old like may end as a new one begins, of another person or of the same, years later.
func TestHeatOfLikesYearsApart(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const old = moment - 3*365*4*half
		for blog, order := range map[social.ID][]int{1: {0, 1}, 2: {1, 0}} {
			addLikes(t, s.DB, warmed(blog, 1, old, old))
			isHeat(t, s, "old", blog, []social.Millis{old + half}) // two are one half a day on
			c := db.LikeCountChange{BlogID: blog}
			for _, i := range order {
				c.Warmth.Add([]social.Millis{old, moment}[i], []float64{-1, 1}[i])
			}
			addLikes(t, s.DB, c)
			isHeat(t, s, "one ends, one begins", blog, []social.Millis{old, moment})
			addLikes(t, s.DB, warmed(blog, -1, old))
			isHeat(t, s, "the old one ends", blog, []social.Millis{moment})
			addLikes(t, s.DB, warmed(blog, 1, old), warmed(blog+10, 1, moment, old))
			isHeat(t, s, "an old one is there again", blog, []social.Millis{moment, old})
			addLikes(t, s.DB, warmed(blog, -1, old, moment))
			isHeat(t, s, "all end", blog, nil)
			isHeat(t, s, "another", blog+10, []social.Millis{moment})
		}
	})
}

func TestHotBlogsAreThoseThatEverybodyMaySee(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 1, 2, 3, 4)
		s.Exec(t, "UPDATE user SET is_private = 1 WHERE id = 2")
		s.Exec(t, "UPDATE user SET status = ? WHERE id = 3", social.Suspended)
		s.Exec(t, "UPDATE user SET status = ? WHERE id = 4", social.Deleted)
		for author := range social.ID(4) {
			blogs(t, s.DB, author+1, seq(100*author+101, 100*author+109)...)
		}
		deleteBlog(t, s.DB, 105)
		var changes []db.LikeCountChange
		for author := range social.ID(4) {
			for n := social.ID(1); n <= 8; n++ { // the 9th was never liked; two and two are as hot
				changes = append(changes, warmed(100*author+100+n, 1, moment-social.Millis(n/2)*half))
			}
		}
		changes = append(changes, warmed(999, 1, moment)) // never was
		addLikes(t, s.DB, changes...)
		addLikes(t, s.DB, warmed(103, -1, moment-half))
		want := []social.ID{101, 102, 104, 107, 106, 108}
		hot, err := s.DB.HottestBlogs(t.Context(), 7)
		noError(t, err)
		equal(t, "hottest", hot, want)
		s.Exec(t, "UPDATE user SET is_private = 0, status = ?", social.Active)
		hot, err = s.DB.HottestBlogs(t.Context(), 6)
		noError(t, err)
		equal(t, "of all", hot, []social.ID{401, 301, 201, 101, 403, 402})
		one, err := s.DB.HottestBlogs(t.Context(), 1)
		noError(t, err)
		equal(t, "one", one, []social.ID{401})
	})
}

func TestAHotListIsKeptOnceForItsTime(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		newest := func() db.HotList {
			t.Helper()
			l, err := s.DB.NewestHotList(t.Context())
			noError(t, err)
			if off := time.Since(l.Now.Time()).Abs(); off > time.Hour {
				t.Errorf("the store's clock is off by %v", off)
			}
			l.Now = 0
			return l
		}
		put := func(at, before social.Millis, blogs ...social.ID) {
			t.Helper()
			write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				return tx.PutHotList(ctx, db.HotList{At: at, Blogs: blogs}, before)
			})
		}
		isAt := func(at social.Millis, blogs ...social.ID) {
			t.Helper()
			l, err := s.DB.HotListAt(t.Context(), at)
			noError(t, err)
			equal(t, fmt.Sprint("at ", at), l, db.HotList{At: at, Blogs: blogs})
		}
		gone := func(at social.Millis) {
			t.Helper()
			_, err := s.DB.HotListAt(t.Context(), at)
			hasCode(t, err, social.NotFound)
		}
		equal(t, "none", newest(), db.HotList{})
		put(20, 0, 1<<63-1, 5, 0x80)
		put(20, 0, 6)
		isAt(20, 1<<63-1, 5, 0x80)
		put(10, 0)
		isAt(10)
		equal(t, "newest", newest(), db.HotList{At: 20, Blogs: []social.ID{1<<63 - 1, 5, 0x80}})
		gone(15)
		put(30, 20, seq(1, 1000)...)
		gone(10)
		isAt(20, 1<<63-1, 5, 0x80)
		isAt(30, seq(1, 1000)...)
		s.Exec(t, "UPDATE hot_list SET blogs = x'0102030405' WHERE at = 20")
		if _, err := s.DB.HotListAt(t.Context(), 20); err == nil {
			t.Error("a list that is cut within an id is read")
		}
	})
}
