package resolvers

import (
	"context"

	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r subscription) FeedItemAdded(ctx context.Context, since *string) (<-chan *graph.BlogEdge, error) {
	viewer := social.Viewer(ctx)
	var from *social.Cursor
	if since != nil {
		c, err := social.DecodeCursor("since", *since, social.FeedCursor, viewer)
		if err != nil {
			return nil, err
		}
		from = &c
	}
	sub, err := r.Live.Subscribe(ctx, viewer, from)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, sub.Close)
	edges := make(chan *graph.BlogEdge, 1)
	loaders.Feed(ctx, func(event context.Context) error {
		e, err := sub.Next(event)
		if err != nil {
			return err
		}
		l := loaders.From(event)
		l.Blogs.Prime(event, e.Blog.ID, e.Blog)
		l.People.Prime(event, e.Author.ID, loaders.Seen{User: e.Author, Sight: social.Everything}) // followed
		edges <- &graph.BlogEdge{Cursor: e.Cursor.Encode(social.FeedCursor, viewer), Node: e.Blog}
		return nil
	})
	return edges, nil
}
