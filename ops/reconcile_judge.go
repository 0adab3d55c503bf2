package ops

import (
	"context"
	"fmt"
	"time"

	"kith/feed"
	"kith/rdb"
	"kith/social"
)

// lookAgain judges what was in doubt: it waits until everything committed before the doubt
// has been brought to the caches, and looks again. What has moved on meanwhile is looked at
// once more, a few times; what never stands still is not judged.
func (r *reconciler) lookAgain(ctx context.Context, doubts []*cacheLook) error {
	for n := 1; len(doubts) > 0 && n < cacheLooks; n++ {
		if n > 1 { // so that a key's age tells whether it was there before
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * ageSlack):
			}
		}
		passed, err := r.awaitConsumer(ctx)
		if err != nil {
			return err
		}
		if !passed {
			break
		}
		parts, err := r.believed(ctx)
		if err != nil {
			return err
		}
		var open []*cacheLook
		for _, first := range doubts {
			now, err := r.look(ctx, first.who, parts)
			if err != nil {
				return err
			}
			found, settled := judgeCaches(first, now)
			if err := r.mendCaches(ctx, now, found); err != nil {
				return err
			}
			if !settled {
				open = append(open, now)
			}
		}
		doubts = open
	}
	r.report.Unjudged += len(doubts)
	return nil
}

// awaitConsumer waits until the consumer has passed every event that is there now. It says
// no where that takes too long, and then at once: until that consumer works again, nothing
// that is behind can be told from what is wrong.
func (r *reconciler) awaitConsumer(ctx context.Context) (passed bool, err error) {
	marks, err := r.db.LaneSeqs(ctx)
	if err != nil {
		return false, err
	}
	tick := time.NewTicker(consumerPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(consumerPatience); ; {
		at, err := r.db.ConsumerPositions(ctx, feed.Consumer)
		if err != nil {
			return false, err
		}
		passed := true
		for lane, mark := range marks {
			passed = passed && at[lane] >= mark
		}
		if r.lagging = !passed && (r.lagging || time.Now().After(deadline)); passed || r.lagging {
			return passed, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}

// judgeCaches tells what is wrong with a person's caches from two looks, between which
// everything that was committed before the first one's end has been brought to them; settled
// is false where they moved on, so that a third look is needed.
func judgeCaches(first, now *cacheLook) (found []Found, settled bool) {
	switch {
	case now.unseen != nil, first.unseen != nil, first.epoch != now.epoch && now.epoch != 0:
		return nil, now.unseen == nil && !now.doubtful()
	case now.garbled != nil:
		return []Found{{Kind: CacheGarbled, Who: now.who, Detail: now.garbled.Error()}}, true
	case !now.doubtful():
		return nil, true
	}
	settled = true
	add := func(kind Drift, known bool, detail string) {
		if settled = settled && known; known {
			found = append(found, Found{Kind: kind, Who: now.who, Detail: detail})
		}
	}
	if now.otherFollowed() {
		// Of one version there is one list. None is of a version that is yet to come, and one
		// from before the first look would have been brought up to that, or dropped.
		have := now.keys.Following.Version
		known := have == now.version || have > now.version || have < first.version
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

// mendCaches deletes the keys that are wrong: who reads next fills them.
func (r *reconciler) mendCaches(ctx context.Context, l *cacheLook, found []Found) error {
	if len(found) == 0 {
		return nil
	}
	if !r.cfg.Repair {
		r.report.add(found, false)
		return nil
	}
	for _, f := range found {
		drops := map[Drift][]*rdb.Call{
			CacheFollowing: {rdb.DropFollowing(l.who)}, CacheCounts: {rdb.DropCounts(l.who)},
			InboxLacks: {rdb.DropInbox(l.who)}, InboxLeftovers: {rdb.DropInbox(l.who)},
			CacheGarbled: {rdb.DropFollowing(l.who), rdb.DropCounts(l.who), rdb.DropInbox(l.who)},
		}[f.Kind]
		r.cfg.Redis.Run(ctx, func(int) int64 { return l.epoch }, drops...)
		mended := true
		for _, c := range drops {
			mended = mended && c.Err() == nil
		}
		r.report.add([]Found{f}, mended)
	}
	return ctx.Err()
}
