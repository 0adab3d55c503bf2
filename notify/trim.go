package notify

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"kith/db"
	"kith/social"
)

const (
	trimEvery = 10 * time.Second
	// trimAtOnce is how many people, or lines, are looked at at once.
	trimAtOnce = 100
)

// Trimmer drops lines that are too old or too many. Any number of servers may run one.
type Trimmer struct {
	n   *Notifications
	log *slog.Logger
}

// NewTrimmer makes one.
func NewTrimmer(n *Notifications, log *slog.Logger) *Trimmer { return &Trimmer{n: n, log: log} }

// Run trims until ctx ends.
func (t *Trimmer) Run(ctx context.Context) error {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	failing := false
	for {
		err := t.n.Trim(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			t.log.Warn("old notifications are not dropped; it is tried again", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Trim drops what is too much now: of each person all but the newest 1,000 lines that show
// somebody, and as many of those that show nobody, who may come back; and what did not grow for
// 90 days. First lines are marked, then those behind them go in pieces, at last the lines: so
// it may be cut off anywhere, and goes on the next time.
func (n *Notifications) Trim(ctx context.Context) error {
	for after := social.ID(0); ; {
		people, err := n.db.LongNotificationLists(ctx, n.most, after, trimAtOnce)
		if err != nil {
			return err
		}
		for _, who := range people {
			if err := n.shorten(ctx, who); err != nil {
				return err
			}
		}
		if len(people) < trimAtOnce {
			break
		}
		after = people[len(people)-1]
	}
	return n.dropOld(ctx)
}

// dropOld drops what is marked, and what is too old.
func (n *Notifications) dropOld(ctx context.Context) error {
	for {
		lines, err := n.db.NotificationsBefore(ctx, n.oldest(), trimAtOnce)
		if err != nil {
			return err
		}
		of := map[social.ID][]*social.Notification{}
		for _, line := range lines {
			of[line.UserID] = append(of[line.UserID], line)
		}
		for _, who := range slices.Sorted(maps.Keys(of)) {
			if err := n.drop(ctx, who, of[who]); err != nil {
				return err
			}
		}
		if len(lines) < trimAtOnce {
			return nil
		}
	}
}

// shorten marks what a person has too many of.
func (n *Notifications) shorten(ctx context.Context, who social.ID) error {
	for _, shown := range []bool{true, false} {
		for {
			lines, err := n.db.NotificationsBeyond(ctx, who, shown, n.most, trimAtOnce)
			if err != nil {
				return err
			}
			if err := n.mark(ctx, who, lines); err != nil {
				return err
			}
			if len(lines) < trimAtOnce {
				break
			}
		}
	}
	return nil
}

// mark makes lines of a person show nobody any more, for good, but for those that have grown
// since they were read. They are the oldest then; and nothing is told any more that is as old as
// what they showed.
func (n *Notifications) mark(ctx context.Context, who social.ID, lines []*social.Notification) error {
	if len(lines) == 0 {
		return nil
	}
	was := map[social.ID]social.Millis{}
	for _, line := range lines {
		was[line.ID] = line.UpdatedAt
	}
	return n.db.Transact(ctx, func(tx *db.Tx) error {
		lists, err := tx.LockNotificationLists(ctx, []social.ID{who})
		if err != nil {
			return err
		}
		now, err := tx.NotificationsOf(ctx, keys(lines))
		if err != nil {
			return err
		}
		now = slices.DeleteFunc(now, func(line *social.Notification) bool { return line.UpdatedAt > was[line.ID] })
		slices.SortFunc(now, compareLines)
		for _, line := range now {
			if line.ActorCount > 0 {
				lists[who].Floor = max(lists[who].Floor, line.UpdatedAt)
			}
			line.ActorCount, line.UpdatedAt, line.IsRead = 0, 0, true
		}
		if err := tx.PutNotifications(ctx, now); err != nil {
			return err
		}
		return tx.PutNotificationLists(ctx, []*db.NotificationList{lists[who]})
	})
}

// drop removes lines of a person and who is behind them, but for those that have grown since they
// were read.
func (n *Notifications) drop(ctx context.Context, who social.ID, lines []*social.Notification) error {
	if err := n.mark(ctx, who, slices.DeleteFunc(slices.Clone(lines), isMarked)); err != nil {
		return err
	}
	for more := true; more; {
		err := n.db.Transact(ctx, func(tx *db.Tx) (err error) {
			more, err = dropPiece(ctx, tx, who, keys(lines))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropPiece removes a piece of those who are behind lines that are marked, and tells whether there
// are more; if not, the lines. Who is behind them it reads under the lock: whoever begins anew is
// behind another line then.
func dropPiece(ctx context.Context, tx *db.Tx, who social.ID, lines []db.LineKey) (more bool, err error) {
	lists, err := tx.LockNotificationLists(ctx, []social.ID{who})
	if err != nil {
		return false, err
	}
	there, err := tx.NotificationsOf(ctx, lines) // another server may have dropped some
	if err != nil {
		return false, err
	}
	var marked []social.ID
	for _, line := range there {
		if isMarked(line) {
			marked = append(marked, line.ID)
		}
	}
	causes, err := tx.CausesOf(ctx, who, marked, piece)
	if err != nil {
		return false, err
	}
	if err := tx.DropNotificationActors(ctx, causes); err != nil || len(causes) == piece {
		return true, err
	}
	lists[who].LineCount -= int64(len(marked))
	if err := tx.PutNotificationLists(ctx, []*db.NotificationList{lists[who]}); err != nil {
		return false, err
	}
	return false, tx.DropNotifications(ctx, who, marked)
}

// isMarked tells of a line that it is being dropped.
func isMarked(line *social.Notification) bool { return line.UpdatedAt == 0 }

func keys(lines []*social.Notification) []db.LineKey {
	keys := make([]db.LineKey, len(lines))
	for i, line := range lines {
		keys[i] = key(line)
	}
	return keys
}

// Forget drops what a person was told who has no account any more, in pieces, and tells whether
// there was anything.
func (n *Notifications) Forget(ctx context.Context, who social.ID) (any bool, err error) {
	for {
		lines, err := n.db.SomeNotifications(ctx, who, trimAtOnce)
		if err != nil || len(lines) == 0 {
			return any, err
		}
		any = true
		if err := n.mark(ctx, who, lines); err != nil {
			return any, err
		}
	}
}
