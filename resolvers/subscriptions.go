package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"kith/feed"
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
	edges := make(chan *graph.BlogEdge)
	go func() {
		defer close(edges)
		defer sub.Close()
		defer func() {
			if v := recover(); v != nil { // which else would end the process
				graphql.AddError(ctx, graphql.GetOperationContext(ctx).Recover(ctx, v))
			}
		}()
		if err := sendEdges(ctx, viewer, sub, edges); err != nil && ctx.Err() == nil {
			graphql.AddError(ctx, err)
		}
	}()
	return edges, nil
}

// sendEdges sends blogs as they are asked for, each with what is known of it, until ctx or
// the subscription ends.
func sendEdges(ctx context.Context, viewer social.ID, sub *feed.Subscription, edges chan<- *graph.BlogEdge) error {
	for {
		var event context.Context
		select {
		case event = <-loaders.Asked(ctx):
		case <-sub.Failed():
		case <-ctx.Done():
			return ctx.Err()
		}
		e, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		l := loaders.From(event)
		l.Blogs.Prime(event, e.Blog.ID, e.Blog)
		l.People.Prime(event, e.Author.ID, loaders.Seen{User: e.Author, Sight: social.Everything}) // followed
		select {
		case edges <- &graph.BlogEdge{Cursor: e.Cursor.Encode(social.FeedCursor, viewer), Node: e.Blog}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
