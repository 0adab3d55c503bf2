package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"kith/feed"
	"kith/graph"
	"kith/loaders"
	"kith/social"
)

// pageInfo tells where a page begins and ends. Both cursors are those of the rows that
// were read, so that a page whose people are all hidden can still be passed; see
// [social.Seal].
func pageInfo[T any](part social.Part[T], cursor func(T) string) *graph.PageInfo {
	info := &graph.PageInfo{HasNextPage: part.HasNext, HasPreviousPage: part.HasPrevious}
	if n := len(part.Items); n > 0 {
		start, end := cursor(part.Items[0]), cursor(part.Items[n-1])
		info.StartCursor, info.EndCursor = &start, &end
	}
	return info
}

// blogs makes a connection of a page of blogs, and primes what was read with it.
func blogs(ctx context.Context, kind social.CursorKind, owner social.ID, part social.Part[feed.Entry]) *graph.BlogConnection {
	l := loaders.From(ctx)
	cursor := func(e feed.Entry) string { return e.Cursor.Encode(kind, owner) }
	c := &graph.BlogConnection{
		Edges:    make([]*graph.BlogEdge, 0, len(part.Items)),
		Nodes:    make([]*social.Blog, 0, len(part.Items)),
		PageInfo: pageInfo(part, cursor),
	}
	for _, e := range part.Items {
		l.Blogs.Prime(ctx, e.Blog.ID, e.Blog)
		if e.Author != nil {
			l.People.Prime(ctx, e.Author.ID, loaders.Seen{User: e.Author, Sight: social.Everything}) // followed
		}
		c.Edges = append(c.Edges, &graph.BlogEdge{Cursor: cursor(e), Node: e.Blog})
		c.Nodes = append(c.Nodes, e.Blog)
	}
	return c
}

// listed reads a page of a list of the person, with those of its siblings if there are; an
// empty one where the viewer does not see the person's lists. owner names whose list it is
// for its cursors.
func listed[T any](ctx context.Context, lists loaders.Loader[social.Listing, social.Part[T]],
	kind social.CursorKind, u *social.User, first *int, after *string, owner ...social.ID,
) (social.Part[T], error) {
	p, err := social.PageArgs{First: first, After: after}.Page(kind, owner...)
	if err != nil {
		return social.Part[T]{}, err
	}
	seen, err := loaders.From(ctx).People.Load(ctx, u.ID)
	if err != nil || seen.Sight != social.Everything {
		return social.Part[T]{}, err
	}
	parts, err := lists.All(ctx, []social.Listing{{Owner: u.ID, Page: p}})
	if err != nil {
		return social.Part[T]{}, err
	}
	return parts[0], nil
}

// peerLists are the pages of one kind of list of relations.
type peerLists = loaders.Loader[social.Listing, social.Part[social.Peer]]

// peers makes a connection of a page of relations of the person.
func (r *Root) peers(ctx context.Context, lists peerLists,
	kind social.CursorKind, u *social.User, first *int, after *string, owner ...social.ID,
) (*graph.UserConnection, error) {
	part, err := listed(ctx, lists, kind, u, first, r.Seal.Open(after), owner...)
	if err != nil {
		return nil, err
	}
	return r.related(ctx, part, kind, u.ID, social.Profile, owner...)
}

// ownPeers makes one of a list that the viewer alone sees.
func (r *Root) ownPeers(ctx context.Context, lists peerLists, kind social.CursorKind, first *int, after *string) (*graph.UserConnection, error) {
	viewer := social.Viewer(ctx)
	p, err := social.PageArgs{First: first, After: r.Seal.Open(after)}.Page(kind, viewer)
	if err != nil {
		return nil, err
	}
	parts, err := lists.All(ctx, []social.Listing{{Owner: viewer, Page: p}})
	if err != nil {
		return nil, err
	}
	least := social.Profile
	if kind == social.BlockedCursor {
		least = social.Name
	}
	return r.related(ctx, parts[0], kind, viewer, least, viewer)
}

func (r *Root) related(ctx context.Context, part social.Part[social.Peer],
	kind social.CursorKind, of social.ID, least social.Sight, owner ...social.ID,
) (*graph.UserConnection, error) {
	c, err := people(ctx, part, place[social.Peer]{
		least:  least,
		id:     func(p social.Peer) social.ID { return p.ID },
		cursor: func(p social.Peer) string { return r.Seal.Close(p.Cursor().Encode(kind, owner...)) },
		since:  func(p social.Peer) *social.Millis { return &p.Since },
	})
	if err != nil {
		return nil, err
	}
	c.Owner, c.Kind = of, kind
	return c, nil
}

// place is what an entry of a list tells of the person in it.
type place[T any] struct {
	least  social.Sight // that the viewer has of whom the list shows
	id     func(T) social.ID
	cursor func(T) string
	since  func(T) *social.Millis
}

// people makes a connection of a page of people; those of whom the viewer sees less than
// it takes are left out.
func people[T any](ctx context.Context, part social.Part[T], at place[T]) (*graph.UserConnection, error) {
	c := &graph.UserConnection{
		Edges:    make([]*graph.UserEdge, 0, len(part.Items)),
		Nodes:    make([]*social.User, 0, len(part.Items)),
		PageInfo: pageInfo(part, at.cursor),
	}
	ids := make([]social.ID, len(part.Items))
	for i, entry := range part.Items {
		ids[i] = at.id(entry)
	}
	seen, err := hydrate(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, s := range seen {
		if s.Sight >= at.least {
			entry := part.Items[i]
			c.Edges = append(c.Edges, &graph.UserEdge{Cursor: at.cursor(entry), Node: s.User, Since: at.since(entry)})
			c.Nodes = append(c.Nodes, s.User)
		}
	}
	return c, nil
}

// hydrate reads a page of people, and with them what the request asks of each: batches
// that begin here need not wait for others.
func hydrate(ctx context.Context, ids []social.ID) ([]loaders.Seen, error) {
	people, err := loaders.From(ctx).People.All(ctx, ids)
	if err != nil {
		return nil, err
	}
	return people, prefetch(ctx, "", ids)
}

// relationFields are the fields of a person that tell how the viewer stands to them.
var relationFields = []string{
	"viewerIsFollowing", "isFollowingViewer", "isMutual", "viewerHasRequestedFollow", "viewerIsBlocking", "viewerIsMuting", "viewerCanFollow",
}

// prefetch reads what the request asks of the people that stand at a path from each node
// of the connection: "" for the nodes themselves, or "author.".
func prefetch(ctx context.Context, path string, ids []social.ID) error {
	l := loaders.From(ctx)
	if wants(ctx, path, "followerCount", "followingCount", "blogCount") {
		if _, err := l.Counts.All(ctx, ids); err != nil {
			return err
		}
	}
	if wants(ctx, path, relationFields...) {
		if _, err := l.Relations.All(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// wants tells whether the request asks any of the fields at a path from the nodes.
func wants(ctx context.Context, path string, fields ...string) bool {
	var paths []string
	for _, f := range fields {
		paths = append(paths, "edges.node."+path+f, "nodes."+path+f)
	}
	return graphql.AnyFieldRequested(ctx, paths...)
}
