package like_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/follow"
	"kith/like"
	"kith/social"
	"kith/socialtest"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// people writes people 1 to n, and a blog of each of these authors, which it gives.
func people(t testing.TB, s *socialtest.Store, n social.ID, authors ...social.ID) (blogs []social.ID) {
	t.Helper()
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		for id := social.ID(1); id <= n; id++ {
			if err := tx.InsertUser(t.Context(), &social.User{ID: id, Handle: "user" + id.String(), Name: "x"}, "hash"); err != nil {
				return err
			}
		}
		return nil
	}))
	f := feed.New(s.DB, cache.None(s.DB), s.IDs, s.Clock.Now, feed.Config{})
	for _, author := range authors {
		b, err := f.Publish(t.Context(), author, feed.Draft{Title: "t", Content: "c"})
		noError(t, err)
		blogs = append(blogs, b.ID)
	}
	return blogs
}

// server is one server without caches.
func server(d *db.DB, s *socialtest.Store) *like.Likes {
	return like.New(d, cache.None(d), s.Clock.Now, like.Config{})
}

// Likes of many people on few blogs, through two servers, among follows, blocks and
// deletions: the one order of locks lets nobody wait in a ring, and what is counted is what
// the rows are.
func TestLikesAmongFollowsBlocksAndDeletionsNeverDeadlock(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const n, rounds = 16, 12
		blogs := people(t, s, n, 1, 2, 3, 4, 1, 2)
		second := s.OpenServer(t)
		var all sync.WaitGroup
		for i, d := range []*db.DB{s.DB, second} {
			likes, graph := server(d, s), follow.New(d, s.Clock.Now, follow.Config{})
			f := feed.New(d, cache.None(d), s.IDs, s.Clock.Now, feed.Config{})
			for me := social.ID(1); me <= n; me++ {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(me)))
				all.Go(func() {
					for range rounds {
						s.Clock.Advance(1e6)
						blog, other := blogs[rng.IntN(len(blogs))], social.ID(1+rng.IntN(n))
						for other == me {
							other = social.ID(1 + rng.IntN(n))
						}
						var err error
						switch c := rng.IntN(20); {
						case c < 8:
							_, err = likes.Like(t.Context(), me, blog)
						case c < 13:
							_, err = likes.Unlike(t.Context(), me, blog)
						case c < 16:
							_, err = graph.Follow(t.Context(), me, other)
						case c < 17:
							_, err = graph.Unfollow(t.Context(), me, other)
						case c < 18:
							err = graph.Block(t.Context(), me, other)
						case c < 19:
							err = graph.Unblock(t.Context(), me, other)
						default:
							err = f.Delete(t.Context(), me, blogs[me%2]) // of 1 and 2; the others stay
						}
						for _, code := range []social.Code{social.NotFound, social.Forbidden} {
							if social.HasCode(err, code) {
								err = nil // blocked, deleted, or another's
							}
						}
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		equal(t, "deadlocks", s.DB.Deadlocks()+second.Deadlocks(), 0)
		if s.Int(t, "SELECT SUM(likes) FROM blog_count") == 0 {
			t.Error("nobody likes anything")
		}
		s.CheckInvariants(t)
		isHeated(t, s)
	})
}

// isHeated checks that what is liked has a heat like that of its newest like, or a few more.
func isHeated(t *testing.T, s *socialtest.Store) {
	t.Helper()
	var rows []struct {
		Likes float64
		Heat  *float64
		Least *float64
	}
	noError(t, s.SQL.Select(&rows, `SELECT likes, heat, (SELECT MAX(since) / 21600000.0 FROM blog_liker r WHERE r.blog_id = c.blog_id AND state = 1) AS least FROM blog_count c`))
	for _, r := range rows {
		if r.Likes > 0 && (r.Heat == nil || !(*r.Heat > *r.Least-1e-6 && *r.Heat < *r.Least+r.Likes)) || r.Likes == 0 && r.Heat != nil {
			t.Errorf("of %v likes the heat is %v", r.Likes, r.Heat)
		}
	}
}

// Ten identical likes change once, whichever server they come to.
func TestIdenticalLikesAtOnceChangeOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs := people(t, s, 2, 1, 1)
		servers := []*like.Likes{server(s.DB, s), server(s.OpenServer(t), s)}
		for _, do := range []func(*like.Likes, context.Context, social.ID, social.ID) (bool, error){(*like.Likes).Like, (*like.Likes).Unlike} {
			for _, blog := range blogs {
				changed := make(chan bool, 10)
				var all sync.WaitGroup
				for i := range 10 {
					all.Go(func() {
						c, err := do(servers[i%2], t.Context(), 2, blog)
						if err != nil {
							t.Error(err)
						}
						changed <- c
					})
				}
				all.Wait()
				n := 0
				for range 10 {
					if <-changed {
						n++
					}
				}
				equal(t, "calls that changed something", n, 1)
				s.CheckInvariants(t)
			}
		}
		equal(t, "version", s.Int(t, "SELECT like_version FROM actor WHERE user_id = 2"), 4)
	})
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
