package feed

import (
	"context"

	"kith/social"
)

// ByAuthor lists, for each listing, the blogs of its owner, newest first. Author of the
// entries is nil: whoever asks has them.
func (f *Feed) ByAuthor(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[Entry], error) {
	blogs, err := f.db.BlogsByAuthor(ctx, ls)
	parts := make(map[social.Listing]social.Part[Entry], len(ls))
	for _, l := range ls {
		entries := make([]Entry, len(blogs[l]))
		for i, b := range blogs[l] {
			entries[i].Blog = b
		}
		part := social.Cut(l.Page, entries)
		place(l.Page, part.Items)
		parts[l] = part
	}
	return parts, err
}
