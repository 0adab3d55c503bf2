package main

import (
	"context"
	"slices"
	"sync"
	"testing"

	"kith/feed"
	"kith/social"
)

// While others publish, delete, follow and unfollow in parallel, paging a feed gives what
// stays in it each once and in order, never a short page before the end, and never what
// was gone before it began.
func TestPagingWhileOthersWriteInParallel(t *testing.T) {
	t.Parallel()
	const stable, rounds, readers = 40, 15, 3
	eachWorld(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		people := w.persons(t, 4)
		reader, steady, busy, wavering := people[0], people[1], people[2], people[3]
		reader.follow(t, steady)
		reader.follow(t, busy)
		var want []social.ID
		for range stable {
			want = append(want, w.write(t, steady))
		}
		gone := w.write(t, steady)
		if err := w.feed.Delete(ctx, steady.id, gone); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(want)

		var writers, reading sync.WaitGroup
		stop := make(chan struct{})
		writers.Go(func() {
			for live := []social.ID{}; !closed(stop); live = w.writeAndTrim(t, busy, live) {
			}
		})
		writers.Go(func() {
			for live := []social.ID{}; !closed(stop); live = w.writeAndTrim(t, wavering, live) {
				for _, move := range []func(context.Context, social.ID, social.ID) error{w.followed, w.unfollowed} {
					if err := move(ctx, reader.id, wavering.id); err != nil {
						t.Error(err)
					}
				}
			}
		})
		for r := range readers {
			reading.Go(func() {
				for i := range rounds {
					got := w.readAll(t, reader.id, 1+(r+i)%7)
					if slices.Contains(got, gone) {
						t.Error("a deleted blog came back")
					}
					kept := slices.DeleteFunc(got, func(id social.ID) bool { return !slices.Contains(want, id) })
					if !slices.Equal(kept, want) {
						t.Errorf("round %d: %d of %d blogs that stayed, or out of order", i, len(kept), len(want))
					}
				}
			})
		}
		reading.Wait()
		close(stop)
		writers.Wait()
	})
}

// readAll pages through the feed with pages of one size.
func (w *world) readAll(t *testing.T, viewer social.ID, size int) []social.ID {
	t.Helper()
	var ids []social.ID
	p := social.Page{Limit: size}
	for {
		part, err := w.feed.Home(t.Context(), viewer, p)
		if err != nil {
			t.Error(err)
			return nil
		}
		for _, e := range part.Items {
			if n := len(ids); n > 0 && e.Blog.ID >= ids[n-1] {
				t.Errorf("%d comes after %d", e.Blog.ID, ids[n-1])
			}
			ids = append(ids, e.Blog.ID)
			p.From = e.Cursor
		}
		if !part.HasNext {
			return ids
		}
		if len(part.Items) < size {
			t.Errorf("a page of %d before the end has %d", size, len(part.Items))
		}
	}
}

// writeAndTrim publishes a blog and deletes the oldest of more than five, so that the feed
// changes all the time and does not outgrow its readers.
func (w *world) writeAndTrim(t *testing.T, author person, live []social.ID) []social.ID {
	live = append(live, w.write(t, author))
	if len(live) <= 5 {
		return live
	}
	if err := w.feed.Delete(t.Context(), author.id, live[0]); err != nil {
		t.Error(err)
	}
	return live[1:]
}

// write publishes a blog.
func (w *world) write(t *testing.T, author person) social.ID {
	t.Helper()
	b, err := w.feed.Publish(t.Context(), author.id, feed.Draft{Title: "a blog", Content: "text"})
	if err != nil {
		t.Error(err)
		return 0
	}
	return b.ID
}

func (w *world) followed(ctx context.Context, viewer, target social.ID) error {
	_, err := w.graph.Follow(ctx, viewer, target)
	return err
}

func (w *world) unfollowed(ctx context.Context, viewer, target social.ID) error {
	_, err := w.graph.Unfollow(ctx, viewer, target)
	return err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
