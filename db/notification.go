package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kith/social"
)

// NotificationList is the row that whoever changes a notification of its person holds.
type NotificationList struct {
	UserID social.ID `db:"user_id"`
	// Version rises with each change of a line that is to be seen, and with each reading.
	Version int64 `db:"version"`
	// LineCount is how many lines there are, of any kind.
	LineCount int64 `db:"line_count"`
	// Floor is the time up to which nothing new is told any more: its lines were dropped.
	Floor social.Millis `db:"floor"`
	// ReadVersion is the version of the last reading, ReadUpTo up to where any went.
	ReadVersion int64         `db:"read_version"`
	ReadUpTo    social.Millis `db:"read_up_to"`
}

// NotificationActor is somebody behind a line.
type NotificationActor struct {
	social.NotificationSubject
	ActorID social.ID     `db:"actor_id"`
	LineID  social.ID     `db:"notification_id"`
	Since   social.Millis `db:"since"`
	// Hidden: the person who is told shall not see the actor now.
	Hidden bool `db:"hidden"`
}

// NotificationCause is what may be behind a line: somebody, and what it is about.
type NotificationCause struct {
	social.NotificationSubject
	ActorID social.ID `db:"actor_id"`
}

// LineKey names a line.
type LineKey struct {
	UserID social.ID `db:"user_id"`
	ID     social.ID `db:"id"`
}

const lineColumns = "user_id, id, kind, subject, open <> 0 AS is_read, actor_count, updated_at, grown, version"

// LockNotificationLists reads the lists of these people, locked until the end of the
// transaction; who has none gets one. Ascending ids, at most 900.
func (tx *Tx) LockNotificationLists(ctx context.Context, people []social.ID) (map[social.ID]*NotificationList, error) {
	err := tx.upsert(ctx, "lock notification lists", "notification_list", "user_id", "version",
		rows(people, func(id social.ID) []int64 { return []int64{int64(id), 0} }), "version = notification_list.version")
	if err != nil {
		return nil, err
	}
	var found []*NotificationList
	err = tx.all(ctx, "read notification lists", &found, `
		SELECT user_id, version, line_count, floor, read_version, read_up_to FROM notification_list WHERE user_id IN (`+list(people)+`)`)
	lists := make(map[social.ID]*NotificationList, len(found))
	for _, l := range found {
		lists[l.UserID] = l
	}
	return lists, err
}

// AwaitNotificationList waits for who has locked the list of a person; there may be none.
func (tx *Tx) AwaitNotificationList(ctx context.Context, who social.ID) error {
	var found []social.ID
	return tx.all(ctx, "await a notification list", &found, `SELECT user_id FROM notification_list WHERE user_id = ?`+tx.dialect.forUpdate, who)
}

// PutNotificationLists writes lists that this transaction has locked. Ascending.
func (tx *Tx) PutNotificationLists(ctx context.Context, lists []*NotificationList) error {
	columns := []string{"version", "line_count", "floor", "read_version", "read_up_to"}
	return tx.upsert(ctx, "write notification lists", "notification_list", "user_id", strings.Join(columns, ", "),
		rows(lists, func(l *NotificationList) []int64 {
			return []int64{int64(l.UserID), l.Version, l.LineCount, int64(l.Floor), l.ReadVersion, int64(l.ReadUpTo)}
		}), tx.assign(columns))
}

// NotificationActors reads who of these is behind a line. At most 900; reads the primary key.
func (q *queries) NotificationActors(ctx context.Context, causes []NotificationCause) (map[NotificationCause]NotificationActor, error) {
	actors := make(map[NotificationCause]NotificationActor, len(causes))
	if len(causes) == 0 {
		return actors, nil // no list at all would be no SQL
	}
	var found []NotificationActor
	err := q.all(ctx, "read who is behind notifications", &found, `
		SELECT user_id, kind, subject, actor_id, notification_id, since, hidden FROM notification_actor
		WHERE (user_id, kind, subject, actor_id) IN (`+q.dialect.tuples(4, rows(causes, NotificationCause.columns))+`)`)
	for _, a := range found {
		actors[a.cause()] = a
	}
	return actors, err
}

func (c NotificationCause) columns() []int64 {
	return []int64{int64(c.UserID), int64(c.Kind), int64(c.Subject), int64(c.ActorID)}
}

func (a NotificationActor) cause() NotificationCause {
	return NotificationCause{NotificationSubject: a.NotificationSubject, ActorID: a.ActorID}
}

