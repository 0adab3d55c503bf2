package feed

import (
	"context"

	"kith/db"
	"kith/social"
)

// Home reads a page of the viewer's feed: the blogs of the people they follow now, newest
// id first, each once. A page is short only at the end.
//
// From a whole inbox it is one round trip to Redis, and two statements for what this
// server does not have in process. See [reader] for what it is elsewhere. When blogs have
// vanished it reads on, four times as much.
func (f *Feed) Home(ctx context.Context, viewer social.ID, p social.Page) (social.Part[Entry], error) {
	r := newReader(f, viewer, p)
	var entries []Entry
	for n := p.Limit + 1; len(entries) <= p.Limit && !r.done; n = min(4*n, db.MaxIn) {
		refs, err := r.next(ctx, n)
		if err != nil {
			return social.Part[Entry]{}, err
		}
		visible, err := f.entries(ctx, refs)
		if err != nil {
			return social.Part[Entry]{}, err
		}
		entries = append(entries, visible...)
	}
	part := social.Cut(p, entries)
	place(p, part.Items)
	return part, nil
}

// entries reads blogs and their authors, in the order of the refs. What was deleted, or
// has lost its author, is left out.
func (f *Feed) entries(ctx context.Context, refs []social.BlogRef) ([]Entry, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	var ids, authorIDs []social.ID
	seen := map[social.ID]bool{}
	for _, r := range refs {
		ids = append(ids, r.ID)
		if !seen[r.AuthorID] {
			seen[r.AuthorID] = true
			authorIDs = append(authorIDs, r.AuthorID)
		}
	}
	blogs, err := f.caches.Blogs(ctx, ids)
	if err != nil {
		return nil, err
	}
	authors, err := f.caches.Users(ctx, authorIDs)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, r := range refs {
		if b, author := blogs[r.ID], authors[r.AuthorID]; b != nil && author != nil {
			entries = append(entries, Entry{Blog: b, Author: author})
		}
	}
	return entries, nil
}
