package feed

import (
	"context"

	"kith/events"
	"kith/rdb"
	"kith/social"
)

// fanoutPiece is how many followers are read at once.
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
	counts := rdb.DropCounts(blog.AuthorID)
	for after := social.ID(0); ; {
		followers, err := f.db.FollowersAfter(ctx, blog.AuthorID, after, fanoutPiece)
		if err != nil {
			return err
		}
		calls := []*rdb.Call{}
		if after == 0 {
			calls = append(calls, counts)
		}
		for part, people := range byPartition(followers) {
			if len(published) > 0 {
				calls = append(calls, rdb.Push(part, people, f.size, ref))
			} else {
				calls = append(calls, rdb.Remove(part, people, ref))
			}
		}
		if err := f.caches.SettleApart(ctx, calls...); err != nil {
			return err
		}
		if len(followers) < fanoutPiece {
			return nil
		}
		after = followers[len(followers)-1]
	}
}

func byPartition(people []social.ID) map[int][]social.ID {
	parts := map[int][]social.ID{}
	for _, p := range people {
		parts[rdb.Partition(p)] = append(parts[rdb.Partition(p)], p)
	}
	return parts
}
