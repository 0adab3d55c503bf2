package db

import (
	"context"

	"kith/social"
)

// CausesAfter reads who is behind the lines of a subject, ascending, strictly after one. Reads
// the primary key.
func (q *queries) CausesAfter(ctx context.Context, s social.NotificationSubject, after social.ID, limit int) ([]NotificationCause, error) {
	return q.causes(ctx, `user_id = ? AND kind = ? AND subject = ? AND actor_id > ? ORDER BY actor_id LIMIT ?`,
		s.UserID, s.Kind, s.Subject, after, limit)
}

// LikedCauses reads of which blogs' likers somebody is among those told to a person, ascending,
// strictly after one. Reads the index notification_by.
func (q *queries) LikedCauses(ctx context.Context, p social.Pair, after social.ID, limit int) ([]NotificationCause, error) {
	return q.causes(ctx, `actor_id = ? AND kind = ? AND user_id = ? AND subject > ? ORDER BY subject LIMIT ?`,
		p.TargetID, social.BlogLiked, p.UserID, after, limit)
}

// Asked reads whom somebody asks to follow: no more than they may follow. Reads the index
// following_list.
func (q *queries) Asked(ctx context.Context, asker social.ID) (targets []social.ID, err error) {
	err = q.all(ctx, "read whom somebody asks", &targets, `SELECT target_id FROM following WHERE user_id = ? AND state = ?`, asker, social.Requested)
	return targets, err
}

// CausesOf reads who is behind lines of a person, up to limit. At most 900; reads the index
// notification_newest.
func (q *queries) CausesOf(ctx context.Context, who social.ID, lines []social.ID, limit int) ([]NotificationCause, error) {
	return q.causes(ctx, `user_id = ? AND notification_id IN (`+list(lines)+`) LIMIT ?`, who, limit)
}

func (q *queries) causes(ctx context.Context, where string, args ...any) ([]NotificationCause, error) {
	var causes []NotificationCause
	err := q.all(ctx, "read what is behind notifications", &causes,
		`SELECT user_id, kind, subject, actor_id FROM notification_actor WHERE `+where, args...)
	return causes, err
}

// LongNotificationLists reads people with more than so many lines, ascending, strictly after
// one. Reads the index notification_long.
func (q *queries) LongNotificationLists(ctx context.Context, most int, after social.ID, limit int) ([]social.ID, error) {
	var people []social.ID
	err := q.all(ctx, "read long notification lists", &people,
		`SELECT user_id FROM notification_list WHERE line_count > ? AND user_id > ? ORDER BY user_id LIMIT ?`, most, after, limit)
	return people, err
}

// NotificationsBeyond reads lines of a person beyond the newest, latest first, up to limit, of
// those that show somebody or of the others.
func (q *queries) NotificationsBeyond(ctx context.Context, who social.ID, shown bool, newest, limit int) ([]*social.Notification, error) {
	var lines []*social.Notification
	err := q.all(ctx, "read notifications beyond the newest", &lines, `SELECT `+lineColumns+` FROM notification
		WHERE user_id = ? AND shown = ? AND updated_at > 0 ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`, who, bit(shown), limit, newest)
	return lines, err
}

// SomeNotifications reads lines of a person, up to limit, but for those being dropped.
func (q *queries) SomeNotifications(ctx context.Context, who social.ID, limit int) ([]*social.Notification, error) {
	var lines []*social.Notification
	err := q.all(ctx, "read some notifications", &lines,
		`SELECT `+lineColumns+` FROM notification WHERE user_id = ? AND updated_at > 0 LIMIT ?`, who, limit)
	return lines, err
}

// NotificationsBefore reads lines that were updated last before a time, oldest first: first
// those being dropped. Reads the index notification_old.
func (q *queries) NotificationsBefore(ctx context.Context, before social.Millis, limit int) ([]*social.Notification, error) {
	var lines []*social.Notification
	err := q.all(ctx, "read old notifications", &lines,
		`SELECT `+lineColumns+` FROM notification WHERE updated_at < ? ORDER BY updated_at LIMIT ?`, before, limit)
	return lines, err
}

// DropNotifications removes lines of a person; under the lock of their list. At most 900.
func (tx *Tx) DropNotifications(ctx context.Context, who social.ID, lines []social.ID) error {
	return tx.exec(ctx, "drop notifications", `DELETE FROM notification WHERE user_id = ? AND id IN (`+list(lines)+`)`, who)
}
