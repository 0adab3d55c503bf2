package ops

import (
	"context"
	"iter"
	"time"

	"kith/feed"
	"kith/like"
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

// caches looks at what Redis holds of these people and blogs, where servers believe it.
func (r *reconciler) caches(ctx context.Context, s stretch) error {
	if r.cfg.Redis == nil {
		return nil
	}
	parts, err := r.believed(ctx)
	if err != nil {
		return err
	}
	feeds := kept[*feedLook]{r, feed.Consumer, each(r.lookAtFeed), judgeFeeds, dropFeed, &r.report.Unjudged}
	likes := kept[*likesLook]{r, like.Consumer, each(r.lookAtLikes), judgeLikes, dropLikes, &r.report.UnjudgedLikes}
	counts := kept[*likeCountLook]{r, like.Consumer, r.lookAtLikeCounts, judgeLikeCounts, dropLikeCount, &r.report.UnjudgedLikes}
	people := parts.seen(s.people)
	keyed, err := r.cfg.Redis.Keyed(ctx, people, parts.of)
	if err != nil {
		r.report.Unjudged += len(people)
		r.report.UnjudgedLikes += len(people)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	r.report.Keyed += len(keyed)
	if err := feeds.check(ctx, keyed, parts); err != nil {
		return err
	}
	if err := likes.check(ctx, keyed, parts); err != nil {
		return err
	}
	return counts.check(ctx, parts.seen(s.blogs), parts)
}

// epochs are those of the partitions whose caches are believed; 0 for the others.
type epochs [rdb.Parts]int64

func (e *epochs) of(part int) int64 { return e[part] }

// seen are those of these whose partition is believed.
func (e *epochs) seen(ids []social.ID) (seen []social.ID) {
	for _, id := range ids {
		if e[rdb.Partition(id)] != 0 {
			seen = append(seen, id)
		}
	}
	return seen
}

// looked begins a look.
func (e *epochs) looked(of social.ID) looked { return looked{of: of, epoch: e[rdb.Partition(of)]} }

// believed is the epoch of each partition whose caches are on, and whose server says the
// same; 0 for the others.
func (r *reconciler) believed(ctx context.Context) (found epochs, err error) {
	parts, err := r.db.CacheParts(ctx)
	if err != nil {
		return found, err
	}
	histories := r.cfg.Redis.Histories(ctx)
	for _, p := range parts {
		if h := histories[p.Part]; p.On && h.Err == nil && h.Epoch == p.Epoch {
			found[p.Part] = p.Epoch
		}
	}
	return found, nil
}

// look is what Redis holds of a person or a blog, and what the rows said right after that.
type look interface {
	about() *looked
	// doubtful says that the keys are not what the rows are, which may be for a moment only.
	doubtful() bool
}

// looked is what all looks have.
type looked struct {
	of      social.ID
	epoch   int64 // 0: nothing is believed
	unseen  error
	garbled error // a key cannot be read
	ofBlog  bool
}

func (l *looked) about() *looked { return l }

// failed notes why there are no keys to look at.
func (l *looked) failed(err error) bool {
	if social.HasCode(err, social.Unavailable) {
		l.unseen = err
	} else {
		l.garbled = err
	}
	return err != nil
}

// isDoubtful says that a look is to be taken again.
func isDoubtful(l look) bool {
	return l.about().unseen != nil || l.about().garbled != nil || l.doubtful()
}

// kept is a kind of what Redis keeps.
type kept[L look] struct {
	*reconciler
	consumer string // who brings changes there
	// look looks at each of these, one after the other.
	look func(context.Context, []social.ID, epochs) iter.Seq2[L, error]
	// judge tells what is wrong from two looks, between which everything that was committed
	// before the first one's end has been brought there, and of which the second is in doubt;
	// settled is false where things moved on, so that a third look is needed.
	judge func(first, now L) (found []Found, settled bool)
	// drops are what mends a kind of drift: who reads next fills it.
	drops    func(Drift, social.ID) []*rdb.Call
	unjudged *int
}

// each looks at one after the other.
func each[L look](one func(context.Context, social.ID, epochs) (L, error)) func(context.Context, []social.ID, epochs) iter.Seq2[L, error] {
	return func(ctx context.Context, ids []social.ID, parts epochs) iter.Seq2[L, error] {
		return func(yield func(L, error) bool) {
			for _, id := range ids {
				if l, err := one(ctx, id, parts); !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// check looks at all of these, and again at what is in doubt.
func (k kept[L]) check(ctx context.Context, ids []social.ID, parts epochs) error {
	var doubts []L
	for l, err := range k.look(ctx, ids, parts) {
		if err != nil {
			return err
		}
		if isDoubtful(l) {
			doubts = append(doubts, l)
		}
	}
	return k.lookAgain(ctx, doubts)
}
