package feed

import (
	"context"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// Moved brings what calls of the viewer's have left behind, committed, to the caches of the
// edges' owners before the viewer is answered: whom they follow, and their inboxes, which
// get the targets' blogs or lose them. Also calls that changed nothing: what they found
// done may have been done by a server that died before it came here.
func (f *Feed) Moved(ctx context.Context, viewer social.ID, calls ...social.FollowCall) error {
	moves, sent := brought(calls)
	if err := f.caches.Settle(ctx, append(sent, rdb.MarkWrote(viewer))...); err != nil {
		return err
	}
	pushes, err := f.backfill(ctx, calls, moves)
	if err != nil {
		return err
	}
	return f.caches.Settle(ctx, pushes...)
}

// maxBackfills is how many follows of one person at once are brought to their inbox one by
// one; beyond, it is deleted, and built when it is next read.
const maxBackfills = 5

// movedAgain does what Moved does for changes of an event, which may have been done
// before, later ones too.
func (f *Feed) movedAgain(ctx context.Context, changes []social.FollowChange) error {
	calls := make([]social.FollowCall, len(changes))
	for i, c := range changes {
		calls[i] = social.FollowCall{FollowChange: c, Changed: true}
	}
	moves, sent := brought(calls)
	if err := f.caches.SettleApart(ctx, sent...); err != nil {
		return err
	}
	pushes, err := f.backfill(ctx, calls, moves)
	if err != nil {
		return err
	}
	return f.caches.SettleApart(ctx, pushes...)
}

// brought are the calls that bring changes to the caches.
func brought(calls []social.FollowCall) (moves []*rdb.Move, sent []*rdb.Call) {
	for _, c := range calls {
		m := rdb.NewMove(c)
		moves, sent = append(moves, m), append(sent, m.Call, rdb.DropCounts(c.UserID), rdb.DropCounts(c.TargetID))
	}
	return moves, sent
}

// backfill reads the blogs that inboxes need of new targets, those at and above the floor,
// after the commit. What is published later comes by its own event.
func (f *Feed) backfill(ctx context.Context, calls []social.FollowCall, moves []*rdb.Move) ([]*rdb.Call, error) {
	needs := map[social.ID]map[social.ID]bool{} // targets by owner
	floors := map[social.ID]social.ID{}         // the lowest by target
	for i, m := range moves {
		if m.Call.Err() != nil { // the partition is off
			continue
		}
		floor, needed := m.Floor()
		if !needed {
			continue
		}
		owner, target := calls[i].UserID, calls[i].TargetID
		if needs[owner] == nil {
			needs[owner] = map[social.ID]bool{}
		}
		needs[owner][target] = true
		if known, ok := floors[target]; !ok || floor < known {
			floors[target] = floor
		}
	}
	var pushes []*rdb.Call
	for owner, targets := range needs {
		if len(targets) > maxBackfills {
			pushes = append(pushes, rdb.DropInbox(owner))
			delete(needs, owner)
		}
	}
	refs, err := f.db.NewestBlogs(ctx, wanted(needs, floors), f.size)
	if err != nil {
		return nil, err
	}
	for owner, targets := range needs {
		var theirs []social.BlogRef
		for target := range targets {
			theirs = append(theirs, refs[target]...)
		}
		if len(theirs) > 0 {
			pushes = append(pushes, rdb.Push(rdb.Partition(owner), []social.ID{owner}, f.size, theirs...))
		}
	}
	return pushes, nil
}

// wanted are the targets that still are needed, each down to its lowest floor.
func wanted(needs map[social.ID]map[social.ID]bool, floors map[social.ID]social.ID) []db.AuthorFrom {
	var from []db.AuthorFrom
	for _, targets := range needs {
		for target := range targets {
			if floor, ok := floors[target]; ok {
				from = append(from, db.AuthorFrom{AuthorID: target, From: floor})
				delete(floors, target)
			}
		}
	}
	return from
}
