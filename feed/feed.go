package feed

import (
	"context"

	"kith/db"
	"kith/social"
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// Limit refuses a blog that comes too soon; nil lets all through.
	Limit func(ctx context.Context, author social.ID) error
}

// Feed publishes and reads blogs. Safe for parallel use.
type Feed struct {
	db    *db.DB
	ids   *social.Snowflake
	clock social.Clock
	limit func(ctx context.Context, author social.ID) error
}

// New makes the feed over the store; ids names the blogs.
func New(d *db.DB, ids *social.Snowflake, clock social.Clock, cfg Config) *Feed {
	return &Feed{db: d, ids: ids, clock: clock, limit: cfg.Limit}
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
