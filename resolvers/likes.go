package resolvers

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"kith/graph"
	"kith/like"
	"kith/loaders"
	"kith/social"
)

// countsEvery is how long after an event of a subscription to a like count the next one may
// come.
const countsEvery = time.Second

func (r blog) LikeCount(ctx context.Context, b *social.Blog) (int, error) {
	n, err := loaders.From(ctx).LikeCounts.Load(ctx, b.ID)
	return shown(n.Likes), err
}

func (r blog) ViewerHasLiked(ctx context.Context, b *social.Blog) (bool, error) {
	if social.Viewer(ctx) == 0 {
		return false, nil
	}
	return loaders.From(ctx).Liked.Load(ctx, b.ID)
}

func (r blog) Likers(ctx context.Context, b *social.Blog, first *int, after *string) (*graph.UserConnection, error) {
	p, err := social.PageArgs{First: first, After: r.Seal.Open(after)}.Page(social.LikersCursor, b.ID)
	if err != nil {
		return nil, err
	}
	parts, err := loaders.From(ctx).Likers.All(ctx, []social.Listing{{Owner: b.ID, Page: p}})
	if err != nil {
		return nil, err
	}
	return r.related(ctx, parts[0], social.LikersCursor, b.ID, social.Profile, b.ID)
}

func (r user) LikedBlogs(ctx context.Context, u *social.User, first *int, after *string) (*graph.BlogConnection, error) {
	part, err := listed(ctx, loaders.From(ctx).LikedBlogs, social.LikedCursor, u, first, r.Seal.Open(after), u.ID)
	if err != nil {
		return nil, err
	}
	return visibleBlogs(ctx, part, func(p social.Peer) (social.ID, string) {
		return p.ID, r.Seal.Close(p.Cursor().Encode(social.LikedCursor, u.ID))
	})
}

func (r query) HotBlogs(ctx context.Context, first *int, after *string) (*graph.BlogConnection, error) {
	p, err := social.PageArgs{First: first, After: r.Seal.Open(after)}.Page(social.HotCursor)
	if err != nil {
		return nil, err
	}
	part, err := r.Likes.Hot(ctx, p)
	if err != nil {
		return nil, err
	}
	return visibleBlogs(ctx, part, func(b like.Ranked) (social.ID, string) {
		return b.BlogID, r.Seal.Close(b.Cursor.Encode(social.HotCursor))
	})
}

