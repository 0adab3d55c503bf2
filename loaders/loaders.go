// Package loaders batches look-ups by id within one request. Every look-up of a person or
// blog by id goes through here, so that a page of a hundred costs one statement, and so
// that nobody is shown whom the viewer shall not see: see [social.See].
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

// Loaders are the look-ups of one request.
type Loaders struct {
	// People are those whom the viewer sees anything of; the others are as if not there.
	People Loader[social.ID, Seen]
	// Blogs are those of people of whom the viewer sees everything; the others are nil.
	Blogs  Loader[social.ID, *social.Blog]
	Counts Loader[social.ID, social.Counts]
	// Relations are those of the request's viewer; nobody's are none.
	Relations Loader[social.ID, social.Relation]

	// The pages of lists, so that a list in each person of a list is read at once.
	Followers Loader[social.Listing, social.Part[social.Peer]]
	Following Loader[social.Listing, social.Part[social.Peer]]
	Requests  Loader[social.Listing, social.Part[social.Peer]]
	Blocked   Loader[social.Listing, social.Part[social.Peer]]
	Muted     Loader[social.Listing, social.Part[social.Peer]]
	ByAuthor  Loader[social.Listing, social.Part[feed.Entry]]
}

// Sources are what loaders read from.
type Sources struct {
	DB     *db.DB
	Bodies *cache.Bodies
	Graph  *follow.Graph
	Feed   *feed.Feed
}

func newLoaders(from Sources, viewer social.ID) *Loaders {
	l := &Loaders{
		Counts:    newLoader(from.Bodies.Counts),
		Followers: newLoader(from.Graph.Followers),
		Following: newLoader(from.Graph.Following),
		Requests:  newLoader(from.Graph.Requests),
		Blocked:   newLoader(from.Graph.Blocked),
		Muted:     newLoader(from.Graph.Muted),
		ByAuthor:  newLoader(from.Feed.ByAuthor),
	}
	w := &wall{Loaders: l, from: from, viewer: viewer}
	l.People, l.Blogs, l.Relations = newLoader(w.people), newLoader(w.blogs), newLoader(w.relations)
	return l
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
