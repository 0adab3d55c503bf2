package feed

import (
	"context"
	"crypto/rand"
	"math"

	"kith/cache"
	"kith/db"
	"kith/rdb"
	"kith/social"
)

// reader walks through a feed, away from a cursor: through the inbox, among whose blogs it
// puts those of stars from memory, and below the highest of their floors through SQL. Round
// trips, without those for bodies:
//
//	inbox whole          1 to Redis; 1 more for all the rest of it
//	stars not known      and 1 statement for which are followed, 1 for their blogs
//	below its floor      and 2 to 7 statements, once for every five pages
//	inbox missing, head  1 to Redis, 2 to 7 statements, 1 to Redis that stores both
//	partition off        2 to 7 statements
type reader struct {
	*Feed
	viewer social.ID
	up     bool
	past   social.ID // reading goes on strictly past it
	scan   *scan     // of what lies ahead, once only SQL has it
	again  bool      // it has read before
	done   bool      // nothing lies ahead
}

func newReader(f *Feed, viewer social.ID, p social.Page) *reader {
	r := &reader{Feed: f, viewer: viewer, up: p.Backward, past: p.From.ID}
	if p.AtHead() && !p.Backward {
		r.past = math.MaxInt64
	}
	return r
}

// next gives the next n, in the order of the walk; fewer only at the end, and done then.
// The second time it gives all that is left of the inbox, however few, since whatever left
// too little of the first n may leave as little of the next.
func (r *reader) next(ctx context.Context, n int) (refs []social.BlogRef, err error) {
	if r.scan == nil {
		refs, err = r.cached(ctx, n)
	}
	if err == nil && r.scan != nil && len(refs) < n {
		var more []social.BlogRef
		more, err = r.scan.read(ctx, n-len(refs))
		refs = append(refs, more...)
		r.done = len(refs) < n
	}
	if len(refs) > 0 {
		r.past = refs[len(refs)-1].ID
	}
	r.again = true
	return refs, err
}

// cached reads what the inbox has, and sets scan where the rest is for SQL to tell.
func (r *reader) cached(ctx context.Context, n int) ([]social.BlogRef, error) {
	most := n
	if r.again {
		most = max(n, min(r.size, db.MaxIn))
	}
	part := rdb.Partition(r.viewer)
	epoch, on := r.caches.Epoch(part)
	if !on {
		return nil, r.scanAll(ctx)
	}
	home := rdb.NewHome(r.viewer, r.past, r.up, most, rand.Text()[:16])
	r.caches.Redis.Run(ctx, func(int) int64 { return epoch }, home.Call)
	got, err := home.Answer()
	switch {
	case social.HasCode(err, social.Unavailable):
		r.caches.Failed(ctx, part)
		return nil, r.scanAll(ctx)
	case err != nil:
		return nil, err
	}
	cache.Learn(ctx, got.SinceWrote)
	switch {
	case got.Version < 0 || got.Missing:
		return r.fill(ctx, n, home.Token, epoch, got)
	case !got.Whole:
		return nil, r.scanAll(ctx)
	}
	merged, err := r.merge(ctx, &got, most)
	switch {
	case err != nil:
		return nil, err
	case !merged, r.up && r.past < got.Floor:
		return nil, r.scanAll(ctx)
	case r.up || got.Floor == 0:
		r.done = len(got.Refs) < most
		return got.Refs, nil
	case len(got.Refs) >= n || r.again && len(got.Refs) > 0: // the rest of the inbox
		return got.Refs, nil
	}
	refs, err := r.below(ctx, n, got)
	r.done = len(refs) < n
	return refs, err
}

// scanAll leaves all that lies ahead to SQL.
func (r *reader) scanAll(ctx context.Context) error {
	_, followed, err := r.db.Followed(ctx, r.viewer)
	if err == nil {
		r.scan = newScan(r.db, idsOf(followed), r.up, r.past, r.clock.NowMS())
	}
	return err
}

// fill reads in SQL what the reading found missing, and stores it: whom the viewer
// follows, and the inbox, whose first n it gives.
func (r *reader) fill(ctx context.Context, n int, token string, epoch int64, got rdb.HomeAnswer) (refs []social.BlogRef, err error) {
	version, followed, err := r.db.Followed(ctx, r.viewer)
	if err != nil {
		return nil, err
	}
	if list, ok := r.Stars.known(); ok && len(list.ids) > 0 { // the next page needs them
		r.keepStars(list, version, followed)
	}
	r.scan = newScan(r.db, idsOf(followed), r.up, r.past, r.clock.NowMS())
	var fills []*rdb.Call
	if got.Version < 0 {
		fills = append(fills, rdb.FillFollowing(r.viewer, token, version, followed))
	}
	if got.Missing {
		select {
		case r.builds <- struct{}{}:
			defer func() { <-r.builds }()
			if refs, err = r.scan.read(ctx, r.size); err != nil {
				return nil, err
			}
			fills = append(fills, rdb.Build(r.viewer, token, r.size, refs, len(refs) < r.size))
			if len(refs) > n { // what follows is in the inbox
				refs, r.scan = refs[:n], nil
			}
		default: // too many at once: whoever reads in 10 s may build it
		}
	}
	r.caches.Redis.Run(ctx, func(int) int64 { return epoch }, fills...)
	return refs, nil
}

func idsOf(peers []social.Peer) []social.ID {
	ids := make([]social.ID, len(peers))
	for i, p := range peers {
		ids[i] = p.ID
	}
	return ids
}
