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
// came to that. It brings counts that were mended, too. It looks at the rows as they are now,
// and may come late, twice, and out of order.
func (l *Likes) Consume(ctx context.Context, evs []events.Event) error {
	for _, e := range evs {
		body, ok := e.Body.(social.LikeBody)
		if !ok {
			continue
		}
		if err := l.again(ctx, body); err != nil {
			return err
		}
	}
	return nil
}

func (l *Likes) again(ctx context.Context, body social.LikeBody) error {
	blogs := distinct(body.Blogs())
	calls := make([]*rdb.Call, 0, len(body.Changes)+len(blogs))
	for _, c := range body.Changes {
		calls = append(calls, rdb.NewLike(social.LikeCall{LikeChange: c, Changed: true}, l.kept))
	}
	counts, err := l.db.LikeCounts(ctx, blogs)
	if err != nil {
		return err
	}
	for _, b := range blogs {
		calls = append(calls, rdb.RenewLikeCount(b, counts[b]))
	}
	return l.caches.SettleApart(ctx, calls...)
}
