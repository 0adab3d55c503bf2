package feed

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// firstRange is where the next page most likely is.
	firstRange = 24 * time.Hour
	// maxRanges bounds the guesses; after them one statement takes all that is left.
	maxRanges = 5
	// rangeStep is by how much a guess is widened or narrowed.
	rangeStep = 8
	// maxRangeIDs bounds what one guess reads, or as many as there are authors if those are
	// more; a range with more is narrowed.
	maxRangeIDs = 2000
	// maxSpan is as far as a range is widened further: ids end soon beyond.
	maxSpan = math.MaxInt64 / rangeStep / 2
)

// scan walks the ids of the authors' blogs away from a cursor.
type scan struct {
	db      *db.DB
	authors []social.ID
	oldest  bool       // upwards, from old to new
	rest    db.IDRange // what has not been read
	now     social.ID  // ids above it are few: clocks differ by a second at most
	span    social.ID
}

// newScan walks away from past, upwards or down.
func newScan(d *db.DB, authors []social.ID, up bool, past social.ID, now social.Millis) *scan {
	s := &scan{
		db: d, authors: authors, oldest: up,
		rest: db.IDRange{Above: 0, Below: math.MaxInt64},
		now:  social.FirstIDAt(now),
		span: social.FirstIDAt(social.Epoch + social.Millis(firstRange.Milliseconds())),
	}
	if up {
		s.rest.Above = past
	} else {
		s.rest.Below = past
	}
	return s
}

// done tells that everything has been read.
func (s *scan) done() bool { return s.rest.Above+1 >= s.rest.Below }

// read gives the next n ids, in the order of the walk; fewer only at the end. It sends
// one statement where the first range holds them, six at most.
func (s *scan) read(ctx context.Context, n int) ([]social.BlogRef, error) {
	if len(s.authors) == 0 {
		s.passRange(s.rest)
		return nil, nil
	}
	var found []social.BlogRef
	most := max(maxRangeIDs, len(s.authors))
	for range maxRanges {
		r := s.near()
		refs, err := s.db.BlogRefsIn(ctx, s.authors, r, most+1)
		if err != nil {
			return nil, err
		}
		if len(refs) > most {
			s.span = max(1, s.span/rangeStep)
			continue
		}
		slices.SortFunc(refs, func(a, b social.BlogRef) int { return cmp.Compare(b.ID, a.ID) })
		if s.oldest {
			slices.Reverse(refs)
		}
		found = append(found, refs...)
		s.passRange(r)
		if len(found) >= n || s.done() {
			return s.stop(found, n), nil
		}
		s.span = s.widened(len(refs), n-len(found))
	}
	refs, err := s.db.BlogRefsNearest(ctx, s.authors, s.rest, s.oldest, n-len(found))
	if err != nil {
		return nil, err
	}
	if len(found)+len(refs) < n {
		s.passRange(s.rest)
	}
	return s.stop(append(found, refs...), n), nil
}

// widened is the span of the next range, after one of a span held so many of which more
// are wanted: twice what would do if they lay as densely on.
func (s *scan) widened(held, wanted int) social.ID {
	span := min(s.span, maxSpan)
	if held == 0 {
		return span * rangeStep
	}
	return span / social.ID(held) * social.ID(min(2*wanted, held*rangeStep))
}

// near is the part of the rest that lies within span of its near end, as seen from now.
func (s *scan) near() db.IDRange {
	r := s.rest
	if s.oldest {
		if s.now-r.Above > s.span {
			r.Below = min(r.Below, r.Above+s.span)
		}
		return r
	}
	r.Above = max(r.Above, min(r.Below, s.now)-s.span)
	return r
}

// passRange takes a range that has been read to its far end off the rest.
func (s *scan) passRange(r db.IDRange) {
	if s.oldest {
		s.rest.Above = r.Below - 1
	} else {
		s.rest.Below = r.Above + 1
	}
}

// stop cuts what was found to n; the rest begins behind the last that is given out.
func (s *scan) stop(found []social.BlogRef, n int) []social.BlogRef {
	if len(found) < n {
		return found
	}
	found = found[:n]
	if s.oldest {
		s.rest.Above = found[n-1].ID
	} else {
		s.rest.Below = found[n-1].ID
	}
	return found
}
