package ops

import (
	"context"
	"fmt"
	"slices"

	"kith/db"
	"kith/social"
)

// likeCounts looks at the counts of these blogs' likes.
func (r *reconciler) likeCounts(ctx context.Context, blogs []social.ID) error {
	for chunk := range slices.Chunk(blogs, blogsAtOnce) {
		counted, err := r.db.CountLikers(ctx, chunk)
		if err != nil {
			return err
		}
		for _, c := range counted {
			if len(judgeLikeCount(c)) == 0 {
				continue
			}
			if err := r.mendLikeCount(ctx, c.BlogID); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeLikeCount is what is wrong with the count of a blog's likes. A heat is compared as far as
// rounding lets it be known; of no likes there is none.
func judgeLikeCount(c db.CountedLikes) (found []Found) {
	add := func(kind Drift, detail string) {
		found = append(found, Found{Kind: kind, Blog: c.BlogID, Detail: detail})
	}
	if !c.HasCount {
		add(NoLikeCount, fmt.Sprintf("likes %d", c.Rows.Likes))
		return found
	}
	if c.Stored.Likes != c.Rows.Likes {
		add(WrongLikes, fmt.Sprintf("stored %d, rows %d", c.Stored.Likes, c.Rows.Likes))
	}
	if !c.Stored.Heat.Near(c.Rows.Heat, c.Most) || c.Rows.Likes == 0 && c.Stored.Heat != db.NoHeat {
		add(WrongHeat, fmt.Sprintf("stored %s, rows %s", heatText(c.Stored.Heat), heatText(c.Rows.Heat)))
	}
	return found
}

func heatText(h db.Heat) string {
	if h == db.NoHeat {
		return "none"
	}
	return fmt.Sprintf("%.6f", h)
}

// mendLikeCount looks at the count of a blog's likes again, and moves it by what it is off: as
// mendCounts does, without a lock for which those who like would wait. Two runs at once do not
// both move it, since the actor of the blog's author is locked first, or, where there is none
// and so nobody who likes, the count.
func (r *reconciler) mendLikeCount(ctx context.Context, blog social.ID) error {
	return r.mend(ctx, func(tx *db.Tx) ([]Found, error) {
		authors, err := tx.Authorships(ctx, []social.ID{blog})
		if err != nil {
			return nil, err
		}
		locked, err := tx.LockActors(ctx, []social.ID{authors[blog].AuthorID})
		if err != nil {
			return nil, err
		}
		counted, err := tx.CountLikers(ctx, []social.ID{blog})
		if err != nil || len(counted) == 0 {
			return nil, err
		}
		found := judgeLikeCount(counted[0])
		if len(found) == 0 || !r.cfg.Repair {
			return found, nil
		}
		if len(locked) == 0 || !counted[0].HasCount {
			// As with an actor, the version is above all that there can have been.
			if err := tx.EnsureLikeCount(ctx, blog, int64(r.clock.NowMS())); err != nil {
				return nil, err
			}
			if counted, err = tx.CountLikers(ctx, []social.ID{blog}); err != nil {
				return nil, err
			}
		}
		return found, writeLikeCount(ctx, tx, counted[0])
	})
}

// writeLikeCount moves the count, and tells others. Of the heat all that was stored is taken
// away and all that the rows have is added, in two steps: of what is far too hot the difference
// alone would leave nothing. Likes that came in between stay.
func writeLikeCount(ctx context.Context, tx *db.Tx, c db.CountedLikes) error {
	off, heat := db.LikeCountChange{BlogID: c.BlogID, Likes: c.Rows.Likes - c.Stored.Likes}, db.LikeCountChange{BlogID: c.BlogID}
	off.Warmth.AddHeat(c.Stored.Heat, -1)
	heat.Warmth.AddHeat(c.Rows.Heat, 1)
	for _, step := range []db.LikeCountChange{off, heat} {
		if err := tx.AddLikeCounts(ctx, []db.LikeCountChange{step}); err != nil {
			return err
		}
	}
	return tx.Publish(ctx, social.Event{Kind: social.LikeEvent, Body: social.LikeBody{Mended: []social.MendedLikes{{BlogID: c.BlogID}}}})
}
