package ops

import (
	"context"
	"fmt"

	"kith/db"
	"kith/social"
)

// counts looks at the counts of these people.
func (r *reconciler) counts(ctx context.Context, people []social.ID) error {
	counted, err := r.db.CountRows(ctx, people)
	if err != nil {
		return err
	}
	for _, c := range counted {
		if len(judgeCounts(c)) == 0 {
			continue
		}
		if err := r.mendCounts(ctx, c.UserID); err != nil {
			return err
		}
	}
	return nil
}

// judgeCounts is what is wrong with a person's counts. A row that is missing tells of its
// counts too.
func judgeCounts(c db.Counted) []Found {
	var found []Found
	add := func(kind Drift, detail string) {
		found = append(found, Found{Kind: kind, Who: c.UserID, Detail: detail})
	}
	compare := func(kind Drift, stored, rows int64) {
		if stored != rows {
			add(kind, fmt.Sprintf("stored %d, rows %d", stored, rows))
		}
	}
	if !c.HasActor {
		add(NoActor, fmt.Sprintf("following %d, pending %d, blocking %d, muting %d", c.Rows.Following, c.Rows.Pending, c.Rows.Blocking, c.Rows.Muting))
	} else {
		compare(WrongFollowing, c.Stored.Following, c.Rows.Following)
		compare(WrongPending, c.Stored.Pending, c.Rows.Pending)
		compare(WrongBlocking, c.Stored.Blocking, c.Rows.Blocking)
		compare(WrongMuting, c.Stored.Muting, c.Rows.Muting)
	}
	if !c.HasCounts {
		add(NoCounts, fmt.Sprintf("followers %d, requests %d, blogs %d", c.Rows.Followers, c.Rows.Requests, c.Rows.Blogs))
	} else {
		compare(WrongFollowers, c.Stored.Followers, c.Rows.Followers)
		compare(WrongRequests, c.Stored.Requests, c.Rows.Requests)
		compare(WrongBlogs, c.Stored.Blogs, c.Rows.Blogs)
	}
	return found
}

// mendCounts looks at a person's counts again under the lock of their actor, and makes them
// what the rows are. The counts of user_count, which others move meanwhile, are moved by what
// they are off: a difference that is of one moment, and that no right change alters. Their
// row is not locked while rows are counted, so a star's followers wait for nothing. Two runs
// at once do not both move them, since the actor is locked first.
func (r *reconciler) mendCounts(ctx context.Context, who social.ID) error {
	return r.mend(ctx, func(tx *db.Tx) ([]Found, error) {
		actor, c, err := lockCounts(ctx, tx, who)
		if err != nil || c == nil { // or is gone meanwhile
			return nil, err
		}
		found := judgeCounts(*c)
		if len(found) == 0 || !r.cfg.Repair {
			return found, nil
		}
		if actor == nil {
			// Above every version that there can have been: what caches hold is older.
			if err := tx.EnsureActor(ctx, who, int64(r.clock.NowMS())); err != nil {
				return nil, err
			}
			if actor, c, err = lockCounts(ctx, tx, who); err != nil || c == nil {
				return nil, err
			}
		}
		return found, writeCounts(ctx, tx, actor, *c)
	})
}

// lockCounts locks a person's actor and counts the rows; nil for what is not there.
func lockCounts(ctx context.Context, tx *db.Tx, who social.ID) (*db.Actor, *db.Counted, error) {
	actors, err := tx.LockActors(ctx, []social.ID{who})
	if err != nil {
		return nil, nil, err
	}
	counted, err := tx.CountRows(ctx, []social.ID{who})
	if err != nil || len(counted) == 0 {
		return nil, nil, err
	}
	return actors[who], &counted[0], nil
}

// writeCounts makes the counts what the rows are, and tells others.
func writeCounts(ctx context.Context, tx *db.Tx, actor *db.Actor, c db.Counted) error {
	actor.Following, actor.Pending, actor.Blocking, actor.Muting = c.Rows.Following, c.Rows.Pending, c.Rows.Blocking, c.Rows.Muting
	if err := tx.PutActors(ctx, []*db.Actor{actor}); err != nil {
		return err
	}
	off := db.CountChange{
		UserID: c.UserID, Followers: c.Rows.Followers - c.Stored.Followers,
		Requests: c.Rows.Requests - c.Stored.Requests, Blogs: c.Rows.Blogs - c.Stored.Blogs,
	}
	if err := tx.AddCounts(ctx, []db.CountChange{off}); err != nil {
		return err
	}
	return tx.Publish(ctx, social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: c.UserID}})
}
