package feed

import (
	"slices"
	"sync/atomic"

	"kith/social"
)

// shelf is what a server keeps of a star: the ids of the newest blogs, newest first, all
// that there are from floor on; floor is 0 when it is whole. It hears of blogs from before
// it is read in SQL: so no blog is committed after the one and before the other. What was
// deleted may still stand in it, and shows when the blogs themselves are read.
type shelf struct {
	star  social.ID
	ids   []social.ID // never changed in place: readers hold it
	floor social.ID
	isSet bool          // it has been read
	done  chan struct{} // closed when it has been read, or could not be
	used  atomic.Int64  // when somebody last read it, in ns
}

// put adds blogs, in any order, which may be there already, and keeps the newest. Below the
// floor they are left out.
func (s *shelf) put(most int, ids ...social.ID) {
	all := slices.Concat(s.ids, ids)
	all = slices.DeleteFunc(all, func(id social.ID) bool { return id < s.floor })
	slices.SortFunc(all, newestFirst)
	all = slices.Compact(all)
	if len(all) > most {
		all = all[:most]
		s.floor = all[most-1]
	}
	s.ids = all
}

// fill adds what was read in SQL: the newest blogs, all of them or at least most.
func (s *shelf) fill(most int, refs []social.BlogRef) {
	ids := make([]social.ID, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	if len(ids) >= most {
		s.floor = max(s.floor, slices.Min(ids))
	}
	s.put(most, ids...)
	s.isSet = true
}

// drop takes a blog out.
func (s *shelf) drop(id social.ID) {
	if i, ok := slices.BinarySearchFunc(s.ids, id, newestFirst); ok {
		s.ids = slices.Delete(slices.Clone(s.ids), i, i+1)
	}
}

// run is what is to be read of a shelf, at one moment.
type run struct {
	star  social.ID
	ids   []social.ID // newest first
	floor social.ID
}

// beyond is the part of the run that lies strictly past an id, upwards or down.
func (r run) beyond(past social.ID, up bool) run {
	i, ok := slices.BinarySearchFunc(r.ids, past, newestFirst)
	switch {
	case up:
		r.ids = r.ids[:i]
	case ok:
		r.ids = r.ids[i+1:]
	default:
		r.ids = r.ids[i:]
	}
	return r
}

func newestFirst(a, b social.ID) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
