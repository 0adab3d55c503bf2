package like

import (
	"context"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// settlePiece is how many likes share a transaction.
const settlePiece = 100

// Settle makes the likes of somebody match their status: those of somebody suspended are
// hidden, with the counts, and are there again once they are restored; those of somebody
// deleted end. It tells whether there was anything to do, and may be called again.
func (l *Likes) Settle(ctx context.Context, who social.ID, status social.UserStatus) (moved bool, err error) {
	for {
		pairs, err := l.db.LikesToSettle(ctx, who, status, settlePiece)
		if err != nil || len(pairs) == 0 {
			return moved, err
		}
		n, err := l.settlePairs(ctx, who, pairs)
		if err != nil || n == 0 {
			return moved, err
		}
		moved = true
	}
}

// settlePairs brings these likes of one person to what they are to be, and tells how many moved.
// The status is read under the lock: who changes it does so before anybody is to be settled.
// Whose actor is lost stays to be settled until that is mended.
func (l *Likes) settlePairs(ctx context.Context, who social.ID, pairs []social.Pair) (moved int, err error) {
	changes := make([]*change, len(pairs))
	for i, p := range pairs {
		changes[i] = &change{pair: p, verb: toSettle}
	}
	err = l.db.Transact(ctx, func(tx *db.Tx) error {
		var s state
		var err error
		if s.actors, err = tx.LockActors(ctx, []social.ID{who}); err != nil {
			return err
		}
		if s.likes, err = tx.LikesOf(ctx, pairs); err != nil {
			return err
		}
		statuses, err := tx.Statuses(ctx, []social.ID{who})
		if err != nil {
			return err
		}
		for _, c := range changes {
			c.status = statuses[who]
		}
		o := decide(changes, s, l.clock.NowMS())
		if moved = len(o.events); moved == 0 {
			return changes[0].err // all are of one person
		}
		if err := write(ctx, tx, o); err != nil {
			return err
		}
		return readCounts(ctx, tx, changes)
	})
	if err != nil || moved == 0 {
		return moved, err
	}
	calls := []*rdb.Call{rdb.DropLikes(who)}
	for _, c := range changes {
		calls = append(calls, rdb.RenewLikeCount(c.pair.TargetID, c.count))
	}
	return moved, l.caches.SettleApart(ctx, calls...)
}

// settled is what a like is to be, as the status of who likes is.
func settled(before social.LikeState, status social.UserStatus) social.LikeState {
	switch {
	case status == social.Deleted:
		return social.NotLiked
	case status == social.Suspended && before == social.Liked:
		return social.HiddenLike
	case status == social.Active && before == social.HiddenLike:
		return social.Liked
	}
	return before
}
