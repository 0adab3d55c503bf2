package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Unsettled is a person whose edges may not match their status yet.
type Unsettled struct {
	UserID social.ID         `db:"user_id"`
	Since  social.Millis     `db:"since"` // of the latest change of the status, by the store's clock
	Status social.UserStatus `db:"status"`
	Age    social.Millis     `db:"age"` // of that change, when this was read
}

// Unsettled reads whom to settle, who has waited the longest first, from strictly after one,
// the zero Unsettled for the first, up to limit. Reads the whole table, which is short.
func (q *queries) Unsettled(ctx context.Context, after Unsettled, limit int) ([]Unsettled, error) {
	var people []Unsettled
	err := q.all(ctx, "read whom to settle", &people, `
		SELECT s.user_id, s.since, u.status, `+q.dialect.nowMS+` - s.since AS age
		FROM settling s JOIN user u ON u.id = s.user_id
		WHERE s.since > ? OR s.since = ? AND s.user_id > ? ORDER BY s.since, s.user_id LIMIT ?`,
		after.Since, after.Since, after.UserID, limit)
	return people, err
}

// Settled takes somebody off those to settle, unless their status has changed since.
func (d *DB) Settled(ctx context.Context, p Unsettled) error {
	return d.Transact(ctx, func(tx *Tx) error {
		return tx.exec(ctx, "take off those to settle", `DELETE FROM settling WHERE user_id = ? AND since = ?`, p.UserID, p.Since)
	})
}

// EdgesToSettle reads edges of a person, either way, that do not match the status: of each
// way up to limit. Reads the indexes following_list and follower_list.
func (q *queries) EdgesToSettle(ctx context.Context, who social.ID, status social.UserStatus, limit int) ([]social.Pair, error) {
	var found []struct {
		UserID   social.ID `db:"user_id"`
		TargetID social.ID `db:"target_id"`
	}
	state, ofActive := fmt.Sprintf("%d", social.Following), ""
	switch status {
	case social.Active:
		state, ofActive = fmt.Sprintf("%d", social.Hidden), fmt.Sprintf(" AND u.status = %d", social.Active)
	case social.Deleted:
		state = fmt.Sprintf("%d, %d, %d", social.Following, social.Requested, social.Hidden)
	}
	err := q.all(ctx, "read edges to settle", &found, fmt.Sprintf(`
		SELECT * FROM (SELECT e.user_id, e.target_id FROM following e JOIN user u ON u.id = e.target_id%[1]s
			WHERE e.user_id = %[2]d AND e.state IN (%[3]s) LIMIT %[4]d) AS mine
		UNION ALL
		SELECT * FROM (SELECT e.follower_id, e.user_id AS target_id FROM follower e JOIN user u ON u.id = e.follower_id%[1]s
			WHERE e.user_id = %[2]d AND e.state IN (%[3]s) LIMIT %[4]d) AS theirs`, ofActive, who, state, limit))
	pairs := make([]social.Pair, len(found))
	for i, f := range found {
		pairs[i] = social.Pair(f)
	}
	return pairs, err
}

// Statuses reads the statuses of these people; who never was is absent. At most 900 ids;
// reads the primary key.
func (q *queries) Statuses(ctx context.Context, ids []social.ID) (map[social.ID]social.UserStatus, error) {
	var rows []struct {
		ID     social.ID         `db:"id"`
		Status social.UserStatus `db:"status"`
	}
	err := q.all(ctx, "read statuses", &rows, `SELECT id, status FROM user WHERE id IN (`+list(ids)+`)`)
	statuses := make(map[social.ID]social.UserStatus, len(rows))
	for _, r := range rows {
		statuses[r.ID] = r.Status
	}
	return statuses, err
}

// WallsWith reads who blocks or mutes whom where a person is one of the two, each pair once,
// up to limit of each kind and way.
func (q *queries) WallsWith(ctx context.Context, who social.ID, limit int) ([]social.Pair, error) {
	var found []struct {
		UserID   social.ID `db:"user_id"`
		TargetID social.ID `db:"target_id"`
	}
	part := func(table, column string) string {
		return fmt.Sprintf(`SELECT * FROM (SELECT user_id, target_id FROM %s WHERE %s = %d LIMIT %d) AS %[1]s_%[2]s`, table, column, who, limit)
	}
	err := q.all(ctx, "read walls of a person", &found, part("block", "user_id")+` UNION `+part("block", "target_id")+
		` UNION `+part("mute", "user_id")+` UNION `+part("mute", "target_id"))
	pairs := make([]social.Pair, len(found))
	for i, f := range found {
		pairs[i] = social.Pair(f)
	}
	return pairs, err
}

// DeleteSomeBlogs deletes blogs of an author, up to limit, and tells how many there were.
// Reads the index blog_author.
func (tx *Tx) DeleteSomeBlogs(ctx context.Context, author social.ID, limit int) (int64, error) {
	var ids []social.ID
	err := tx.all(ctx, "read blogs to delete", &ids,
		`SELECT id FROM blog WHERE author_id = ? AND status = ? ORDER BY id LIMIT ?`+tx.dialect.forUpdate, author, blogPublished, limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return int64(len(ids)), tx.exec(ctx, "delete blogs", `UPDATE blog SET status = ? WHERE id IN (`+list(ids)+`)`, blogDeleted)
}
