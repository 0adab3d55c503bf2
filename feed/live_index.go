package feed

import (
	"cmp"
	"context"
	"slices"

	"kith/social"
)

// sort takes what was heard: first whom viewers follow now, then for whom the blogs are, in
// the order of their ids. Called with mu held.
func (l *Live) sort(now heard) []job {
	shown := l.apply(now.changes)
	slices.SortFunc(now.blogs, func(a, b publication) int { return cmp.Compare(a.ID, b.ID) })
	var jobs []job
	for _, p := range now.blogs {
		followers := l.authors[p.AuthorID]
		to := make([]*viewer, 0, len(followers))
		for _, v := range followers {
			// Of whom somebody begins to follow, older blogs are not sent.
			since, isNew := shown[social.Pair{UserID: v.id, TargetID: p.AuthorID}]
			if !isNew || !p.event.Before(since.event) {
				to = append(to, v)
			}
		}
		if len(to) > 0 {
			jobs = append(jobs, job{p, to})
		}
	}
	return jobs
}

// apply brings changes to the index, each viewer's in their order, and gives the edges that
// begin to show with their last beginning.
func (l *Live) apply(changes []change) map[social.Pair]change {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.Version, b.Version) })
	shown := map[social.Pair]change{}
	for _, c := range changes {
		v := l.viewers[c.UserID]
		if v == nil { // gone since
			continue
		}
		if c.IsShown() {
			shown[social.Pair{UserID: c.UserID, TargetID: c.TargetID}] = c
		}
		if v.reading > 0 {
			v.late = append(v.late, c.FollowChange)
		}
		l.move(v, c.FollowChange)
	}
	return shown
}

// move brings one change to the index, if what was read does not have it.
func (l *Live) move(v *viewer, c social.FollowChange) {
	switch {
	case c.Version <= v.version:
	case c.IsShown():
		l.add(v, c.TargetID)
	default:
		l.drop(v, c.TargetID)
	}
}

func (l *Live) add(v *viewer, author social.ID) {
	if _, is := v.authors[author]; is {
		return
	}
	v.authors[author] = int32(len(l.authors[author]))
	l.authors[author] = append(l.authors[author], v)
}

// drop fills the place that becomes free with the last.
func (l *Live) drop(v *viewer, author social.ID) {
	at, is := v.authors[author]
	if !is {
		return
	}
	all := l.authors[author]
	end := len(all) - 1
	all[at], all[end].authors[author] = all[end], at
	all[end] = nil
	l.authors[author] = all[:end]
	if end == 0 {
		delete(l.authors, author)
	}
	delete(v.authors, author)
}

// know makes the index know whom the viewer follows, and gives whom they follow now. The
// index is read once, and again after a gap; else it goes by what is heard, so that it
// never knows of a follow before the blogs that came before that.
func (l *Live) know(ctx context.Context, v *viewer) ([]social.ID, error) {
	for {
		gaps := l.beginReading(v)
		version, peers, err := l.db.Followed(ctx, v.id)
		followed := idsOf(peers)
		if known := l.endReading(v, gaps, version, followed, err); known || err != nil {
			return followed, err
		}
	}
}

func (l *Live) beginReading(v *viewer) (gaps int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.reading++
	return l.gaps
}

// endReading takes what was read, unless it is known already; false where it was read too
// early.
func (l *Live) endReading(v *viewer, gaps int, version int64, followed []social.ID, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := v.late
	if v.reading--; v.reading == 0 {
		v.late = nil
	}
	switch {
	case err != nil, gaps != l.gaps:
		return false
	case v.read && v.gaps == gaps, l.viewers[v.id] != v: // or nobody waits for it any more
		return true
	}
	l.forget(v)
	v.read, v.gaps, v.version = true, gaps, version
	for _, author := range followed {
		l.add(v, author)
	}
	for _, c := range late { // of one viewer they come in their order, or in that of their batches
		l.move(v, c)
	}
	return true
}

// isKnown tells whether the index knows whom the viewer follows.
func (l *Live) isKnown(v *viewer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return v.read && v.gaps == l.gaps
}

// forget takes the viewer out of the index.
func (l *Live) forget(v *viewer) {
	for author := range v.authors {
		l.drop(v, author)
	}
	v.authors = map[social.ID]int32{}
}
