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
// server does not have in process. See [reader] for what it is elsewhere. Where that does
// not fill the page, since authors are hidden or blogs have vanished, it reads on: what is
// left of the inbox at once, three round trips more, then four times as many each time.
func (f *Feed) Home(ctx context.Context, viewer social.ID, p social.Page) (social.Part[Entry], error) {
	r := newReader(f, viewer, p)
	var entries []Entry
	var refs []social.BlogRef // that were read, and whose blogs were not
	var authors map[social.ID]*social.User
	for n := p.Limit + 1; len(entries) <= p.Limit && (len(refs) > 0 || !r.done); n = min(4*n, db.MaxIn) {
		if len(refs) == 0 {
			read, err := r.next(ctx, n)
			if err != nil {
				return social.Part[Entry]{}, err
			}
			if refs, authors, err = f.visible(ctx, read); err != nil {
				return social.Part[Entry]{}, err
			}
		}
		now := refs[:min(n, len(refs))]
		refs = refs[len(now):]
		found, err := f.entries(ctx, now, authors)
		if err != nil {
			return social.Part[Entry]{}, err
		}
		entries = append(entries, found...)
	}
	part := social.Cut(p, entries)
	place(p, part.Items)
	return part, nil
}

// visible leaves out the refs whose authors are gone or hidden, and gives the others'
// authors. Before the blogs are read: of those nobody reads more than the page may need.
func (f *Feed) visible(ctx context.Context, refs []social.BlogRef) ([]social.BlogRef, map[social.ID]*social.User, error) {
	var ids []social.ID
	seen := map[social.ID]bool{}
	for _, r := range refs {
		if !seen[r.AuthorID] {
			seen[r.AuthorID] = true
			ids = append(ids, r.AuthorID)
		}
	}
	authors, err := f.caches.Users(ctx, ids)
	var visible []social.BlogRef
	for _, r := range refs {
		if authors[r.AuthorID] != nil {
			visible = append(visible, r)
		}
	}
	return visible, authors, err
}

// entries reads blogs, in the order of the refs, and puts their authors beside them. What
// was deleted is left out.
func (f *Feed) entries(ctx context.Context, refs []social.BlogRef, authors map[social.ID]*social.User) ([]Entry, error) {
	ids := make([]social.ID, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	blogs, err := f.caches.Blogs(ctx, ids)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, r := range refs {
		if b := blogs[r.ID]; b != nil {
			entries = append(entries, Entry{Blog: b, Author: authors[r.AuthorID]})
		}
	}
	return entries, nil
}
