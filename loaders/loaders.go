// Package loaders batches look-ups by id within one request. Every look-up of a person or
// blog by id goes through here, so that a page of a hundred costs one statement.
package loaders

import (
	"context"
	"sync/atomic"

	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/follow"
	"kith/social"
)

// Loaders are the look-ups of one request. Whoever is not there is nil.
type Loaders struct {
	Users  Loader[social.ID, *social.User]
	Blogs  Loader[social.ID, *social.Blog]
	Counts Loader[social.ID, social.Counts]
	// Handles are the ids of whom they belong to; 0 is nobody.
	Handles Loader[string, social.ID]
	// Relations are those of the request's viewer; nobody's are none.
	Relations Loader[social.ID, social.Relation]

	// The pages of lists, so that a list in each person of a list is read at once.
	Followers Loader[social.Listing, social.Part[social.Peer]]
	Following Loader[social.Listing, social.Part[social.Peer]]
	ByAuthor  Loader[social.Listing, social.Part[feed.Entry]]
	// Those that the request's viewer has a part in, and how long they are; nobody's are
	// empty.
	MutualFollows    Loader[social.Listing, social.Part[social.Peer]]
	FollowersYouKnow Loader[social.Listing, social.Part[social.Peer]]
	MutualCounts     Loader[social.ID, int64]
	KnownCounts      Loader[social.ID, int64]
}

// Sources are what loaders read from.
type Sources struct {
	DB     *db.DB
	Bodies *cache.Bodies
	Graph  *follow.Graph
	Feed   *feed.Feed
}

func newLoaders(from Sources, viewer social.ID) *Loaders {
	d := from.DB
	return &Loaders{
		Users:   newLoader(from.Bodies.Users),
		Blogs:   newLoader(from.Bodies.Blogs),
		Counts:  newLoader(from.Bodies.Counts),
		Handles: newLoader(from.Bodies.Handles),
		Relations: newLoader(func(ctx context.Context, ids []social.ID) (map[social.ID]social.Relation, error) {
			if viewer == 0 {
				return nil, nil
			}
			return d.Relations(ctx, viewer, ids)
		}),
		Followers: newLoader(from.Graph.Followers),
		Following: newLoader(from.Graph.Following),
		ByAuthor:  newLoader(from.Feed.ByAuthor),

		MutualFollows:    newLoader(as(viewer, from.Graph.MutualFollows)),
		FollowersYouKnow: newLoader(as(viewer, from.Graph.FollowersYouKnow)),
		MutualCounts:     newLoader(as(viewer, from.Graph.CountMutualFollows)),
		KnownCounts:      newLoader(as(viewer, from.Graph.CountFollowersYouKnow)),
	}
}

// as reads on behalf of the viewer.
func as[K comparable, V any](viewer social.ID, read func(context.Context, social.ID, []K) (map[K]V, error),
) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, keys []K) (map[K]V, error) { return read(ctx, viewer, keys) }
}

// contextKey is the type of this package's only context key.
type contextKey struct{}

// request holds the loaders of a request, which every write replaces.
type request struct {
	fresh   func() *Loaders
	current atomic.Pointer[Loaders]
}

// With gives ctx the loaders of a request of its viewer.
func With(ctx context.Context, from Sources) context.Context {
	viewer := social.Viewer(ctx)
	r := &request{fresh: func() *Loaders { return newLoaders(from, viewer) }}
	r.current.Store(r.fresh())
	return context.WithValue(cache.With(ctx), contextKey{}, r)
}

// From gives the loaders of the request.
func From(ctx context.Context) *Loaders { return of(ctx).current.Load() }

// Renew forgets all that the request has read. Called after every write, so that what
// follows in the same request sees it.
func Renew(ctx context.Context) {
	cache.Wrote(ctx)
	r := of(ctx)
	r.current.Store(r.fresh())
}

func of(ctx context.Context) *request { return ctx.Value(contextKey{}).(*request) }
