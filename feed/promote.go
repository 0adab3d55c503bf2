package feed

import (
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// promote makes stars of those of these people who have more followers than
// [StarsConfig.Followers], and tells how they stood before. Who follows says so by an event
// of the same transaction, which comes here after it, and again if this process dies: so
// nobody is forgotten. Twice at once is once, and since when stays as it was.
func (f *Feed) promote(ctx context.Context, people ...social.ID) (map[social.ID]db.Standing, error) {
	standings, err := f.db.Standings(ctx, people)
	if err != nil {
		return nil, err
	}
	for id, s := range standings {
		if s.Followers <= f.Stars.cfg.Followers || s.StarSince != nil {
			continue
		}
		err := f.db.Transact(ctx, func(tx *db.Tx) error {
			if err := tx.MakeStar(ctx, id); err != nil {
				return err
			}
			return tx.Publish(ctx, social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: id, Star: true}})
		})
		if err != nil {
			return nil, err
		}
	}
	return standings, nil
}

// targets are the people whom changes were about, each once.
func targets(changes []social.FollowChange) []social.ID {
	ids := make([]social.ID, len(changes))
	for i, c := range changes {
		ids[i] = c.TargetID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// isMerged tells that a blog of an author is in no inbox by fan-out, or is not to be: it is a
// star's, and from after the time for which fan-out goes on. What of a star's was deleted is
// taken out of inboxes only if it had been brought to all of them: those that have it by a
// follow, or by having been built, lose it with the rest.
func isMerged(author db.Standing, blog social.ID, deleted bool) bool {
	age, isStar := author.StarFor()
	if !isStar {
		return false
	}
	if deleted {
		return blog.Time() > *author.StarSince+social.Millis(starGrace.Milliseconds())
	}
	return age >= starGrace
}
