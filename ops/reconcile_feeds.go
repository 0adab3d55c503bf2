package ops

import (
	"context"
	"fmt"
	"math"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// feedLook is what Redis holds of a person's feed and counts.
type feedLook struct {
	looked
	keys rdb.FeedKeys
	at   time.Time // when the keys had been read

	version   int64
	followed  map[social.ID]bool
	counted   bool // the rows of the counts are there
	counts    social.Counts
	published []social.BlogRef // by those followed, down to the floor
	visible   map[social.ID]bool
	stars     map[social.ID]bool // among those followed
}

// lookAtFeed reads the keys, then the rows: so these are never behind the keys.
func (r *reconciler) lookAtFeed(ctx context.Context, who social.ID, parts epochs) (*feedLook, error) {
	l := &feedLook{looked: parts.looked(who), followed: map[social.ID]bool{}, visible: map[social.ID]bool{}}
	if l.epoch == 0 {
		return l, nil
	}
	keys, err := r.cfg.Redis.FeedKeys(ctx, who, l.epoch)
	if l.failed(err) {
		return l, ctx.Err()
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
func (l *feedLook) whole() bool { return l.keys.Inbox.There && !l.keys.Inbox.Building }

// floor is the lowest blog of the inbox; 0 where nothing is below.
func (l *feedLook) floor() social.ID { return (&FeedState{Keys: l.keys}).Floor() }

func (l *feedLook) doubtful() bool {
	return l.otherFollowed() || l.otherCounts() || len(l.lacking()) > 0 || len(l.leftovers()) > 0
}

func (l *feedLook) otherFollowed() bool {
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

func (l *feedLook) otherCounts() bool {
	k := l.keys.Counts
	return k.There && l.counted && (k.Counts != l.counts || k.Age < 0)
}

// lacking is what should be in a whole inbox, and is not. Blogs of stars need not: servers
// have them in memory, or read SQL.
func (l *feedLook) lacking() (ids []social.ID) {
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
func (l *feedLook) leftovers() (ids []social.ID) {
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

// judgeFeeds tells what is wrong with a person's feed and counts.
func judgeFeeds(first, now *feedLook) (found []Found, settled bool) {
	settled = true
	add := func(kind Drift, known bool, detail string) {
		if settled = settled && known; known {
			found = append(found, Found{Kind: kind, Who: now.of, Detail: detail})
		}
	}
	if now.otherFollowed() {
		have := now.keys.Following.Version
		known := knownAt(have, first.version, now.version)
		add(CacheFollowing, known, fmt.Sprintf("%d at version %d, rows %d at version %d", len(now.keys.Following.Followed), have, len(now.followed), now.version))
	}
	if now.otherCounts() {
		// Whatever changed counts has dropped them since: those that were wrong and are as old
		// as that were not.
		k := now.keys.Counts
		known := k.Age < 0 || first.otherCounts() && k.Age > now.at.Sub(first.at)+ageSlack
		add(CacheCounts, known, fmt.Sprintf("%s, rows %s", countsText(k.Counts), countsText(now.counts)))
	}
	// What both looks saw in the rows, with the same people followed, has been brought.
	known := first.version == now.version
	if lacking := both(first.published, now.lacking()); len(lacking) > 0 {
		add(InboxLacks, known, fmt.Sprintf("%d, blog %d among them", len(lacking), lacking[0]))
	}
	if leftovers := shared(first.leftovers(), now.leftovers()); len(leftovers) > 0 {
		add(InboxLeftovers, known, fmt.Sprintf("%d, blog %d among them", len(leftovers), leftovers[0]))
	}
	return found, settled
}

func dropFeed(kind Drift, who social.ID) []*rdb.Call {
	return map[Drift][]*rdb.Call{
		CacheFollowing: {rdb.DropFollowing(who)}, CacheCounts: {rdb.DropCounts(who)},
		InboxLacks: {rdb.DropInbox(who)}, InboxLeftovers: {rdb.DropInbox(who)},
		CacheGarbled: {rdb.DropFollowing(who), rdb.DropCounts(who), rdb.DropInbox(who)},
	}[kind]
}

func countsText(c social.Counts) string {
	return fmt.Sprintf("%d followers, %d following, %d blogs", c.Followers, c.Following, c.Blogs)
}

// both are the ids that are also of refs.
func both(refs []social.BlogRef, ids []social.ID) []social.ID {
	of := make([]social.ID, len(refs))
	for i, ref := range refs {
		of[i] = ref.ID
	}
	return shared(of, ids)
}

// shared are those of ids that are also in others.
func shared(others, ids []social.ID) (common []social.ID) {
	there := make(map[social.ID]bool, len(others))
	for _, id := range others {
		there[id] = true
	}
	for _, id := range ids {
		if there[id] {
			common = append(common, id)
		}
	}
	return common
}
