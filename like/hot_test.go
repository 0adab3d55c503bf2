package like_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/like"
	"kith/social"
	"kith/socialtest"
)

// hot reads a page of two of the hot blogs through a server that has kept nothing in process.
func hot(t testing.TB, d *db.DB, s *socialtest.Store, from social.Cursor) social.Part[like.Ranked] {
	t.Helper()
	part, err := server(d, s).Hot(t.Context(), social.Page{Limit: 2, From: from})
	noError(t, err)
	return part
}

// isHot checks the blogs of a page, and gives the cursor of the last.
func isHot(t testing.TB, what string, part social.Part[like.Ranked], next bool, want ...social.ID) (last social.Cursor) {
	t.Helper()
	var got []social.ID
	for _, r := range part.Items {
		got, last = append(got, r.BlogID), r.Cursor
	}
	equal(t, what, got, want)
	equal(t, what+": it goes on", part.HasNext, next)
	return last
}

// later makes all hot lists older, and gives a cursor of one of them as if it had been so then.
func later(t testing.TB, s *socialtest.Store, by time.Duration, c social.Cursor) social.Cursor {
	t.Helper()
	s.Exec(t, "UPDATE hot_list SET at = at - ?", by.Milliseconds())
	c.MinTime -= social.Millis(by.Milliseconds())
	return c
}

// A list is the same on all servers and stays as it was made, whatever happens to its blogs,
// for as long as its pages can be read.
func TestAHotListIsPagedAsItWasMade(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		b := people(t, s, 6, 1, 1, 1, 1, 1)
		other := s.OpenServer(t)
		likes := func(blog social.ID, many social.ID) {
			for who := social.ID(1); who <= many; who++ {
				_, err := server(s.DB, s).Like(t.Context(), who, blog)
				noError(t, err)
			}
		}
		isHot(t, "nothing is liked", hot(t, s.DB, s, social.Cursor{}), false)
		later(t, s, 10*time.Second, social.Cursor{})
		for i, blog := range b[1:] {
			likes(blog, social.ID(i+1))
		}
		hot(t, s.DB, s, social.Cursor{})
		later(t, s, -time.Minute, social.Cursor{}) // so that no other is due before it is to be
		last := isHot(t, "first", hot(t, s.DB, s, social.Cursor{}), true, b[4], b[3])
		likes(b[0], 6)
		isHot(t, "first of another server", hot(t, other, s, social.Cursor{}), true, b[4], b[3])
		end := isHot(t, "second of another server", hot(t, other, s, last), false, b[2], b[1])
		isHot(t, "behind the end", hot(t, s.DB, s, end), false)
		end.Offset = 99
		isHot(t, "far behind the end", hot(t, s.DB, s, end), false)

		last = later(t, s, time.Minute+10*time.Second, last)
		isHot(t, "the next list", hot(t, s.DB, s, social.Cursor{}), true, b[0], b[4])
		isHot(t, "second of the list before", hot(t, other, s, last), false, b[2], b[1])
		equal(t, "lists kept", s.Int(t, "SELECT COUNT(*) FROM hot_list"), 3)

		last = later(t, s, time.Hour+time.Minute, last)
		isHot(t, "an hour later", hot(t, other, s, social.Cursor{}), true, b[0], b[4])
		equal(t, "lists kept an hour later", s.Int(t, "SELECT COUNT(*) FROM hot_list"), 1)
		_, err := server(s.DB, s).Hot(t.Context(), social.Page{Limit: 2, From: last})
		if !social.HasCode(err, social.BadUserInput) {
			t.Errorf("of a list that is not kept: %v", err)
		}
	})
}

// Two servers that make the list of one time at once, each from what was so as it read, answer
// with one and the same.
func TestHotListsMadeAtOnceAreTheSame(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		b := people(t, s, 3, 1, 1)
		other := s.OpenServer(t)
		for i, blog := range b {
			_, err := server(s.DB, s).Like(t.Context(), social.ID(i+1), blog)
			noError(t, err)
		}
		for range 20 {
			later(t, s, time.Hour, social.Cursor{})
			var lists [6]social.Part[like.Ranked]
			var all sync.WaitGroup
			for i := range lists {
				all.Go(func() {
					s.Exec(t, "UPDATE blog_count SET heat = heat + ? WHERE blog_id = ?", 1+rand.IntN(9), b[i%len(b)])
					lists[i] = hot(t, []*db.DB{s.DB, other}[i%2], s, social.Cursor{})
				})
			}
			all.Wait()
			at := map[social.Millis][]like.Ranked{}
			for _, l := range lists {
				if len(l.Items) != len(b) {
					t.Fatalf("a list of %d, want %d", len(l.Items), len(b))
				}
				made := l.Items[0].Cursor.MinTime
				if at[made] == nil {
					at[made] = l.Items
				}
				equal(t, "a list of one time", l.Items, at[made])
			}
		}
	})
}

// Whoever likes an old blog and takes that back leaves it as hot as it was.
func TestATakenBackLikeLeavesTheHeatOfOldOnes(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{time.Hour, 7 * 24 * time.Hour, 8 * 24 * time.Hour, 3 * 365 * 24 * time.Hour} {
		t.Run(age.String(), func(t *testing.T) {
			t.Parallel()
			socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
				b := people(t, s, 4, 1, 1, 1)
				l := server(s.DB, s)
				do := func(do func(context.Context, social.ID, social.ID) (bool, error), who, blog social.ID) {
					t.Helper()
					_, err := do(t.Context(), who, blog)
					noError(t, err)
				}
				heat := func() (h float64) {
					noError(t, s.SQL.Get(&h, "SELECT COALESCE(heat, 0) FROM blog_count WHERE blog_id = ?", b[0]))
					return h
				}
				do(l.Like, 2, b[0])
				s.Clock.Advance(time.Hour)
				do(l.Like, 4, b[0])
				do(l.Like, 4, b[1])
				before := heat()
				s.Clock.Advance(age)
				do(l.Like, 3, b[0])
				do(l.Like, 3, b[2])
				do(l.Unlike, 3, b[0])
				do(l.Unlike, 3, b[2])
				if after := heat(); math.Abs(after-before) > 0.01 {
					t.Errorf("heat %f, before %f", after, before)
				}
				isHot(t, "hot", hot(t, s.DB, s, social.Cursor{}), false, b[0], b[1])
				s.CheckInvariants(t)
			})
		})
	}
}
