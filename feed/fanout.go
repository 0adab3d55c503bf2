package feed

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/events"
	"kith/rdb"
	"kith/social"
)

const (
	// fanoutPiece is how many followers are read at once, and brought to Redis in one
	// round trip.
	fanoutPiece = 2000
	// maxPieces bounds how many pieces a server has under way: they must fit into the time
	// that a command may take, so that none of the others waits longer.
	maxPieces = 4
	// starGrace is how long the blogs of a star are still fanned out, by the store's clock. By
	// then every server knows of the star, whatever it did not hear: it reads feeds in SQL
	// if its list is older than [StarsConfig.ListTrust], and a star is committed within
	// seconds.
	starGrace = time.Minute
)

// Consume brings events to the caches: new blogs to the inboxes of the author's followers,
// deleted ones out of them, once more what the servers have done before they answered, and
// that a person's counts are to be read anew. Whom it finds to have too many followers it
// makes a star.
// It looks at the rows as they are now, and may come late, twice, and out of order.
func (f *Feed) Consume(ctx context.Context, evs []events.Event) error {
	for _, e := range evs {
		var err error
		switch body := e.Body.(type) {
		case social.BlogBody:
			err = f.fanOut(ctx, body)
		case social.FollowBody:
			if len(body.Changes) == 0 { // walls stand in no cache
				continue
			}
			if err = f.movedAgain(ctx, body.Changes); err == nil {
				_, err = f.promote(ctx, targets(body.Changes)...)
			}
		case social.UserBody: // whose counts may have been mended
			if err = f.caches.SettleApart(ctx, rdb.DropCounts(body.UserID)); err == nil {
				_, err = f.promote(ctx, body.UserID)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fanOut puts a blog into the inboxes of its author's followers, where they are, or takes
// it out if it has been deleted. Whoever follows later than a piece is read gets it with
// the other blogs of the author; whose inbox is built later, from SQL. Blogs of stars are
// not put there: readers merge them.
func (f *Feed) fanOut(ctx context.Context, blog social.BlogBody) error {
	standings, err := f.promote(ctx, blog.AuthorID)
	if err != nil {
		return err
	}
	published, err := f.db.BlogsByID(ctx, []social.ID{blog.BlogID})
	if err != nil {
		return err
	}
	ref := social.BlogRef{ID: blog.BlogID, AuthorID: blog.AuthorID}
	bring := func(part int, people []social.ID) *rdb.Call { return rdb.Remove(part, people, ref) }
	if isMerged(standings[blog.AuthorID], blog.BlogID, len(published) == 0) {
		return f.caches.SettleApart(ctx, rdb.DropCounts(blog.AuthorID))
	}
	if len(published) > 0 {
		bring = func(part int, people []social.ID) *rdb.Call { return rdb.Push(part, people, f.size, ref) }
	}
	calls := []*rdb.Call{rdb.DropCounts(blog.AuthorID)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2) // while one is pushed the next is read, and waits at Redis already
	for after := social.ID(0); ; {
		followers, err := f.db.FollowersAfter(ctx, blog.AuthorID, after, fanoutPiece)
		if err != nil {
			return cmp.Or(g.Wait(), err) // a piece that failed ends the reading too
		}
		for part, people := range byPartition(followers) {
			calls = append(calls, bring(part, people))
		}
		piece := calls
		g.Go(func() error {
			f.pieces <- struct{}{}
			defer func() { <-f.pieces }()
			return f.caches.SettleApart(ctx, piece...)
		})
		if len(followers) < fanoutPiece {
			return g.Wait()
		}
		after, calls = followers[len(followers)-1], nil
	}
}

func byPartition(people []social.ID) map[int][]social.ID {
	parts := map[int][]social.ID{}
	for _, p := range people {
		parts[rdb.Partition(p)] = append(parts[rdb.Partition(p)], p)
	}
	return parts
}
