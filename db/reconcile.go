package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Tally is every count of a person that the store keeps.
type Tally struct {
	Following int64 `db:"following"`
	Pending   int64 `db:"pending"`
	Blocking  int64 `db:"blocking"`
	Muting    int64 `db:"muting"`
	Followers int64 `db:"followers"`
	Requests  int64 `db:"requests"`
	Blogs     int64 `db:"blogs"`
}

// Counted is a person's counts as they are stored, 0 where the row is missing, and as their
// rows are.
type Counted struct {
	UserID    social.ID `db:"id"`
	HasActor  bool      `db:"has_actor"`
	HasCounts bool      `db:"has_counts"`
	Stored    Tally     `db:"stored"`
	Rows      Tally     `db:"counted"`
}

// CountRows counts what these people, whatever their status, have, and reads what is stored
// of it: of one moment, since it is one statement, and since rows and their counts change in
// one transaction. At most 900 ids; reads, for each person, their part of the indexes
// following_list, follower_list and blog_author and of two primary keys.
func (q *queries) CountRows(ctx context.Context, ids []social.ID) ([]Counted, error) {
	var counted []Counted
	err := q.all(ctx, "count rows", &counted, fmt.Sprintf(`
		SELECT u.id, a.user_id IS NOT NULL AS has_actor, c.user_id IS NOT NULL AS has_counts,
			COALESCE(a.following, 0) AS `+"`stored.following`, COALESCE(a.pending, 0) AS `stored.pending`,"+`
			COALESCE(a.blocking, 0) AS `+"`stored.blocking`, COALESCE(a.muting, 0) AS `stored.muting`,"+`
			COALESCE(c.followers, 0) AS `+"`stored.followers`, COALESCE(c.requests, 0) AS `stored.requests`,"+`
			COALESCE(c.blogs, 0) AS `+"`stored.blogs`,"+`
			(SELECT COUNT(*) FROM following f WHERE f.user_id = u.id AND f.state = %[1]d) AS `+"`counted.following`,"+`
			(SELECT COUNT(*) FROM following f WHERE f.user_id = u.id AND f.state IN (%[2]d, %[3]d)) AS `+"`counted.pending`,"+`
			(SELECT COUNT(*) FROM block b WHERE b.user_id = u.id) AS `+"`counted.blocking`,"+`
			(SELECT COUNT(*) FROM mute m WHERE m.user_id = u.id) AS `+"`counted.muting`,"+`
			(SELECT COUNT(*) FROM follower r WHERE r.user_id = u.id AND r.state = %[1]d) AS `+"`counted.followers`,"+`
			(SELECT COUNT(*) FROM follower r WHERE r.user_id = u.id AND r.state = %[2]d) AS `+"`counted.requests`,"+`
			(SELECT COUNT(*) FROM blog w WHERE w.author_id = u.id AND w.status = %[4]d) AS `+"`counted.blogs`"+`
		FROM user u LEFT JOIN actor a ON a.user_id = u.id LEFT JOIN user_count c ON c.user_id = u.id
		WHERE u.id IN (%[5]s) ORDER BY u.id`,
		social.Following, social.Requested, social.Hidden, blogPublished, list(ids)))
	return counted, err
}

// EnsureActor writes the actor of a person who has none, with this version and no counts,
// and holds its row until the end of the transaction; one that is there stays as it is.
func (tx *Tx) EnsureActor(ctx context.Context, id social.ID, version int64) error {
	return tx.exec(ctx, "ensure actor", `
		INSERT INTO actor (user_id, graph_version, like_version, following) VALUES (?, ?, ?, 0) `+
		tx.dialect.onConflict("user_id")+`graph_version = actor.graph_version`, id, version, version)
}

// UsersAfter reads ids of people, whatever their status, in ascending order from strictly
// after one. Reads the primary key.
func (q *queries) UsersAfter(ctx context.Context, after social.ID, limit int) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read everybody", &ids, `SELECT id FROM user WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	return ids, err
}

// CountUsersAfter is how many UsersAfter reads without a limit.
func (q *queries) CountUsersAfter(ctx context.Context, after social.ID) (n int64, err error) {
	err = q.get(ctx, "count everybody", &n, `SELECT COUNT(*) FROM user WHERE id > ?`, after)
	return n, err
}

// Handles reads the handles of these people, whatever their status. At most 900 ids; reads
// the primary key.
func (q *queries) Handles(ctx context.Context, ids []social.ID) (map[social.ID]string, error) {
	var rows []struct {
		ID     social.ID `db:"id"`
		Handle string    `db:"handle"`
	}
	err := q.all(ctx, "read handles", &rows, `SELECT id, handle FROM user WHERE id IN (`+list(ids)+`)`)
	handles := make(map[social.ID]string, len(rows))
	for _, r := range rows {
		handles[r.ID] = r.Handle
	}
	return handles, err
}

// ConsumerPositions is, by lane, the number of the last event that a consumer has passed;
// lanes that it has never seen are absent. Reads the primary key.
func (q *queries) ConsumerPositions(ctx context.Context, consumer string) (map[int]int64, error) {
	var rows []LanePosition
	err := q.all(ctx, "read a consumer's positions", &rows,
		`SELECT lane, position, holder FROM consumed WHERE consumer = ?`, consumer)
	passed := make(map[int]int64, len(rows))
	for _, r := range rows {
		passed[r.Lane] = r.Position
	}
	return passed, err
}
