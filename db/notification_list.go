package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Notifications reads a page of a person's lines, latest first, up to one more than it has, and
// the version of the list as of which it is so: one statement, and so one moment. Reads the
// index notification_shown.
func (q *queries) Notifications(ctx context.Context, l social.Listing) (version int64, lines []*social.Notification, err error) {
	var rows []struct {
		ListVersion int64 `db:"list_version"`
		social.Notification
	}
	err = q.all(ctx, "read a page of notifications", &rows, fmt.Sprintf(`
		SELECT l.version AS list_version, n.user_id, n.id, n.kind, n.subject, n.open <> 0 AS is_read, n.actor_count, n.updated_at, n.grown, n.version
		FROM notification_list l %s notification n %s ON n.user_id = l.user_id
		WHERE l.user_id = %d AND n.user_id = %[3]d AND n.shown = 1%s
		ORDER BY n.updated_at DESC, n.id DESC LIMIT %d`,
		q.dialect.joinInOrder, q.dialect.index("notification_shown"), l.Owner, beyond(l.Page, "n.updated_at", "n.id"), l.Limit+1))
	for i := range rows {
		version, lines = rows[i].ListVersion, append(lines, &rows[i].Notification)
	}
	return version, lines, err
}

// UnreadCounts reads how many lines each of these people has not read; who has none is absent.
// Reads the index notification_shown, of each all that there is: a thousand at most, but for
// what is yet to be dropped.
func (q *queries) UnreadCounts(ctx context.Context, people []social.ID) (map[social.ID]int64, error) {
	var rows []struct {
		UserID social.ID `db:"user_id"`
		N      int64     `db:"n"`
	}
	err := q.all(ctx, "count unread notifications", &rows, `
		SELECT user_id, COUNT(*) AS n FROM notification `+q.dialect.index("notification_shown")+`
		WHERE user_id IN (`+list(people)+`) AND shown = 1 AND open = 0 GROUP BY user_id`)
	counts := make(map[social.ID]int64, len(rows))
	for _, r := range rows {
		counts[r.UserID] = r.N
	}
	return counts, err
}

// UnreadUpTo reads the lines of a person that are not read and lie at the cursor or after it in
// the list, and had nobody added since that was read; with the zero cursor all.
func (tx *Tx) UnreadUpTo(ctx context.Context, who social.ID, upTo social.Cursor) ([]*social.Notification, error) {
	where := ""
	if upTo != (social.Cursor{}) {
		where = fmt.Sprintf(" AND (updated_at < %d OR updated_at = %[1]d AND id <= %d) AND grown <= %d", upTo.MinTime, upTo.ID, upTo.Version)
	}
	var lines []*social.Notification
	err := tx.all(ctx, "read unread notifications", &lines,
		`SELECT `+lineColumns+` FROM notification WHERE user_id = ? AND shown = 1 AND open = 0`+where, who)
	return lines, err
}

// NotificationNews is what has become of a person's lines since a version of their list: the
// lines that changed, also those that show nobody any more, and, where there was a reading,
// those that it left unread, as they are now.
type NotificationNews struct {
	NotificationList
	Lines []*social.Notification
}

// NotificationsSince reads it; one statement, and so one moment. Of a person who has no list
// all is zero. Reads a primary key, of all that the person has.
func (q *queries) NotificationsSince(ctx context.Context, who social.ID, version int64) (NotificationNews, error) {
	var rows []struct {
		ListVersion int64         `db:"list_version"`
		ReadVersion int64         `db:"read_version"`
		ReadUpTo    social.Millis `db:"read_up_to"`

		ID         *social.ID               `db:"id"`
		Kind       *social.NotificationKind `db:"kind"`
		Subject    *social.ID               `db:"subject"`
		IsRead     *bool                    `db:"is_read"`
		ActorCount *int64                   `db:"actor_count"`
		UpdatedAt  *social.Millis           `db:"updated_at"`
		Grown      *int64                   `db:"grown"`
		Version    *int64                   `db:"version"`
	}
	err := q.all(ctx, "read what is new of notifications", &rows, `
		SELECT l.version AS list_version, l.read_version, l.read_up_to,
			n.id, n.kind, n.subject, n.open <> 0 AS is_read, n.actor_count, n.updated_at, n.grown, n.version
		FROM notification_list l LEFT JOIN notification n ON n.user_id = l.user_id AND n.updated_at > 0
			AND (n.version > ? OR l.read_version > ? AND n.shown = 1 AND n.open = 0 AND n.updated_at <= l.read_up_to)
		WHERE l.user_id = ?`, version, version, who)
	news := NotificationNews{NotificationList: NotificationList{UserID: who}}
	for _, r := range rows {
		news.Version, news.ReadVersion, news.ReadUpTo = r.ListVersion, r.ReadVersion, r.ReadUpTo
		if r.ID != nil {
			news.Lines = append(news.Lines, &social.Notification{
				ID: *r.ID, NotificationSubject: social.NotificationSubject{UserID: who, Kind: *r.Kind, Subject: *r.Subject},
				ActorCount: *r.ActorCount, UpdatedAt: *r.UpdatedAt, Grown: *r.Grown, Version: *r.Version, IsRead: *r.IsRead,
			})
		}
	}
	return news, err
}

// NotificationVersion reads the version of a person's list, 0 of one who has none.
func (q *queries) NotificationVersion(ctx context.Context, who social.ID) (int64, error) {
	var versions []int64
	err := q.all(ctx, "read the version of notifications", &versions, `SELECT version FROM notification_list WHERE user_id = ?`, who)
	if err != nil || len(versions) == 0 {
		return 0, err
	}
	return versions[0], nil
}
