package feed

import (
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
	// maxRangeIDs bounds what one guess reads; a range with more is narrowed.
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

func newScan(d *db.DB, authors []social.ID, p social.Page, now social.Millis) *scan {
	s := &scan{
		db: d, authors: authors, oldest: p.Backward,
		rest: db.IDRange{Above: 0, Below: math.MaxInt64},
		now:  social.FirstIDAt(now),
		span: social.FirstIDAt(social.Epoch + social.Millis(firstRange.Milliseconds())),
	}
	switch {
	case p.AtHead():
	case p.Backward:
		s.rest.Above = p.From.ID
	default:
		s.rest.Below = p.From.ID
	}
	return s
}

// done tells that everything has been read.
func (s *scan) done() bool { return s.rest.Above+1 >= s.rest.Below }

// read gives the next n ids, in the order of the walk; fewer only at the end. It sends
// one statement where the first range holds them, six at most.
func (s *scan) read(ctx context.Context, n int) ([]social.ID, error) {
	var found []social.ID
	for range maxRanges {
		r := s.near()
		ids, err := s.db.BlogIDsIn(ctx, s.authors, r, maxRangeIDs+1)
		if err != nil {
			return nil, err
		}
		if len(ids) > maxRangeIDs {
			s.span = max(1, s.span/rangeStep)
			continue
		}
		slices.Sort(ids)
		if !s.oldest {
			slices.Reverse(ids)
		}
		found = append(found, ids...)
		s.passRange(r)
		if len(found) >= n || s.done() {
			return s.stop(found, n), nil
		}
		s.span = min(s.span, maxSpan) * rangeStep
	}
	ids, err := s.db.BlogIDsNearest(ctx, s.authors, s.rest, s.oldest, n-len(found))
	if err != nil {
		return nil, err
	}
	if len(found)+len(ids) < n {
		s.passRange(s.rest)
	}
	return s.stop(append(found, ids...), n), nil
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
func (s *scan) stop(found []social.ID, n int) []social.ID {
	if len(found) < n {
		return found
	}
	found = found[:n]
	if s.oldest {
		s.rest.Above = found[n-1]
	} else {
		s.rest.Below = found[n-1]
	}
	return found
}
