package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// likes is like edges: by who likes, and with mirrors by the blog that is liked.
func (r *reconciler) likes(ctx context.Context, mirrors bool, from, upTo social.ID) error {
	read := r.db.LikesAfter
	if mirrors {
		read = r.db.LikersAfter
	}
	n, err := walk(ctx, mirrors, from, upTo, read, judgeLike, r.mendLikes)
	r.report.Likes += n
	return err
}

func judgeLike(e db.LikeSides) (Drift, *db.Side[social.LikeState]) {
	return judgeSides(e, NoLike, NoLiker, OtherLiker)
}

// mendLikes looks at likes again under the locks of who likes, and makes both sides of those
// that are wrong agree.
func (r *reconciler) mendLikes(ctx context.Context, pairs []social.Pair) error {
	return r.mend(ctx, func(tx *db.Tx) ([]Found, error) {
		actors, err := lockOwners(ctx, tx, pairs)
		if err != nil {
			return nil, err
		}
		sides, err := tx.LikeSidesOf(ctx, pairs)
		if err != nil {
			return nil, err
		}
		m := decideLikes(sides, actors, r.clock.NowMS())
		if !r.cfg.Repair {
			return m.found, nil
		}
		return m.found, m.write(ctx, tx)
	})
}

// likeMending is what is wrong with some likes, and what mends them.
type likeMending struct {
	found  []Found
	actors []*db.Actor          // ascending
	likes  []social.Like        // by who likes, then blog
	counts []db.LikeCountChange // ascending
	events []social.LikeChange
}

// decideLikes judges likes and moves counts, with heat, by what is changed of the rows that they
// count, as decideEdges does. It moves actors.
func decideLikes(sides map[social.Pair]db.LikeSides, actors map[social.ID]*db.Actor, now social.Millis) likeMending {
	var m likeMending
	owners, counts := map[social.ID]*db.Actor{}, map[social.ID]db.LikeCountChange{}
	for _, pair := range slices.SortedFunc(maps.Keys(sides), social.Pair.Compare) {
		e := sides[pair]
		kind, want := judgeLike(e)
		if kind == "" {
			continue
		}
		m.found = append(m.found, Found{Kind: kind, Who: pair.UserID, Blog: pair.TargetID, Detail: sidesText(e, "blog_like", "blog_liker", likeText)})
		if want == nil {
			want = &db.Side[social.LikeState]{State: social.NotLiked, Since: max(now, pair.TargetID.Time())}
		}
		m.likes = append(m.likes, social.Like{Pair: pair, State: want.State, Since: want.Since})
		n := counts[pair.TargetID]
		n.BlogID = pair.TargetID
		if stateOf(e.Mirror) == social.Liked {
			n.Likes--
			n.Warmth.Add(e.Mirror.Since, -1)
		}
		if want.State == social.Liked {
			n.Likes++
			n.Warmth.Add(want.Since, 1)
		}
		counts[pair.TargetID] = n
		told := social.LikeChange{UserID: pair.UserID, BlogID: pair.TargetID, State: want.State, Since: want.Since}
		if owner := actors[pair.UserID]; owner != nil {
			owners[pair.UserID] = owner
			owner.LikeVersion++
			told.Version = owner.LikeVersion
		}
		m.events = append(m.events, told)
	}
	m.actors, m.counts = ascending(owners), ascending(counts)
	return m
}

// write stores what was decided, in the one order of locks.
func (m likeMending) write(ctx context.Context, tx *db.Tx) error {
	if len(m.events) == 0 {
		return nil
	}
	if err := tx.PutActors(ctx, m.actors); err != nil {
		return err
	}
	if err := tx.PutLikes(ctx, m.likes); err != nil {
		return err
	}
	slices.SortFunc(m.likes, func(a, b social.Like) int { return a.Reversed().Compare(b.Reversed()) })
	if err := tx.PutLikers(ctx, m.likes); err != nil {
		return err
	}
	if err := tx.AddLikeCounts(ctx, m.counts); err != nil {
		return err
	}
	return tx.Publish(ctx, social.Event{Kind: social.LikeEvent, Body: social.LikeBody{Changes: m.events}})
}

func likeText(s social.LikeState) string {
	switch s {
	case social.NotLiked:
		return "ended"
	case social.Liked:
		return "likes"
	case social.HiddenLike:
		return "hidden"
	}
	return fmt.Sprintf("state %d", s)
}
