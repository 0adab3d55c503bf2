package feed

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"

	"kith/rdb"
	"kith/social"
)

const (
	// pagesAhead is how many pages below the floor are read at once.
	pagesAhead = 5
	// settled is how old a cursor must be for reading ahead: nothing that is published
	// later can lie below it, see [maxIDAge]. Clocks differ by a second at most.
	settled = 10 * time.Second
	// aheadLife and maxAhead bound what is kept, in ids; it does not grow wrong.
	aheadLife = time.Minute
	maxAhead  = 4_000_000
)

// stretch is a piece of a feed below the inbox: all refs below from down to the last, or
// to the end of the feed. It is whole as long as the viewer's edges are of its version:
// blogs in it can only vanish, and that shows when they are read.
type stretch struct {
	version  int64
	followed []social.ID
	from     social.ID
	refs     []social.BlogRef
	atEnd    bool
}

func (s *stretch) weight() uint32 { return uint32(len(s.followed)+2*len(s.refs)) + 16 }

// kept is what is asked of Otter, for each reader. Named in [Feed], Otter would be compiled
// once more in each package that calls Feed.
type kept[V any] interface {
	GetIfPresent(viewer social.ID) (V, bool)
	Set(viewer social.ID, value V) (V, bool)
}

func newAhead() kept[*stretch] {
	return otter.Must(&otter.Options[social.ID, *stretch]{
		MaximumWeight:    maxAhead,
		Weigher:          func(_ social.ID, s *stretch) uint32 { return s.weight() },
		ExpiryCalculator: otter.ExpiryWriting[social.ID, *stretch](aheadLife),
	})
}

// below reads on below the inbox, whose refs it begins with: from what was read ahead, or
// from SQL, some pages at once.
func (r *reader) below(ctx context.Context, n int, got rdb.HomeAnswer) ([]social.BlogRef, error) {
	from := min(r.past, got.Floor)
	left := n - len(got.Refs)
	var followed []social.ID
	if kept, ok := r.ahead.GetIfPresent(r.viewer); ok && kept.version == got.Version {
		if refs, enough := kept.after(from, left); enough {
			return append(got.Refs, refs...), nil
		}
		followed = kept.followed
	} else {
		version, peers, err := r.db.Followed(ctx, r.viewer)
		if err != nil {
			return nil, err
		}
		followed = idsOf(peers)
		if version != got.Version { // by now: above and below the floor would be of two
			r.scan = newScan(r.db, followed, false, r.past, r.clock.NowMS())
			return nil, nil
		}
	}
	scan := newScan(r.db, followed, false, from, r.clock.NowMS())
	if r.clock.NowMS()-from.Time() < social.Millis(settled.Milliseconds()) {
		r.scan = scan
		return got.Refs, nil
	}
	refs, err := scan.read(ctx, pagesAhead*left)
	if err != nil {
		return nil, err
	}
	kept := &stretch{version: got.Version, followed: followed, from: from, refs: refs, atEnd: len(refs) < pagesAhead*left}
	r.ahead.Set(r.viewer, kept)
	refs, _ = kept.after(from, left)
	return append(got.Refs, refs...), nil
}

// after gives the n refs below an id, and whether the stretch knows them: fewer only at
// the end of the feed.
func (s *stretch) after(id social.ID, n int) (refs []social.BlogRef, known bool) {
	if id > s.from {
		return nil, false
	}
	for i, ref := range s.refs {
		if ref.ID < id {
			refs = s.refs[i:min(i+n, len(s.refs)):len(s.refs)]
			break
		}
	}
	return refs, len(refs) == n || s.atEnd
}
