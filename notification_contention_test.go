package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"kith/events"
	"kith/socialtest"
)

// Two servers make lines of the same people from the same events, in any order, among readings
// and trimming: the one order of locks lets nobody wait in a ring, and everybody is told of what
// is so.
func TestLinesMadeByTwoServersAtOnceMeetNoDeadlock(t *testing.T) {
	t.Parallel()
	const people, rounds = 16, 20
	s := socialtest.NewMySQL(t)
	servers := []*server{wiredServer(t, s, 2), wiredServer(t, s, 3)}
	w := &world{server: servers[0], Store: s}
	u := w.persons(t, people)
	blogs := make([]string, people)
	for i, p := range u {
		blogs[i] = p.publish(t, "a blog")
	}
	var wg sync.WaitGroup
	for i, me := range u {
		rng := rand.New(rand.NewPCG(5, uint64(i)))
		wg.Go(func() {
			for range rounds {
				k := rng.IntN(people)
				switch {
				case k == i:
					me.markRead(t, "")
				case rng.IntN(3) > 0:
					me.follow(t, u[k])
					me.like(t, blogs[k])
				default:
					me.unfollow(t, u[k])
					me.unlike(t, blogs[k])
				}
			}
		})
	}
	ctx, end := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for i, srv := range servers { // each takes every event
		c := events.NewConsumer(srv.store.db, srv.bell, srv.log, fmt.Sprint("notify", i), srv.told.Consume)
		workers.Go(func() { _ = c.Run(ctx) })
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := srv.told.Trim(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w.Await(t, `SELECT COUNT(*) = 2 * (SELECT COUNT(*) FROM lane) FROM lane l JOIN consumed c ON c.lane = l.lane
		WHERE c.consumer LIKE 'notify_' AND c.position >= l.seq`)
	end()
	workers.Wait()
	for i, srv := range servers {
		same(t, fmt.Sprintf("deadlocks of server %d", i), srv.store.db.Deadlocks(), 0)
	}
	same(t, "follows told", w.Int(t, "SELECT SUM(actor_count) FROM notification WHERE kind = 1"), w.Int(t, "SELECT COUNT(*) FROM following WHERE state = 1"))
	same(t, "likes told", w.Int(t, "SELECT SUM(actor_count) FROM notification WHERE kind = 4"), w.Int(t, "SELECT COUNT(*) FROM blog_like WHERE state = 1"))
}
