package feed

import (
	"context"

	"kith/cache"
	"kith/db"
	"kith/social"
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// InboxSize is how many blogs an inbox keeps; 0 is 500.
	InboxSize int
	// Stars says who is a star.
	Stars StarsConfig
	// Limit refuses a blog that comes too soon; nil lets all through.
	Limit func(ctx context.Context, author social.ID) error
}

// Feed publishes and reads blogs. Safe for parallel use.
type Feed struct {
	db     *db.DB
	caches *cache.Caches
	ids    *social.Snowflake
	clock  social.Clock
	size   int
	limit  func(ctx context.Context, author social.ID) error
	builds chan struct{} // one place for each inbox that may be built at once
	pieces chan struct{} // one for each piece of a fan-out that may be under way
	ahead  kept[*stretch]

	// Stars are what this server knows of the stars; who serves feeds from caches runs it.
	Stars         *Stars
	followedStars kept[followedStars]
}

// maxBuilds bounds how many inboxes a server builds at once, so that a Redis that comes
// back empty does not send everybody to SQL together.
const maxBuilds = 8

// New makes the feed over the store and its caches; ids names the blogs.
func New(d *db.DB, caches *cache.Caches, ids *social.Snowflake, clock social.Clock, cfg Config) *Feed {
	f := &Feed{
		db: d, caches: caches, ids: ids, clock: clock, size: cfg.InboxSize, limit: cfg.Limit,
		builds: make(chan struct{}, maxBuilds), pieces: make(chan struct{}, maxPieces), ahead: newAhead(),
		Stars: newStars(d, cfg.Stars), followedStars: newFollowedStars(),
	}
	if f.size == 0 {
		f.size = 500
	}
	return f
}

// Entry is a blog in a list, with its author and its place.
type Entry struct {
	Blog   *social.Blog
	Author *social.User
	Cursor social.Cursor
}

// place gives the entries of a page their cursors. Offset counts entries of one time as
// they are given out, going on from the page's cursor; reading backwards nobody knows how
// many came before, and it is 0.
func place(p social.Page, entries []Entry) {
	last := p.From
	for i := range entries {
		c := social.Cursor{MinTime: entries[i].Blog.CreatedAt(), ID: entries[i].Blog.ID}
		switch {
		case p.Backward:
		case c.MinTime != last.MinTime:
			c.Offset = 1
		case last.Offset > 0: // else unknown, and stays so
			c.Offset = last.Offset + 1
		}
		entries[i].Cursor, last = c, c
	}
}
