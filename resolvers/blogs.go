package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"kith/feed"
	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r query) Blog(ctx context.Context, id string) (*social.Blog, error) {
	key, err := social.ParseIDOf(social.BlogNode, "id", id)
	if err != nil {
		return nil, err
	}
	return loaders.From(ctx).Blogs.Load(ctx, key)
}

func (r blog) Author(ctx context.Context, b *social.Blog) (*social.User, error) {
	author, err := loaders.From(ctx).People.Load(ctx, b.AuthorID)
	if err == nil && author.User == nil { // lost since the blog was found to be visible
		err = social.Errorf(social.NotFound, "the author of this blog is gone")
	}
	return author.User, err
}

func (r user) Blogs(ctx context.Context, u *social.User, first *int, after *string) (*graph.BlogConnection, error) {
	part, err := listed(ctx, loaders.From(ctx).ByAuthor, social.BlogsCursor, u, first, after, u.ID)
	if err != nil {
		return nil, err
	}
	return blogs(ctx, social.BlogsCursor, u.ID, part), nil
}

func (r query) FollowFeed(ctx context.Context, first *int, after *string, last *int, before *string) (*graph.BlogConnection, error) {
	viewer := social.Viewer(ctx)
	p, err := social.PageArgs{First: first, After: after, Last: last, Before: before}.Page(social.FeedCursor, viewer)
	if err != nil {
		return nil, err
	}
	live, err := r.liveCursor(ctx, viewer) // first: it is of what the page may show
	if err != nil {
		return nil, err
	}
	part, err := r.Feed.Home(ctx, viewer, p)
	if err != nil {
		return nil, err
	}
	c := blogs(ctx, social.FeedCursor, viewer, part)
	c.LiveCursor = live
	return c, prefetchBlogs(ctx, c.Nodes)
}

// liveCursor is from where a subscription goes on after a page that is read later; nil where
// nobody asks.
func (r query) liveCursor(ctx context.Context, viewer social.ID) (*string, error) {
	if !graphql.FieldRequested(ctx, "liveCursor") {
		return nil, nil //nolint:nilnil // null is GraphQL's answer
	}
	c, err := r.Live.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	text := c.Encode(social.FeedCursor, viewer)
	return &text, nil
}

func (r mutation) PublishBlog(ctx context.Context, in graph.PublishBlogInput) (*graph.BlogPayload, error) {
	author := social.Viewer(ctx)
	b, err := r.Feed.Publish(ctx, author, feed.Draft{
		Title: in.Title, Content: in.Content, ImageURLs: in.ImageUrls.Value(), Key: in.IdempotencyKey.Value(),
	})
	if err != nil {
		return nil, err
	}
	place := social.Cursor{MinTime: b.CreatedAt(), ID: b.ID}
	return &graph.BlogPayload{
		Blog:     b,
		BlogEdge: &graph.BlogEdge{Cursor: place.Encode(social.BlogsCursor, author), Node: b},
		Viewer:   viewerAfter(ctx, "viewer"),
	}, nil
}

// unseen is why a blog is not deleted: of one that the viewer does not see, that only its
// author may would tell that it is there.
func unseen(ctx context.Context, id social.ID, err error) error {
	if !social.HasCode(err, social.Forbidden) {
		return err
	}
	b, failed := loaders.From(ctx).Blogs.Load(ctx, id)
	switch {
	case failed != nil:
		return failed
	case b == nil:
		return feed.NoSuchBlog()
	}
	return err
}

func (r mutation) DeleteBlog(ctx context.Context, in graph.BlogIDInput) (*graph.DeleteBlogPayload, error) {
	id, err := social.ParseIDOf(social.BlogNode, "blogId", in.BlogID)
	if err != nil {
		return nil, err
	}
	if err := r.Feed.Delete(ctx, social.Viewer(ctx), id); err != nil {
		return nil, unseen(ctx, id, err)
	}
	return &graph.DeleteBlogPayload{DeletedBlogID: in.BlogID, Viewer: viewerAfter(ctx, "viewer")}, nil
}
