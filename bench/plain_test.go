package bench

import (
	"context"
	"time"

	"kith/db"
	"kith/social"
)

// plain follows as one would write it without group commit: the same statements in the
// same order of locks, in a transaction of its own for each call.
type plain struct{ db *db.DB }

func (p plain) toggle(ctx context.Context, pair social.Pair, on bool) error {
	to, step := social.NotFollowing, int64(-1)
	if on {
		to, step = social.Following, 1
	}
	return p.db.Transact(ctx, func(tx *db.Tx) error {
		actors, err := tx.LockActors(ctx, []social.ID{pair.UserID})
		if err != nil {
			return err
		}
		states, err := tx.EdgesOf(ctx, []social.Pair{pair})
		if err != nil {
			return err
		}
		if found, err := tx.ExistingUsers(ctx, []social.ID{pair.TargetID}); err != nil || len(found) == 0 || states[pair].State == to {
			return err
		}
		return p.write(ctx, tx, actors[pair.UserID], pair, to, step)
	})
}

func (plain) write(ctx context.Context, tx *db.Tx, owner *db.Actor, pair social.Pair, to social.FollowState, step int64) error {
	now := social.Millis(time.Now().UnixMilli())
	owner.GraphVersion++
	owner.Following += step
	edge := []social.Edge{{Pair: pair, State: to, Since: now}}
	if err := tx.PutActors(ctx, []*db.Actor{owner}); err != nil {
		return err
	}
	if err := tx.PutFollowing(ctx, edge); err != nil {
		return err
	}
	if err := tx.PutFollower(ctx, edge); err != nil {
		return err
	}
	if err := tx.AddCounts(ctx, []db.CountChange{{UserID: pair.TargetID, Followers: step}}); err != nil {
		return err
	}
	change := social.FollowChange{UserID: pair.UserID, TargetID: pair.TargetID, State: to, Version: owner.GraphVersion}
	return tx.Publish(ctx, social.Event{Kind: social.FollowEvent, Body: social.FollowBody{Changes: []social.FollowChange{change}}})
}
