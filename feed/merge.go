package feed

import (
	"container/heap"
	"context"

	"github.com/maypok86/otter/v2"

	"kith/rdb"
	"kith/social"
)

// maxFollowedStars bounds what is kept of who follows which stars, in ids.
const maxFollowedStars = 1_000_000

// followedStars are the stars whose blogs a viewer's feed has, as of a version of the
// viewer's edges and of the list of stars.
type followedStars struct {
	version, list int64
	stars         []social.ID
}

func newFollowedStars() kept[followedStars] {
	return otter.Must(&otter.Options[social.ID, followedStars]{
		MaximumWeight: maxFollowedStars,
		Weigher:       func(_ social.ID, f followedStars) uint32 { return uint32(len(f.stars)) + 8 },
	})
}

// merge puts the blogs of the stars whom the viewer follows among those that were read of
// the inbox, most at the most, and raises the floor to the highest of all. Nothing but
// memory is read, once this server has the stars and knows whom of them the viewer follows.
// It says no where the memory cannot be believed, or not yet: then SQL is to be read.
func (r *reader) merge(ctx context.Context, got *rdb.HomeAnswer, most int) (merged bool, err error) {
	list, ok := r.Stars.known()
	if !ok {
		return false, nil
	}
	stars, ok, err := r.starsOf(ctx, list, got.Version)
	if err != nil || !ok || len(stars) == 0 {
		return ok, err
	}
	runs, ok, err := r.Stars.runs(ctx, stars)
	if err != nil || !ok {
		return false, err
	}
	for _, run := range runs {
		got.Floor = max(got.Floor, run.floor)
	}
	got.Refs = mergeRuns(got.Refs, runs, r.past, got.Floor, r.up, most)
	return true, nil
}

// starsOf are the stars whose blogs the viewer's feed has as of the version of the viewer's
// edges; one statement where this server does not know. It says no where SQL is of another
// version by now: a page of the inbox of the one and the stars of the other is of neither.
func (r *reader) starsOf(ctx context.Context, list starList, version int64) ([]social.ID, bool, error) {
	if len(list.ids) == 0 {
		return nil, true, nil
	}
	if kept, ok := r.followedStars.GetIfPresent(r.viewer); ok && kept.version == version && kept.list == list.version {
		return kept.stars, true, nil
	}
	now, followed, err := r.db.Followed(ctx, r.viewer)
	if err != nil {
		return nil, false, err
	}
	return r.keepStars(list, now, followed), now == version, nil
}

// keepStars keeps which of those followed are stars.
func (r *reader) keepStars(list starList, version int64, followed []social.Peer) []social.ID {
	kept := followedStars{version: version, list: list.version}
	for _, p := range followed {
		if list.ids[p.ID] {
			kept.stars = append(kept.stars, p.ID)
		}
	}
	r.followedStars.Set(r.viewer, kept)
	return kept.stars
}

// mergeRuns gives the first refs, most at the most, of the inbox's and the stars' together,
// in the order of the walk, each once, and none below the floor. Where the inbox's are most
// there may be more of them; less are all that there are.
func mergeRuns(inbox []social.BlogRef, runs []run, past, floor social.ID, up bool, most int) []social.BlogRef {
	h := walk{up: up}
	for _, r := range runs {
		if r = r.beyond(past, up); len(r.ids) > 0 {
			h.runs = append(h.runs, r)
		}
	}
	heap.Init(&h)
	var refs []social.BlogRef
	for len(refs) < most && (len(inbox) > 0 || len(h.runs) > 0) {
		var next social.BlogRef
		if len(h.runs) == 0 || len(inbox) > 0 && !h.before(h.head(0), inbox[0].ID) {
			next, inbox = inbox[0], inbox[1:]
		} else {
			next = h.next()
		}
		if next.ID < floor {
			break
		}
		if len(refs) == 0 || refs[len(refs)-1] != next {
			refs = append(refs, next)
		}
	}
	return refs
}

// walk is a heap of runs, the one whose next id comes first on top.
type walk struct {
	up   bool
	runs []run
}

func (h *walk) before(a, b social.ID) bool { return a != b && (a < b) == h.up }

// head is the next id of a run.
func (h *walk) head(i int) social.ID {
	if ids := h.runs[i].ids; h.up {
		return ids[len(ids)-1]
	}
	return h.runs[i].ids[0]
}

// next takes the next ref of all.
func (h *walk) next() social.BlogRef {
	top := &h.runs[0]
	ref := social.BlogRef{ID: h.head(0), AuthorID: top.star}
	if h.up {
		top.ids = top.ids[:len(top.ids)-1]
	} else {
		top.ids = top.ids[1:]
	}
	if len(top.ids) == 0 {
		heap.Pop(h)
	} else {
		heap.Fix(h, 0)
	}
	return ref
}

// Len, Less, Swap, Push and Pop make it a [heap.Interface].
func (h *walk) Len() int           { return len(h.runs) }
func (h *walk) Less(i, j int) bool { return h.before(h.head(i), h.head(j)) }
func (h *walk) Swap(i, j int)      { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }
func (h *walk) Push(x any)         { h.runs = append(h.runs, x.(run)) }
func (h *walk) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
