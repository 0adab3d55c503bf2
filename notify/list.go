package notify

import (
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// shownActors is how many of those behind a line are shown.
const shownActors = 3

// Line is a line as it is shown.
type Line struct {
	*social.Notification
	// Cursor is its place in the list.
	Cursor social.Cursor
}

// List is a page of what a person is told, latest first.
func (n *Notifications) List(ctx context.Context, who social.ID, p social.Page) (social.Part[Line], error) {
	version, lines, err := n.db.Notifications(ctx, social.Listing{Owner: who, Page: p})
	if err != nil {
		return social.Part[Line]{}, err
	}
	part := social.Cut(p, lines)
	shown, err := n.shown(ctx, version, part.Items)
	return social.Part[Line]{Items: shown, HasNext: part.HasNext, HasPrevious: part.HasPrevious}, err
}

// ByID are lines of a person, of which those that do not exist, or show nobody, are absent.
func (n *Notifications) ByID(ctx context.Context, who social.ID, ids []social.ID) (map[social.ID]*social.Notification, error) {
	keys := make([]db.LineKey, len(ids))
	for i, id := range ids {
		keys[i] = db.LineKey{UserID: who, ID: id}
	}
	found, err := n.db.NotificationsOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(line *social.Notification) bool { return line.ActorCount == 0 })
	if _, err := n.shown(ctx, 0, found); err != nil {
		return nil, err
	}
	lines := make(map[social.ID]*social.Notification, len(found))
	for _, line := range found {
		lines[line.ID] = line
	}
	return lines, nil
}

// shown gives lines those who are behind them.
func (n *Notifications) shown(ctx context.Context, version int64, lines []*social.Notification) ([]Line, error) {
	var gathered []*social.Notification
	shown := make([]Line, len(lines))
	for i, line := range lines {
		shown[i] = Line{Notification: line, Cursor: line.Cursor(version)}
		if line.Kind == social.BlogLiked {
			gathered = append(gathered, line)
		} else {
			line.Newest = []social.ID{line.Subject}
		}
	}
	newest, err := n.db.NewestActors(ctx, gathered, shownActors)
	for line, actors := range newest {
		for _, a := range actors {
			line.Newest = append(line.Newest, a.ID)
		}
	}
	return shown, err
}

// Unread is how many lines each of these people has not read.
func (n *Notifications) Unread(ctx context.Context, people []social.ID) (map[social.ID]int64, error) {
	return n.db.UnreadCounts(ctx, people)
}

// MarkRead marks the lines of a person as read that lie at a cursor of the list or after it;
// with the zero cursor all. What grew since the cursor was read stays unread. Idempotent.
func (n *Notifications) MarkRead(ctx context.Context, who social.ID, upTo social.Cursor) error {
	return n.db.Transact(ctx, func(tx *db.Tx) error {
		lists, err := tx.LockNotificationLists(ctx, []social.ID{who})
		if err != nil {
			return err
		}
		lines, err := tx.UnreadUpTo(ctx, who, upTo)
		if err != nil || len(lines) == 0 {
			return err
		}
		list := lists[who]
		list.Version++
		list.ReadVersion = list.Version // of the last, with how far any has gone
		for _, line := range lines {
			line.IsRead = true
			list.ReadUpTo = max(list.ReadUpTo, line.UpdatedAt)
		}
		slices.SortFunc(lines, compareLines)
		if err := tx.PutNotifications(ctx, lines); err != nil {
			return err
		}
		if err := tx.PutNotificationLists(ctx, []*db.NotificationList{list}); err != nil {
			return err
		}
		return publish(ctx, tx, who)
	})
}
