package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// 256 clients of two servers follow and unfollow, most of them the same few people, and
// publish and delete in between: nothing fails, there is no deadlock, and every count, edge and
// lane number is right.
func TestContendedWritesMeetNoDeadlockAndKeepEveryCount(t *testing.T) {
	t.Parallel()
	const clients, each = 256, 40
	s := socialtest.NewMySQL(t)
	servers := []*server{wiredServer(t, s, 2), wiredServer(t, s, 3)}
	w := &world{server: servers[0], Store: s}
	people := w.persons(t, clients)

	var wg sync.WaitGroup
	for i, me := range people {
		wg.Go(func() {
			srv := servers[i%len(servers)]
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			popular := rand.NewZipf(rng, 1.2, 1, clients-1)
			for range each {
				if err := act(srv, rng, me.id, people[popular.Uint64()].id); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i, srv := range servers {
		if n := srv.store.db.Deadlocks(); n != 0 {
			t.Errorf("server %d lost %d transactions in deadlocks", i, n)
		}
	}
	s.CheckInvariants(t)
}

// act does one random thing as the person.
func act(s *server, rng *rand.Rand, me, target social.ID) error {
	ctx := context.Background()
	switch n := rng.IntN(20); {
	case n == 0:
		b, err := s.feed.Publish(ctx, me, feed.Draft{Title: "a blog", Content: "text"})
		if err != nil || rng.IntN(2) == 0 {
			return err
		}
		return s.feed.Delete(ctx, me, b.ID)
	case me == target:
		return nil
	case n < 7:
		_, err := s.graph.Unfollow(ctx, me, target)
		return err
	default:
		if _, err := s.graph.Follow(ctx, me, target); err != nil {
			return fmt.Errorf("%d follows %d: %w", me, target, err)
		}
		return nil
	}
}
