package feed

import (
	"context"
	"math"

	"kith/social"
)

// ByAuthor lists the blogs of a person, newest first, by the page.
func (f *Feed) ByAuthor(ctx context.Context, author *social.User, p social.Page) (social.Part[Entry], error) {
	below := social.ID(math.MaxInt64)
	if p.From != nil {
		below = p.From.ID
	}
	blogs, err := f.db.BlogsByAuthor(ctx, author.ID, below, p.Limit+1)
	if err != nil {
		return social.Part[Entry]{}, err
	}
	entries := make([]Entry, len(blogs))
	for i, b := range blogs {
		entries[i] = Entry{Blog: b, Author: author}
	}
	part := social.Cut(p, entries)
	place(p, part.Items)
	return part, nil
}
