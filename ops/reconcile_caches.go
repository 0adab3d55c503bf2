package ops

import (
	"context"
	"math"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

const (
	// cacheLooks is how often caches are looked at until they are judged.
	cacheLooks = 5
	// consumerPatience is how long the consumer is waited for, and consumerPoll how often it
	// is asked how far it is.
	consumerPatience, consumerPoll = 10 * time.Second, 50 * time.Millisecond
	// ageSlack is by how much the age of a key may be told wrong.
	ageSlack = 100 * time.Millisecond
)

// caches looks at what Redis holds of these people, where servers believe it.
func (r *reconciler) caches(ctx context.Context, people []social.ID) error {
	if r.cfg.Redis == nil {
		return nil
	}
	parts, err := r.believed(ctx)
	if err != nil {
		return err
	}
	var seen []social.ID
	for _, who := range people {
		if parts[rdb.Partition(who)] != 0 {
			seen = append(seen, who)
		}
	}
	keyed, err := r.cfg.Redis.Keyed(ctx, seen, func(part int) int64 { return parts[part] })
	if err != nil {
		r.report.Unjudged += len(seen)
		return ctx.Err()
	}
	r.report.Keyed += len(keyed)
	doubts := make([]*cacheLook, 0, len(keyed))
	for _, who := range keyed {
		look, err := r.look(ctx, who, parts)
		if err != nil {
			return err
		}
		if look.doubtful() {
			doubts = append(doubts, look)
		}
	}
	return r.lookAgain(ctx, doubts)
}

// believed is the epoch of each partition whose caches are on, and whose server says the
// same; 0 for the others.
func (r *reconciler) believed(ctx context.Context) (epochs [rdb.Parts]int64, err error) {
	parts, err := r.db.CacheParts(ctx)
	if err != nil {
		return epochs, err
	}
	histories := r.cfg.Redis.Histories(ctx)
	for _, p := range parts {
		if h := histories[p.Part]; p.On && h.Err == nil && h.Epoch == p.Epoch {
			epochs[p.Part] = p.Epoch
		}
	}
	return epochs, nil
}

// cacheLook is what Redis holds of a person, and what the rows said right after that.
type cacheLook struct {
	who     social.ID
	epoch   int64 // 0: nothing is believed
	unseen  error
	garbled error // a key cannot be read
	keys    rdb.FeedKeys
	at      time.Time // when the keys had been read

	version   int64
	followed  map[social.ID]bool
	counted   bool // the rows of the counts are there
	counts    social.Counts
	published []social.BlogRef // by those followed, down to the floor
	visible   map[social.ID]bool
	stars     map[social.ID]bool // among those followed
}

// look reads the keys, then the rows: so these are never behind the keys.
func (r *reconciler) look(ctx context.Context, who social.ID, parts [rdb.Parts]int64) (*cacheLook, error) {
	l := &cacheLook{who: who, epoch: parts[rdb.Partition(who)], followed: map[social.ID]bool{}, visible: map[social.ID]bool{}}
	if l.epoch == 0 {
		return l, nil
	}
	keys, err := r.cfg.Redis.FeedKeys(ctx, who, l.epoch)
	switch {
	case social.HasCode(err, social.Unavailable):
		l.unseen = err
		return l, ctx.Err()
	case err != nil:
		l.garbled = err
		return l, nil
	}
	l.keys, l.at = keys, time.Now()
	version, followed, err := r.db.Followed(ctx, who)
	if err != nil {
		return nil, err
	}
	ids := make([]social.ID, len(followed))
	for i, p := range followed {
		ids[i], l.followed[p.ID] = p.ID, true
	}
	l.version = version
	if keys.Counts.There {
		counts, err := r.db.CountsByID(ctx, []social.ID{who})
		if err != nil {
			return nil, err
		}
		l.counts, l.counted = counts[who]
	}
	if !l.whole() {
		return l, nil
	}
	above := db.IDRange{Above: max(0, l.floor()-1), Below: math.MaxInt64}
	if l.published, err = r.db.BlogRefsNearest(ctx, ids, above, false, maxCompared); err != nil {
		return nil, err
	}
	for _, ref := range l.published {
		l.visible[ref.ID] = true
	}
	l.stars, err = starsAmong(ctx, r.db, ids)
	return l, err
}

// whole says that the inbox is read, down to its floor.
func (l *cacheLook) whole() bool { return l.keys.Inbox.There && !l.keys.Inbox.Building }

// floor is the lowest blog of the inbox; 0 where nothing is below.
func (l *cacheLook) floor() social.ID { return (&FeedState{Keys: l.keys}).Floor() }

// doubtful says that the keys are not what the rows are, which may be for a moment only.
func (l *cacheLook) doubtful() bool {
	return l.unseen != nil || l.garbled != nil || l.otherFollowed() || l.otherCounts() || len(l.lacking()) > 0 || len(l.leftovers()) > 0
}

func (l *cacheLook) otherFollowed() bool {
	k := l.keys.Following
	if !k.There {
		return false
	}
	same := k.Version == l.version && len(k.Followed) == len(l.followed)
	for _, id := range k.Followed {
		same = same && l.followed[id]
	}
	return !same
}

func (l *cacheLook) otherCounts() bool {
	k := l.keys.Counts
	return k.There && l.counted && (k.Counts != l.counts || k.Age < 0)
}

// lacking is what should be in a whole inbox, and is not. Blogs of stars need not: servers
// have them in memory, or read SQL.
func (l *cacheLook) lacking() (ids []social.ID) {
	if !l.whole() {
		return nil
	}
	there := map[social.ID]bool{}
	for _, ref := range l.keys.Inbox.Refs {
		there[ref.ID] = true
	}
	for _, ref := range l.published {
		if !there[ref.ID] && ref.ID >= l.floor() && !l.stars[ref.AuthorID] {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}

// leftovers is what is in a whole inbox and shown to nobody. Of more blogs than are compared
// it cannot be told.
func (l *cacheLook) leftovers() (ids []social.ID) {
	if !l.whole() || len(l.published) == maxCompared {
		return nil
	}
	for _, ref := range l.keys.Inbox.Refs {
		if !l.visible[ref.ID] {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}
