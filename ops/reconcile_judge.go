package ops

import (
	"context"
	"time"

	"kith/social"
)

// lookAgain judges what was in doubt: it waits until everything committed before the doubt
// has been brought to the caches, and looks again. What has moved on meanwhile is looked at
// once more, a few times; what never stands still is not judged.
func (k kept[L]) lookAgain(ctx context.Context, doubts []L) error {
	for n := 1; len(doubts) > 0 && n < cacheLooks; n++ {
		if n > 1 { // so that a key's age tells whether it was there before
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(2 * ageSlack):
			}
		}
		passed, err := k.awaitConsumer(ctx, k.consumer)
		if err != nil {
			return err
		}
		if !passed {
			break
		}
		if doubts, err = k.lookOnce(ctx, doubts); err != nil {
			return err
		}
	}
	*k.unjudged += len(doubts)
	return nil
}

// lookOnce looks again, and gives what is open still.
func (k kept[L]) lookOnce(ctx context.Context, doubts []L) (open []L, err error) {
	parts, err := k.believed(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]social.ID, len(doubts))
	for i, l := range doubts {
		ids[i] = l.about().of
	}
	n := 0
	for now, err := range k.look(ctx, ids, parts) {
		if err != nil {
			return nil, err
		}
		found, settled := k.wrong(doubts[n], now)
		n++
		if err := k.mendKeys(ctx, now.about(), found); err != nil {
			return nil, err
		}
		if !settled {
			open = append(open, now)
		}
	}
	return open, nil
}

// awaitConsumer waits until a consumer has passed every event that is there now. It says
// no where that takes too long, and then at once: until that consumer works again, nothing
// that is behind can be told from what is wrong.
func (r *reconciler) awaitConsumer(ctx context.Context, consumer string) (passed bool, err error) {
	marks, err := r.db.LaneSeqs(ctx)
	if err != nil {
		return false, err
	}
	tick := time.NewTicker(consumerPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(consumerPatience); ; {
		at, err := r.db.ConsumerPositions(ctx, consumer)
		if err != nil {
			return false, err
		}
		passed := true
		for lane, mark := range marks {
			passed = passed && at[lane] >= mark
		}
		if r.lagging[consumer] = !passed && (r.lagging[consumer] || time.Now().After(deadline)); passed || r.lagging[consumer] {
			return passed, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-tick.C:
		}
	}
}

// wrong judges what can be judged.
func (k kept[L]) wrong(first, now L) (found []Found, settled bool) {
	f, n := first.about(), now.about()
	switch {
	case n.unseen != nil, f.unseen != nil, f.epoch != n.epoch && n.epoch != 0:
		return nil, !isDoubtful(now)
	case n.garbled != nil:
		garbled := Found{Kind: CacheGarbled, Who: n.of, Detail: n.garbled.Error()}
		if n.ofBlog {
			garbled.Who, garbled.Blog = 0, n.of
		}
		return []Found{garbled}, true
	case !now.doubtful():
		return nil, true
	}
	return k.judge(first, now)
}

// knownAt says that what differs and carries a version is wrong, and not only behind or ahead.
// Of one version there is one value. None is of a version that is yet to come, and one from
// before the first look would have been brought up to that, or dropped.
func knownAt(have, first, now int64) bool { return have >= now || have < first }

// mendKeys deletes the keys that are wrong: who reads next fills them.
func (k kept[L]) mendKeys(ctx context.Context, l *looked, found []Found) error {
	if len(found) == 0 {
		return nil
	}
	if !k.cfg.Repair {
		k.report.add(found, false)
		return nil
	}
	for _, f := range found {
		drops := k.drops(f.Kind, l.of)
		k.cfg.Redis.Run(ctx, func(int) int64 { return l.epoch }, drops...)
		mended := true
		for _, c := range drops {
			mended = mended && c.Err() == nil
		}
		k.report.add([]Found{f}, mended)
	}
	return ctx.Err()
}
