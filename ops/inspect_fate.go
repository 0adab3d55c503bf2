package ops

import (
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// Fate is what becomes of a blog in a person's feed, and why.
type Fate int

// The fates. The first four are in the feed.
const (
	Shown        Fate = iota // in the inbox
	BelowFloor               // below the inbox: SQL is read there
	FromSQL                  // no inbox is read now: SQL is
	Merged                   // of a star: servers have it in memory, and merge it
	NotFannedOut             // published, and still to be brought to the inbox
	Faulty                   // should be in the inbox, and is not
	NotFollowed
	Muted // the author, who is followed
	Deleted
	AuthorGone // the account is suspended or does not exist any more
	Own        // own blogs are not in one's own feed
	NoSuchBlog
)

// InspectedBlog is a blog and its fate.
type InspectedBlog struct {
	social.BlogRef
	Handle string // of the author; empty where there is none
	Fate   Fate
}

// judge tells what becomes of the entries, and what is lacking.
func (i *inspection) judge(ctx context.Context) error {
	s, there := i.state, map[social.ID]bool{}
	if s.Seen {
		for _, ref := range s.Keys.Inbox.Refs {
			there[ref.ID] = true
			s.Entries = append(s.Entries, InspectedBlog{BlogRef: ref})
		}
	}
	for _, ref := range i.published {
		if !s.Whole() || !there[ref.ID] && ref.ID >= s.Floor() {
			s.Lacking = append(s.Lacking, InspectedBlog{BlogRef: ref, Fate: i.absent(ref)})
		}
	}
	if err := i.sights(ctx, s.Entries); err != nil {
		return err
	}
	if err := i.sights(ctx, s.Lacking); err != nil || s.Asked == nil {
		return err
	}
	asked := []InspectedBlog{*s.Asked}
	switch {
	case s.Asked.AuthorID == 0: // nobody wrote it
		s.Asked.Fate = NoSuchBlog
		return nil
	case !s.Whole() || !there[s.Asked.ID]:
		asked[0].Fate = i.absent(s.Asked.BlogRef)
	}
	s.Asked = &asked[0]
	return i.sights(ctx, asked)
}

// absent is the fate of a blog that is not in the inbox and could be shown.
func (i *inspection) absent(ref social.BlogRef) Fate {
	s := i.state
	switch {
	case !s.Whole():
		return FromSQL
	case ref.ID < s.Floor():
		return BelowFloor
	case s.Stars[ref.AuthorID]:
		return Merged
	case s.Consumer.Consumer == "", s.Consumer.Behind > 0, s.Consumer.DeadLetters > 0:
		return NotFannedOut
	}
	return Faulty
}

// sights finds the authors, and what keeps blogs from being shown.
func (i *inspection) sights(ctx context.Context, blogs []InspectedBlog) error {
	for chunk := range slices.Chunk(blogs, db.MaxIn) {
		var ids, authorIDs []social.ID
		for _, b := range chunk {
			ids, authorIDs = append(ids, b.ID), append(authorIDs, b.AuthorID)
		}
		published, err := i.db.BlogsByID(ctx, ids)
		if err != nil {
			return err
		}
		authors, err := i.db.UsersByID(ctx, authorIDs)
		if err != nil {
			return err
		}
		follows, err := i.follows(ctx, authorIDs)
		if err != nil {
			return err
		}
		handles, there := map[social.ID]string{}, map[social.ID]bool{}
		for _, u := range authors {
			handles[u.ID] = u.Handle
		}
		for _, b := range published {
			there[b.ID] = true
		}
		for n := range chunk {
			b := &chunk[n]
			b.Handle = handles[b.AuthorID]
			b.Fate = i.hidden(*b, there[b.ID], follows[b.AuthorID])
		}
	}
	return nil
}

// follows is which of these authors the person follows, also those muted. At most 900.
func (i *inspection) follows(ctx context.Context, authors []social.ID) (map[social.ID]bool, error) {
	pairs := make([]social.Pair, len(authors))
	for n, a := range authors {
		pairs[n] = social.Pair{UserID: i.state.Person.ID, TargetID: a}
	}
	edges, err := i.db.EdgesOf(ctx, pairs)
	follows := make(map[social.ID]bool, len(edges))
	for _, e := range edges {
		follows[e.TargetID] = e.State.Stands()
	}
	return follows, err
}

// hidden is what keeps a blog from being shown, or its fate as it is. The feed has the blogs
// of those followed and not muted.
func (i *inspection) hidden(b InspectedBlog, published, follows bool) Fate {
	switch {
	case b.AuthorID == i.state.Person.ID:
		return Own
	case !published:
		return Deleted
	case b.Handle == "":
		return AuthorGone
	case !i.state.Followed[b.AuthorID] && follows:
		return Muted
	case !i.state.Followed[b.AuthorID]:
		return NotFollowed
	}
	return b.Fate
}
