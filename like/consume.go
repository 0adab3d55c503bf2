package like

import (
	"context"

	"kith/events"
	"kith/rdb"
	"kith/social"
)

// Consumer is the name under which likes are brought to the caches once more.
const Consumer = "like"

// Consume does again what servers have done before they answered: one may have died before it
// came to that. It looks at the rows as they are now, and may come late, twice, and out of
// order.
func (l *Likes) Consume(ctx context.Context, evs []events.Event) error {
	for _, e := range evs {
		body, ok := e.Body.(social.LikeBody)
		if !ok {
			continue
		}
		if err := l.again(ctx, body.Changes); err != nil {
			return err
		}
	}
	return nil
}

func (l *Likes) again(ctx context.Context, changes []social.LikeChange) error {
	blogs := make([]social.ID, len(changes))
	calls := make([]*rdb.Call, 0, 2*len(changes))
	for i, c := range changes {
		blogs[i] = c.BlogID
		calls = append(calls, rdb.NewLike(social.LikeCall{LikeChange: c, Changed: true}, l.kept))
	}
	blogs = distinct(blogs)
	counts, err := l.db.LikeCounts(ctx, blogs)
	if err != nil {
		return err
	}
	for _, b := range blogs {
		calls = append(calls, rdb.RenewLikeCount(b, counts[b]))
	}
	return l.caches.SettleApart(ctx, calls...)
}
