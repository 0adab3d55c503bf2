package like_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kith/cache"
	"kith/like"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// cached is a server over caches in process that are on; size likes of each are kept there.
func cached(t testing.TB, s *socialtest.Store, size int) (*like.Likes, *rdb.Redis) {
	t.Helper()
	r, err := rdb.Open(rdb.Config{})
	noError(t, err)
	// It believes for an hour what it has read of their state, and reads it no more.
	caches := cache.New(s.DB, r, quiet(), cache.Config{Trust: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cache.NewGuard(caches.State).Run(ctx) }()
	t.Cleanup(func() { cancel(); noError(t, <-ended); noError(t, r.Close()) })
	tick, end := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for {
		if _, on := caches.Epoch(rdb.Parts - 1); on {
			return like.New(s.DB, caches, s.Clock.Now, like.Config{Kept: size}), r
		}
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("the caches do not come on")
		}
	}
}

// letters is a letter for each blog, as they were asked: y for liked, n for not, and how many do.
func letters(counts map[social.ID]social.LikeCount, liked map[social.ID]bool, blogs []social.ID) string {
	var b strings.Builder
	for _, id := range blogs {
		mark := "n"
		if liked[id] {
			mark = "y"
		}
		fmt.Fprint(&b, mark, counts[id].Likes, " ")
	}
	return strings.TrimSpace(b.String())
}

// Counts and what the viewer likes come from SQL where nothing is in Redis, then in one trip;
// of likes that are not kept there, those that its filter does not rule out cost a statement.
func TestCountsAndWhatIsLikedComeInOneTrip(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		b := people(t, s, 3, 1, 1, 1, 1, 1, 1)
		l, r := cached(t, s, 2)
		do := func(do func(context.Context, social.ID, social.ID) (bool, error), who, blog social.ID) {
			s.Clock.Advance(time.Millisecond)
			_, err := do(t.Context(), who, blog)
			noError(t, err)
		}
		for _, blog := range b[1:5] {
			do(l.Like, 2, blog)
		}
		do(l.Like, 3, b[4])
		do(l.Unlike, 2, b[3])
		do(l.Like, 2, b[0])
		both := func(what string, viewer social.ID, blogs []social.ID, want string, trips, statements int64) {
			t.Helper()
			sent, asked := r.Commands(), s.DB.Statements()
			counts, liked, err := l.Both(t.Context(), viewer, blogs)
			noError(t, err)
			equal(t, what, letters(counts, liked, blogs), want)
			equal(t, what+": trips and statements", []int64{r.Commands() - sent, s.DB.Statements() - asked}, []int64{trips, statements})
		}
		const all = "y1 y1 y1 n0 y2 n0"
		both("cold", 2, b, all, 3, 2) // and each is stored
		both("below the floor", 2, b, all, 1, 1)
		both("kept", 2, []social.ID{b[0], b[4], b[0]}, "y1 y2 y1", 1, 0)
		do(l.Unlike, 2, b[4])
		do(l.Unlike, 2, b[1])
		both("of what was just unliked", 2, b, "y1 n0 y1 n0 n1 n0", 1, 1)
		both("somebody else", 3, b, "n1 n0 n1 n0 y1 n0", 2, 1)
		both("nobody", 0, b, strings.ReplaceAll("y1 n0 y1 n0 n1 n0", "y", "n"), 1, 0)
		both("nothing", 2, nil, "", 0, 0)
	})
}

// A reading that fills reads no more than it may: what is beyond is asked by itself.
func TestWhatIsBeyondTheFillingIsStillLiked(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 2)
		l, _ := cached(t, s, 1)
		const many = 1 + rdb.MaxLikes + 3
		for from := 1; from <= many; from += 5000 {
			var rows []string
			for i := from; i < min(from+5000, many+1); i++ {
				rows = append(rows, fmt.Sprintf("(2,%d,1,%d)", i, social.Epoch+social.Millis(i)))
			}
			s.Exec(t, "INSERT INTO blog_like (user_id, blog_id, state, since) VALUES "+strings.Join(rows, ","))
		}
		for _, what := range []string{"filling", "filled"} {
			liked, err := l.Liked(t.Context(), 2, []social.ID{1, 3, many, many + 1})
			noError(t, err)
			equal(t, what, []bool{liked[1], liked[3], liked[many], liked[many+1]}, []bool{true, true, true, false})
		}
	})
}
