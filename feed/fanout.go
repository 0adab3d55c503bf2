package feed

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kith/events"
	"kith/rdb"
	"kith/social"
)

// fanoutPiece is how many followers are read at once. A piece is one round trip to Redis,
// which must keep within what a command may take while every lane is fanned out.
const fanoutPiece = 1000

// Consume brings events to the caches: new blogs to the inboxes of the author's followers,
// deleted ones out of them, and once more what the servers have done before they answered.
// It looks at the rows as they are now, and may come late, twice, and out of order.
func (f *Feed) Consume(ctx context.Context, evs []events.Event) error {
	for _, e := range evs {
		var err error
		switch body := e.Body.(type) {
		case social.BlogBody:
			err = f.fanOut(ctx, body)
		case social.FollowBody:
			err = f.movedAgain(ctx, body.Changes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fanOut puts a blog into the inboxes of its author's followers, where they are, or takes
// it out if it has been deleted. Whoever follows later than a piece is read gets it with
// the other blogs of the author; whose inbox is built later, from SQL.
func (f *Feed) fanOut(ctx context.Context, blog social.BlogBody) error {
	published, err := f.db.BlogsByID(ctx, []social.ID{blog.BlogID})
	if err != nil {
		return err
	}
	ref := social.BlogRef{ID: blog.BlogID, AuthorID: blog.AuthorID}
	bring := func(part int, people []social.ID) *rdb.Call { return rdb.Remove(part, people, ref) }
	if len(published) > 0 {
		bring = func(part int, people []social.ID) *rdb.Call { return rdb.Push(part, people, f.size, ref) }
	}
	calls := []*rdb.Call{rdb.DropCounts(blog.AuthorID)}
	return f.eachPiece(ctx, blog.AuthorID, func(ctx context.Context, followers []social.ID) error {
		for part, people := range byPartition(followers) {
			calls = append(calls, bring(part, people))
		}
		err := f.caches.SettleApart(ctx, calls...)
		calls = nil
		return err
	})
}

// eachPiece hands on all followers of a person, one piece after the other, at least one
// and perhaps empty. The next is read meanwhile.
func (f *Feed) eachPiece(ctx context.Context, author social.ID, do func(context.Context, []social.ID) error) error {
	g, ctx := errgroup.WithContext(ctx)
	pieces := make(chan []social.ID)
	g.Go(func() error {
		defer close(pieces)
		for after := social.ID(0); ; {
			piece, err := f.db.FollowersAfter(ctx, author, after, fanoutPiece)
			if err != nil {
				return err
			}
			select {
			case pieces <- piece:
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(piece) < fanoutPiece {
				return nil
			}
			after = piece[len(piece)-1]
		}
	})
	g.Go(func() error {
		for piece := range pieces {
			if err := do(ctx, piece); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

func byPartition(people []social.ID) map[int][]social.ID {
	parts := map[int][]social.ID{}
	for _, p := range people {
		parts[rdb.Partition(p)] = append(parts[rdb.Partition(p)], p)
	}
	return parts
}
