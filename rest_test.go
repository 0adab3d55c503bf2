package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"kith/feed"
	"kith/social"
)

// restRounds is how often things are let happen at once, for each kind of stores.
const restRounds = 40

// P1 under truly parallel work: follows, unfollows, blogs, deletions and first readings of
// a few people, through two servers with a pause now and then between any two steps, while
// keys are lost, people become stars, and servers forget of them. Once all has been fanned
// out, every feed is what the rows say, through each server.
func TestFeedsAreExactAtRestWhateverHappenedAtOnce(t *testing.T) {
	t.Parallel()
	set := func(i int, cfg *settings) {
		cfg.inboxSize = 3 + 3*i
		cfg.stars = feed.StarsConfig{Followers: 1, Blogs: 2 + i}
		cfg.step = func() {
			if rand.IntN(10) == 0 {
				time.Sleep(rand.N(3 * time.Millisecond)) //nolint:forbidigo // the pause under test
			}
		}
	}
	eachCached(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		for round := range restRounds {
			w.awaitOn(t)
			w.Clock.Advance(time.Millisecond) // which gives ids for 2,048 things at least
			people := w.persons(t, 5)
			w.happen(t, people)
			w.drained(t)
			w.heard(t)
			for _, p := range people {
				want := w.feedByRows(t, p.id)
				for i := range w.servers {
					if got := w.feedOf(t, i, p.id, 1+rand.IntN(7)); !slices.Equal(got, want) {
						t.Fatalf("round %d, through server %d: %v, want %v", round, i, got, want)
					}
				}
			}
		}
	})
}

// happen does things at once.
func (w *cachedWorld) happen(t *testing.T, people []person) {
	t.Helper()
	ctx := t.Context()
	var all sync.WaitGroup
	all.Go(func() { w.ageStars(t) })
	for _, p := range people {
		for range 2 {
			all.Go(func() {
				for range 12 {
					s, other := w.servers[rand.IntN(len(w.servers))], people[rand.IntN(len(people))]
					if err := w.act(ctx, s, p, other); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
}

func (w *cachedWorld) act(ctx context.Context, s *server, p, other person) error {
	var err error
	switch n := rand.IntN(13); {
	case n < 4 && p.id != other.id:
		_, err = s.graph.Follow(ctx, p.id, other.id)
	case n < 6 && p.id != other.id:
		_, err = s.graph.Unfollow(ctx, p.id, other.id)
	case n < 9:
		var b *social.Blog
		b, err = s.feed.Publish(ctx, p.id, feed.Draft{Title: "a blog", Content: "text"})
		if err == nil && n == 8 {
			err = s.feed.Delete(ctx, p.id, b.ID)
		}
	case n < 11:
		_, err = s.feed.Home(ctx, p.id, social.Page{Limit: 5})
	case n < 12:
		s.feed.Stars.Missed()
	default:
		kinds := []string{"inbox:", "following:", "lease:"}
		w.redis.DropKeys(w.t, kinds[rand.IntN(len(kinds))]+"*:"+other.id.String())
	}
	return err
}

// feedByRows is the feed as the rows have it.
func (w *cachedWorld) feedByRows(t *testing.T, viewer social.ID) []social.ID {
	t.Helper()
	var ids []social.ID
	if err := w.SQL.Select(&ids, `SELECT b.id FROM following f JOIN blog b ON b.author_id = f.target_id
		WHERE f.user_id = ? AND f.state = 1 AND b.status = 0 ORDER BY b.id DESC`, viewer); err != nil {
		t.Fatal(err)
	}
	return ids
}

// feedOf reads a feed to its end through a server.
func (w *cachedWorld) feedOf(t *testing.T, server int, viewer social.ID, size int) (ids []social.ID) {
	t.Helper()
	for p := (social.Page{Limit: size}); ; {
		part, err := w.servers[server].feed.Home(t.Context(), viewer, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range part.Items {
			ids, p.From = append(ids, e.Blog.ID), e.Cursor
		}
		if !part.HasNext {
			return ids
		}
	}
}
