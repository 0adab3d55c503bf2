package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/social"
	"kith/socialtest"
)

// Likes of many people on few blogs, through two servers, among follows, blocks and
// deletions: the one order of locks lets nobody wait in a ring, and what is counted is what
// the rows are.
func TestLikesAmongFollowsBlocksAndDeletionsMeetNoDeadlock(t *testing.T) {
	t.Parallel()
	const clients, each = 24, 30
	s := socialtest.NewMySQL(t)
	servers := []*server{wiredServer(t, s, 2), wiredServer(t, s, 3)}
	w := &world{server: servers[0], Store: s}
	people := w.persons(t, clients)
	var blogs []social.ID
	for _, author := range []int{0, 1, 2, 3, 0, 1} {
		blogs = append(blogs, w.write(t, people[author]))
	}
	var wg sync.WaitGroup
	for i, me := range people {
		for j, srv := range servers { // whoever is there comes through both
			rng := rand.New(rand.NewPCG(uint64(j), uint64(i)))
			wg.Go(func() {
				for range each {
					err := likeOrRelate(srv, rng, me.id, people[rng.IntN(clients)].id, blogs)
					for _, code := range []social.Code{social.NotFound, social.Forbidden, social.BadUserInput} {
						if social.HasCode(err, code) {
							err = nil // blocked or deleted; another's; oneself
						}
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	for i, srv := range servers {
		if n := srv.store.db.Deadlocks(); n != 0 {
			t.Errorf("server %d lost %d transactions in deadlocks", i, n)
		}
	}
	if s.Int(t, "SELECT SUM(likes) FROM blog_count") == 0 {
		t.Error("nobody likes anything")
	}
	s.CheckInvariants(t)
	isHeated(t, s)
}

// likeOrRelate does one random thing as the person.
func likeOrRelate(s *server, rng *rand.Rand, me, other social.ID, blogs []social.ID) (err error) {
	ctx := context.Background()
	blog := blogs[rng.IntN(len(blogs))]
	switch c := rng.IntN(20); {
	case c < 8:
		_, err = s.likes.Like(ctx, me, blog)
	case c < 13:
		_, err = s.likes.Unlike(ctx, me, blog)
	case c < 16:
		_, err = s.graph.Follow(ctx, me, other)
	case c < 17:
		_, err = s.graph.Unfollow(ctx, me, other)
	case c < 18:
		err = s.graph.Block(ctx, me, other)
	case c < 19:
		err = s.graph.Unblock(ctx, me, other)
	default:
		err = s.feed.Delete(ctx, me, blogs[rng.IntN(2)]) // others stay
	}
	return err
}

// isHeated checks that what is liked has a heat like that of its newest like, or a few more.
func isHeated(t *testing.T, s *socialtest.Store) {
	t.Helper()
	var rows []struct {
		Likes float64
		Heat  *float64
		Least *float64
	}
	err := s.SQL.Select(&rows, `SELECT likes, heat, (SELECT MAX(since) / 21600000.0 FROM blog_liker r
		WHERE r.blog_id = c.blog_id AND r.state = 1) AS least FROM blog_count c`)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Likes > 0 && (r.Heat == nil || !(*r.Heat > *r.Least-1e-6 && *r.Heat < *r.Least+r.Likes)) || r.Likes == 0 && r.Heat != nil {
			t.Errorf("of %v likes the heat is %v", r.Likes, r.Heat)
		}
	}
}