// visibleBlogs makes a connection of a page of a list of blogs; those that the viewer does not
// see are left out. of is the blog of an entry, and its cursor.
func visibleBlogs[T any](ctx context.Context, part social.Part[T], of func(T) (social.ID, string)) (*graph.BlogConnection, error) {
	c := &graph.BlogConnection{
		Edges: make([]*graph.BlogEdge, 0, len(part.Items)),
		Nodes: make([]*social.Blog, 0, len(part.Items)),
		PageInfo: pageInfo(part, func(entry T) string {
			_, cursor := of(entry)
			return cursor
		}),
	}
	ids := make([]social.ID, len(part.Items))
	for i, entry := range part.Items {
		ids[i], _ = of(entry)
	}
	read, err := loaders.From(ctx).Blogs.All(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, b := range read {
		if b != nil {
			_, cursor := of(part.Items[i])
			c.Edges = append(c.Edges, &graph.BlogEdge{Cursor: cursor, Node: b})
			c.Nodes = append(c.Nodes, b)
		}
	}
	return c, prefetchBlogs(ctx, c.Nodes)
}

// prefetchBlogs reads what the request asks of the blogs of a connection and of their authors.
func prefetchBlogs(ctx context.Context, blogs []*social.Blog) error {
	ids, authors := make([]social.ID, len(blogs)), make([]social.ID, len(blogs))
	for i, b := range blogs {
		ids[i], authors[i] = b.ID, b.AuthorID
	}
	l := loaders.From(ctx)
	var err error
	switch counts, liked := wants(ctx, "", "likeCount"), wants(ctx, "", "viewerHasLiked"); {
	case counts && liked:
		err = loaders.PrimeLikes(ctx, ids)
	case counts:
		_, err = l.LikeCounts.All(ctx, ids)
	case liked:
		_, err = l.Liked.All(ctx, ids)
	}
	if err != nil {
		return err
	}
	return prefetch(ctx, "author.", authors)
}

func (r mutation) LikeBlog(ctx context.Context, in graph.BlogIDInput) (*graph.LikePayload, error) {
	return moveLike(ctx, in, r.Likes.Like)
}

func (r mutation) UnlikeBlog(ctx context.Context, in graph.BlogIDInput) (*graph.LikePayload, error) {
	return moveLike(ctx, in, r.Likes.Unlike)
}

func moveLike(ctx context.Context, in graph.BlogIDInput,
	move func(ctx context.Context, viewer, blog social.ID) (changed bool, err error),
) (*graph.LikePayload, error) {
	id, err := social.ParseIDOf(social.BlogNode, "blogId", in.BlogID)
	if err != nil {
		return nil, err
	}
	changed, err := move(ctx, social.Viewer(ctx), id)
	if err != nil {
		return nil, err
	}
	loaders.Renew(ctx)
	b := after(ctx, func() (*social.Blog, error) { return blogWithLikes(ctx, id) }, "blog")
	return &graph.LikePayload{BlogID: in.BlogID, Blog: b, Changed: changed}, nil
}

// blogWithLikes loads the blog of a payload, and its likes in one round trip where the request
// asks both whether the viewer likes it and how many do.
func blogWithLikes(ctx context.Context, id social.ID) (*social.Blog, error) {
	found, err := loaders.From(ctx).Blogs.All(ctx, []social.ID{id})
	if err != nil || found[0] == nil {
		return nil, err
	}
	if graphql.FieldRequested(ctx, "blog.likeCount") && graphql.FieldRequested(ctx, "blog.viewerHasLiked") {
		if err := loaders.PrimeLikes(ctx, []social.ID{id}); err != nil {
			return nil, err
		}
	}
	return found[0], nil
}

func (r subscription) LikeCountChanged(ctx context.Context, blogID string) (<-chan *social.Blog, error) {
	id, err := social.ParseIDOf(social.BlogNode, "blogId", blogID)
	if err != nil {
		return nil, err
	}
	watch, err := r.LikeCounts.Watch(ctx, social.Viewer(ctx), id)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, watch.Close)
	c := counts{id: id, watch: watch, blogs: make(chan *social.Blog, 1)}
	loaders.Feed(ctx, c.next)
	return c.blogs, nil
}

// counts is a subscription to the likes of a blog.
type counts struct {
	id    social.ID
	watch *like.Watch
	blogs chan *social.Blog
	last  time.Time // when it last looked at the blog; zero before the first event
}

// next waits for the next change, and tells of it. Once the viewer does not see the blog it ends;
// whoever does not from the beginning is told so.
func (c *counts) next(event context.Context) error {
	if c.last.IsZero() {
		b, err := loaders.From(event).Blogs.Load(event, c.id)
		if err == nil && b == nil {
			err = &social.Error{Code: social.NotFound, Field: "blogId", Message: "there is no such blog"}
		}
		if err != nil {
			return err
		}
	}
	for {
		count, err := c.wait(event)
		if err != nil {
			return err
		}
		loaders.Forget(event)
		l := loaders.From(event)
		b, err := l.Blogs.Load(event, c.id)
		switch {
		case err != nil:
			return err
		case b == nil:
			return loaders.ErrEnd
		}
		c.last = time.Now()
		if count != nil {
			l.LikeCounts.Prime(event, c.id, *count)
			c.blogs <- b
			return nil
		}
	}
}

// wait waits until the count has changed; nil where the blog may be hidden instead.
func (c *counts) wait(event context.Context) (*social.LikeCount, error) {
	select {
	case <-time.After(time.Until(c.last.Add(countsEvery))):
	case <-event.Done():
		return nil, event.Err()
	}
	select {
	case count := <-c.watch.News():
		return &count, nil
	case <-c.watch.Look():
		return nil, nil //nolint:nilnil // none
	case <-event.Done():
		return nil, event.Err()
	}
}
