// Package loaders batches look-ups by id within one request. Every look-up of a person or
// blog by id goes through here, so that a page of a hundred costs one statement, and so
// that nobody is shown whom the viewer shall not see: see [social.See].
package loaders

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/follow"
	"kith/like"
	"kith/notify"
	"kith/social"
)

// Loaders are the look-ups of one request.
type Loaders struct {
	// People are those whom the viewer sees anything of; the others are as if not there.
	People Loader[social.ID, Seen]
	// Blogs are those of people of whom the viewer sees everything; the others are nil.
	Blogs  Loader[social.ID, *social.Blog]
	Counts Loader[social.ID, social.Counts]
	// LikeCounts and Liked are of blogs: how many like each, and whether the viewer does.
	LikeCounts Loader[social.ID, social.LikeCount]
	Liked      Loader[social.ID, bool]
	// Handles are the ids of whom they belong to; 0 is nobody.
	Handles Loader[string, social.ID]
	// Relations are those of the request's viewer; nobody's are none.
	Relations Loader[social.ID, social.Relation]

	// Unread are how many notifications people have not read, Notifications those of the
	// viewer, by id; nil where there is none.
	Unread        Loader[social.ID, int64]
	Notifications Loader[social.ID, *social.Notification]

	// The pages of lists, so that a list in each person of a list is read at once.
	Followers  Loader[social.Listing, social.Part[social.Peer]]
	Following  Loader[social.Listing, social.Part[social.Peer]]
	Requests   Loader[social.Listing, social.Part[social.Peer]]
	Blocked    Loader[social.Listing, social.Part[social.Peer]]
	Muted      Loader[social.Listing, social.Part[social.Peer]]
	ByAuthor   Loader[social.Listing, social.Part[feed.Entry]]
	Likers     Loader[social.Listing, social.Part[social.Peer]] // of blogs
	LikedBlogs Loader[social.Listing, social.Part[social.Peer]] // whose ids are blogs'
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
	Likes  *like.Likes
	Told   *notify.Notifications
	// Wait is how long a look-up waits for others of its request; 0 is a millisecond.
	Wait time.Duration
}

func newLoaders(from Sources, viewer social.ID) *Loaders {
	wait := cmp.Or(from.Wait, usualWait)
	l := &Loaders{
		Counts:     newLoader(wait, from.Bodies.Counts),
		Handles:    newLoader(wait, from.Bodies.Handles),
		Followers:  newLoader(wait, from.Graph.Followers),
		Following:  newLoader(wait, from.Graph.Following),
		Requests:   newLoader(wait, from.Graph.Requests),
		Blocked:    newLoader(wait, from.Graph.Blocked),
		Muted:      newLoader(wait, from.Graph.Muted),
		ByAuthor:   newLoader(wait, from.Feed.ByAuthor),
		Likers:     newLoader(wait, from.Likes.Likers),
		LikedBlogs: newLoader(wait, from.Likes.LikedBlogs),
		LikeCounts: newLoader(wait, from.Likes.Counts),
		Liked:      newLoader(wait, as(viewer, from.Likes.Liked)),

		Unread:        newLoader(wait, from.Told.Unread),
		Notifications: newLoader(wait, as(viewer, from.Told.ByID)),

		MutualFollows:    newLoader(wait, as(viewer, from.Graph.MutualFollows)),
		FollowersYouKnow: newLoader(wait, as(viewer, from.Graph.FollowersYouKnow)),
		MutualCounts:     newLoader(wait, as(viewer, from.Graph.CountMutualFollows)),
		KnownCounts:      newLoader(wait, as(viewer, from.Graph.CountFollowersYouKnow)),
	}
	w := &wall{Loaders: l, from: from, viewer: viewer}
	l.People, l.Blogs, l.Relations = newLoader(wait, w.people), newLoader(wait, w.blogs), newLoader(wait, w.relations)
	return l
}

// PrimeLikes reads the counts of blogs and whether the viewer likes them, in one round trip
// where each apart would take its own; in a resolver that runs for every element of a list, in
// one each for all of its siblings.
func PrimeLikes(ctx context.Context, blogs []social.ID) error {
	l := From(ctx)
	if inList(ctx) {
		if _, err := l.LikeCounts.All(ctx, blogs); err != nil {
			return err
		}
		_, err := l.Liked.All(ctx, blogs)
		return err
	}
	counts, liked, err := of(ctx).from.Likes.Both(ctx, social.Viewer(ctx), blogs)
	if err != nil {
		return err
	}
	for _, b := range blogs {
		l.LikeCounts.Prime(ctx, b, counts[b])
		l.Liked.Prime(ctx, b, liked[b])
	}
	return nil
}

// as reads on behalf of the viewer.
func as[K comparable, V any](viewer social.ID, read func(context.Context, social.ID, []K) (map[K]V, error),
) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, keys []K) (map[K]V, error) { return read(ctx, viewer, keys) }
}

// contextKey is the type of this package's only context key.
type contextKey struct{}

// request holds the loaders of a request, which are made when first asked for, since a
// subscription may wait long for its next event; every write replaces them.
type request struct {
	from    Sources
	fresh   func() *Loaders
	current atomic.Pointer[Loaders]
}

// With gives ctx the loaders of a request of its viewer.
func With(ctx context.Context, from Sources) context.Context {
	viewer := social.Viewer(ctx)
	r := &request{from: from, fresh: func() *Loaders { return newLoaders(from, viewer) }}
	return context.WithValue(cache.With(ctx), contextKey{}, r)
}

// From gives the loaders of the request.
func From(ctx context.Context) *Loaders {
	r := of(ctx)
	for {
		if l := r.current.Load(); l != nil {
			return l
		}
		r.current.CompareAndSwap(nil, r.fresh())
	}
}

// Renew forgets all that the request has read. Called after every write, so that what
// follows in the same request sees it.
func Renew(ctx context.Context) {
	cache.Wrote(ctx)
	of(ctx).current.Store(nil)
}

// Forget forgets all that the request has read, and when its viewer wrote, for an event of a
// subscription that tells of something new: it may have waited long.
func Forget(ctx context.Context) {
	cache.Forget(ctx)
	of(ctx).current.Store(nil)
}

func of(ctx context.Context) *request { return ctx.Value(contextKey{}).(*request) }