// UnreadNotifications reads the lines of these subjects that are not read, whether or not
// they show anybody. At most 900; reads the index notification_open.
func (q *queries) UnreadNotifications(ctx context.Context, subjects []social.NotificationSubject) ([]*social.Notification, error) {
	var lines []*social.Notification
	if len(subjects) == 0 {
		return nil, nil // no list at all would be no SQL
	}
	err := q.all(ctx, "read lines of notifications", &lines, `SELECT `+lineColumns+` FROM notification
		WHERE (user_id, kind, subject, open) IN (`+q.dialect.tuples(4, rows(subjects, func(s social.NotificationSubject) []int64 {
		return []int64{int64(s.UserID), int64(s.Kind), int64(s.Subject), 0}
	}))+`)`)
	return lines, err
}

// NotificationsOf reads these lines. At most 900; reads the primary key.
func (q *queries) NotificationsOf(ctx context.Context, keys []LineKey) ([]*social.Notification, error) {
	var lines []*social.Notification
	if len(keys) == 0 {
		return nil, nil // no list at all would be no SQL
	}
	err := q.all(ctx, "read notifications", &lines,
		`SELECT `+lineColumns+` FROM notification WHERE (user_id, id) IN (`+q.dialect.pairs(rows(keys, LineKey.columns))+`)`)
	return lines, err
}

func (k LineKey) columns() []int64 { return []int64{int64(k.UserID), int64(k.ID)} }

// PutNotificationActors writes who is behind lines. Sorted by the primary key.
func (tx *Tx) PutNotificationActors(ctx context.Context, actors []NotificationActor) error {
	columns := []string{"notification_id", "since", "hidden"}
	return tx.upsert(ctx, "write who is behind notifications", "notification_actor", "user_id, kind, subject, actor_id", strings.Join(columns, ", "),
		rows(actors, func(a NotificationActor) []int64 {
			return append(a.cause().columns(), int64(a.LineID), int64(a.Since), bit(a.Hidden))
		}), tx.assign(columns))
}

// dropAtOnce is how many rows one statement removes by their four columns: what MariaDB needs to
// plan it grows with the square.
const dropAtOnce = 50

// DropNotificationActors removes them.
func (tx *Tx) DropNotificationActors(ctx context.Context, causes []NotificationCause) error {
	for piece := range slices.Chunk(causes, dropAtOnce) {
		conditions := make([]string, len(piece))
		for i, c := range piece {
			conditions[i] = fmt.Sprintf("user_id = %d AND kind = %d AND subject = %d AND actor_id = %d", c.UserID, c.Kind, c.Subject, c.ActorID)
		}
		err := tx.exec(ctx, "remove who is behind notifications", `DELETE FROM notification_actor WHERE `+strings.Join(conditions, " OR "))
		if err != nil {
			return err
		}
	}
	return nil
}

// PutNotifications writes lines. Sorted by the primary key.
func (tx *Tx) PutNotifications(ctx context.Context, lines []*social.Notification) error {
	columns := []string{"kind", "subject", "open", "actor_count", "shown", "updated_at", "grown", "version"}
	return tx.upsert(ctx, "write notifications", "notification", "user_id, id", strings.Join(columns, ", "),
		rows(lines, func(n *social.Notification) []int64 {
			open := int64(0)
			if n.IsRead {
				open = int64(n.ID)
			}
			return []int64{
				int64(n.UserID), int64(n.ID), int64(n.Kind), int64(n.Subject), open,
				n.ActorCount, bit(n.ActorCount > 0), int64(n.UpdatedAt), n.Grown, n.Version,
			}
		}), tx.assign(columns))
}

// NewestActors reads who were the latest, up to limit, behind each of these lines and are to be
// seen, latest first. Reads the index notification_newest.
func (q *queries) NewestActors(ctx context.Context, lines []*social.Notification, limit int) (map[*social.Notification][]social.Peer, error) {
	newest := make(map[*social.Notification][]social.Peer, len(lines))
	for piece := range slices.Chunk(lines, social.MaxPage+1) {
		found, err := q.peersOf(ctx, "read the newest behind notifications", len(piece), func(i int) string {
			return fmt.Sprintf(`SELECT %d AS listing, actor_id AS id, since FROM notification_actor %s
				WHERE user_id = %d AND notification_id = %d AND hidden = 0 ORDER BY since DESC, actor_id DESC LIMIT %d`,
				i, q.dialect.index("notification_newest"), piece[i].UserID, piece[i].ID, limit)
		})
		if err != nil {
			return nil, err
		}
		for i, n := range piece {
			newest[n] = found[i]
		}
	}
	return newest, nil
}
