package feed

import (
	"context"

	"kith/social"
)

// Home reads a page of the viewer's feed: the blogs of the people they follow now, newest
// id first, each once. A page is short only at the end.
//
// It sends 4 statements where the first range of time holds the page, and 9 at most. When
// blogs vanish between two of them it reads on: 3 more as a rule, 8 at most.
func (f *Feed) Home(ctx context.Context, viewer social.ID, p social.Page) (social.Part[Entry], error) {
	authors, err := f.db.Authors(ctx, viewer)
	if err != nil || len(authors) == 0 {
		return social.Cut[Entry](p, nil), err
	}
	s := newScan(f.db, authors, p, f.clock.NowMS())
	var entries []Entry
	for len(entries) <= p.Limit && !s.done() {
		ids, err := s.read(ctx, p.Limit+1-len(entries))
		if err != nil {
			return social.Part[Entry]{}, err
		}
		visible, err := f.entries(ctx, ids)
		if err != nil {
			return social.Part[Entry]{}, err
		}
		entries = append(entries, visible...)
	}
	part := social.Cut(p, entries)
	place(p, part.Items)
	return part, nil
}

// entries reads blogs and their authors, in the order of the ids. What was deleted since
// the ids were read, or has lost its author, is left out.
func (f *Feed) entries(ctx context.Context, ids []social.ID) ([]Entry, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	blogs, err := f.db.BlogsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[social.ID]*social.Blog, len(blogs))
	var authorIDs []social.ID
	for _, b := range blogs {
		byID[b.ID] = b
		authorIDs = append(authorIDs, b.AuthorID)
	}
	users, err := f.db.UsersByID(ctx, authorIDs)
	if err != nil {
		return nil, err
	}
	authors := make(map[social.ID]*social.User, len(users))
	for _, u := range users {
		authors[u.ID] = u
	}
	var entries []Entry
	for _, id := range ids {
		if b := byID[id]; b != nil && authors[b.AuthorID] != nil {
			entries = append(entries, Entry{Blog: b, Author: authors[b.AuthorID]})
		}
	}
	return entries, nil
}
