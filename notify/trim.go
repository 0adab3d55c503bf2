package notify

import (
	"context"
	"log/slog"
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
	for {
		lines, err := n.db.NotificationsBefore(ctx, n.oldest(), trimAtOnce)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := n.drop(ctx, line); err != nil {
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
			if _, err := n.mark(ctx, who, lines); err != nil {
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
// since they were read, and tells how many. They are the oldest then; and nothing is told any
// more that is as old as what they showed.
func (n *Notifications) mark(ctx context.Context, who social.ID, lines []*social.Notification) (marked int, err error) {
	if len(lines) == 0 {
		return 0, nil
	}
	was := map[social.ID]social.Millis{}
	for _, line := range lines {
		was[line.ID] = line.UpdatedAt
	}
	err = n.db.Transact(ctx, func(tx *db.Tx) error {
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
		marked = len(now)
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
	return marked, err
}

// drop removes a line and who is behind it, unless it has grown since it was read.
func (n *Notifications) drop(ctx context.Context, line *social.Notification) error {
	if line.UpdatedAt > 0 {
		if marked, err := n.mark(ctx, line.UserID, []*social.Notification{line}); err != nil || marked == 0 {
			return err
		}
	}
	for {
		causes, err := n.db.CausesOf(ctx, key(line), piece)
		if err != nil {
			return err
		}
		err = n.db.Transact(ctx, func(tx *db.Tx) error {
			lists, err := tx.LockNotificationLists(ctx, []social.ID{line.UserID})
			if err != nil {
				return err
			}
			if err := tx.DropNotificationActors(ctx, causes); err != nil || len(causes) == piece {
				return err
			}
			return dropLine(ctx, tx, lists[line.UserID], key(line))
		})
		if err != nil || len(causes) < piece {
			return err
		}
	}
}

// dropLine removes a line that nobody is behind, unless another server has.
func dropLine(ctx context.Context, tx *db.Tx, list *db.NotificationList, k db.LineKey) error {
	there, err := tx.NotificationsOf(ctx, []db.LineKey{k})
	if err != nil || len(there) == 0 {
		return err
	}
	list.LineCount--
	if err := tx.PutNotificationLists(ctx, []*db.NotificationList{list}); err != nil {
		return err
	}
	return tx.DropNotification(ctx, k)
}

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
		if _, err := n.mark(ctx, who, lines); err != nil {
			return any, err
		}
	}
}
