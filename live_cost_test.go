package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"kith/events"
	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// What a blog costs a server with 1,000 viewers of its author: one round trip to Redis that
// asks whether each of them still follows, two statements for bodies, which all share; and
// two more where nobody's list of those followed is in Redis. Ten blogs at once cost what
// one does.
func TestABlogForManyViewersIsSentByFewRoundTrips(t *testing.T) {
	t.Parallel()
	const many = 1000
	w := newCachedWorld(t, socialtest.NewMySQL(t), socialtest.NewRedis(t), 2, quietly)
	defer w.close()
	s := w.still(t)
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	s.live = feed.NewLive(s.feed, s.log) // with no tail but the test
	s.live.Seen(time.Now())
	work.Go(func() { _ = s.live.Run(ctx) })

	viewers := w.audience(t, many, 1)
	author := viewers[many-1] + 1
	subs := make([]*feed.Subscription, many)
	readAll := func() {
		each(viewers, func(i int, v social.ID) {
			if _, err := s.feed.Home(ctx, v, social.Page{Limit: 1}); err != nil {
				t.Error(err)
			}
		})
	}
	each(viewers, func(i int, v social.ID) {
		var err error
		if subs[i], err = s.live.Subscribe(ctx, v, nil); err != nil {
			t.Error(err)
		}
	})
	n := social.ID(0)
	send := func(blogs int) trips {
		var ids []social.ID
		var evs []events.Event
		for range blogs {
			n++
			id := social.FirstIDAt(w.Clock.NowMS()) + n
			ids = append(ids, id)
			body := social.BlogBody{BlogID: id, AuthorID: author}
			evs = append(evs, events.Event{Seq: 1<<40 + int64(n), Event: social.Event{Kind: social.BlogEvent, Body: body}})
		}
		w.writeBlogs(t, ids, func(int) social.ID { return author })
		return counting(s, func() {
			s.live.Heard(evs)
			s.live.Seen(time.Now())
			for _, sub := range subs {
				for _, id := range ids {
					if e, err := sub.Next(ctx); err != nil || e.Blog.ID != id {
						t.Fatalf("%+v, %v", e, err)
					}
				}
			}
		})
	}
	readAll()
	same(t, "one", send(1), trips{1, 2})
	same(t, "two viewed at once", send(2), trips{1, 2})
	w.redis.DropKeys(t, "following:*")
	same(t, "no lists", send(1), trips{1, 4})
}

// each does something about all people, some at once.
func each(people []social.ID, do func(i int, who social.ID)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range next {
				do(i, people[i])
			}
		})
	}
	for i := range people {
		next <- i
	}
	close(next)
	all.Wait()
}
