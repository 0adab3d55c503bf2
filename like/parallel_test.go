package like_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"kith/cache"
	"kith/db"
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
	for _, author := range authors {
		id, err := s.IDs.Next(t.Context())
		noError(t, err)
		noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			if err := tx.InsertBlog(t.Context(), &social.Blog{ID: id, AuthorID: author, Title: "t", Content: "c"}); err != nil {
				return err
			}
			return tx.AddCounts(t.Context(), []db.CountChange{{UserID: author, Blogs: 1}})
		}))
		blogs = append(blogs, id)
	}
	return blogs
}

// server is one server without caches.
func server(d *db.DB, s *socialtest.Store) *like.Likes {
	return like.New(d, cache.None(d), s.Clock.Now, like.Config{})
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
