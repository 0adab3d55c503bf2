package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Side is an edge as one of its two rows has it.
type Side struct {
	State social.FollowState
	Since social.Millis
}

// EdgeSides is an edge as it is stored at its owner, which is the truth, and at the one who
// is followed, the mirror; nil where there is no row.
type EdgeSides struct {
	social.Pair
	Own, Mirror *Side
	// Blocked says that one of the two blocks the other.
	Blocked bool
}

// sidesRow is how an edge is read from both sides.
type sidesRow struct {
	UserID      social.ID           `db:"user_id"`
	TargetID    social.ID           `db:"target_id"`
	State       *social.FollowState `db:"state"`
	Since       *social.Millis      `db:"since"`
	MirrorState *social.FollowState `db:"mirror_state"`
	MirrorSince *social.Millis      `db:"mirror_since"`
	Blocked     bool                `db:"blocked"`
}

func (r sidesRow) sides() EdgeSides {
	side := func(state *social.FollowState, since *social.Millis) *Side {
		if state == nil || since == nil {
			return nil
		}
		return &Side{State: *state, Since: *since}
	}
	return EdgeSides{
		Pair: social.Pair{UserID: r.UserID, TargetID: r.TargetID}, Blocked: r.Blocked,
		Own: side(r.State, r.Since), Mirror: side(r.MirrorState, r.MirrorSince),
	}
}

// EdgesAfter reads edges that have a row at their owner, whatever their state, of the owners
// up to upTo: by owner, then target, from strictly after one. One statement, and so one
// moment. Reads primary keys, of following twice the limit at most.
func (q *queries) EdgesAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]EdgeSides, error) {
	return q.sides(ctx, "read edges of owners", `
		SELECT p.user_id, p.peer_id AS target_id, p.state, p.since, m.state AS mirror_state, m.since AS mirror_since, `+blockedSides+`
		FROM (`+q.relationsAfter("following", "target_id", after, upTo, limit)+`) AS p
		LEFT JOIN follower m ON m.user_id = p.peer_id AND m.follower_id = p.user_id `+joinBlocks+`
		ORDER BY p.user_id, p.peer_id`)
}

// MirrorsAfter is like EdgesAfter from the other side: edges that have a row at their target,
// of the targets up to upTo, by target, then owner, from strictly after one.
func (q *queries) MirrorsAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]EdgeSides, error) {
	return q.sides(ctx, "read edges of targets", `
		SELECT p.peer_id AS user_id, p.user_id AS target_id, m.state, m.since, p.state AS mirror_state, p.since AS mirror_since, `+blockedSides+`
		FROM (`+q.relationsAfter("follower", "follower_id", after.Reversed(), upTo, limit)+`) AS p
		LEFT JOIN following m ON m.user_id = p.peer_id AND m.target_id = p.user_id `+joinBlocks+`
		ORDER BY p.user_id, p.peer_id`)
}

// Where an edge is read from one side p, these add whether one of the two blocks the other.
const (
	blockedSides = `b.user_id IS NOT NULL OR c.user_id IS NOT NULL AS blocked`
	joinBlocks   = `LEFT JOIN block b ON b.user_id = p.user_id AND b.target_id = p.peer_id
		LEFT JOIN block c ON c.user_id = p.peer_id AND c.target_id = p.user_id`
)

// relationsAfter selects rows of one side of the edges. The rest of the person at the cursor
// and those after them are two parts, since one condition for both would make some stores
// read the person from the beginning.
func (q *queries) relationsAfter(table, peer string, after social.Pair, upTo social.ID, limit int) string {
	part := func(where, order string) string {
		return fmt.Sprintf(`SELECT * FROM (SELECT user_id, %s AS peer_id, state, since FROM %s %s WHERE %s ORDER BY %s LIMIT %d) AS part`,
			peer, table, q.forcePrimary(), where, order, limit)
	}
	return `SELECT * FROM (` +
		part(fmt.Sprintf("user_id = %d AND %s > %d", after.UserID, peer, after.TargetID), peer) + ` UNION ALL ` +
		part(fmt.Sprintf("user_id > %d AND user_id <= %d", after.UserID, upTo), "user_id, "+peer) +
		fmt.Sprintf(`) AS parts ORDER BY user_id, peer_id LIMIT %d`, limit)
}

func (q *queries) sides(ctx context.Context, doing, query string) ([]EdgeSides, error) {
	var rows []sidesRow
	err := q.all(ctx, doing, &rows, query)
	edges := make([]EdgeSides, len(rows))
	for i, r := range rows {
		edges[i] = r.sides()
	}
	return edges, err
}

// SidesOf reads these edges from both sides; those without any row are absent. Blocks are
// for WallsOf. At most 900 pairs; reads two primary keys.
func (q *queries) SidesOf(ctx context.Context, pairs []social.Pair) (map[social.Pair]EdgeSides, error) {
	sides := make(map[social.Pair]EdgeSides, len(pairs))
	if len(pairs) == 0 {
		return sides, nil // no list at all would be no SQL
	}
	reversed := make([]social.Pair, len(pairs))
	for i, p := range pairs {
		reversed[i] = p.Reversed()
	}
	const own = 0
	var rows []struct {
		Part     int                `db:"part"`
		UserID   social.ID          `db:"user_id"`
		TargetID social.ID          `db:"target_id"`
		State    social.FollowState `db:"state"`
		Since    social.Millis      `db:"since"`
	}
	err := q.all(ctx, "read both sides of edges", &rows, `
		SELECT 0 AS part, user_id, target_id, state, since FROM following
		WHERE (user_id, target_id) IN (`+q.dialect.pairs(pairRows(pairs))+`)
		UNION ALL
		SELECT 1, follower_id, user_id, state, since FROM follower
		WHERE (user_id, follower_id) IN (`+q.dialect.pairs(pairRows(reversed))+`)`)
	for _, r := range rows {
		pair, side := social.Pair{UserID: r.UserID, TargetID: r.TargetID}, &Side{State: r.State, Since: r.Since}
		e := sides[pair]
		if e.Pair = pair; r.Part == own {
			e.Own = side
		} else {
			e.Mirror = side
		}
		sides[pair] = e
	}
	return sides, err
}

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
