package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kith/social"
)

// Followers reads, for each listing, people who follow its owner, latest first, up to one
// more than the page has, from strictly after its cursor. Reads the index follower_list.
func (q *queries) Followers(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, "read followers", "follower", "follower_id", ls)
}

// Following reads, for each listing, people whom its owner follows, latest first, up to
// one more than the page has, from strictly after its cursor. Reads the index
// following_list.
func (q *queries) Following(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, "read following", "following", "target_id", ls)
}

func (q *queries) peers(ctx context.Context, doing, table, peer string, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.listings(ctx, doing, ls, func(i int, l social.Listing) string {
		return fmt.Sprintf(`SELECT %d AS listing, %s AS id, since FROM %s WHERE user_id = %d AND state = %d%s
			ORDER BY since DESC, %[2]s DESC LIMIT %[7]d`, i, peer, table, l.Owner, social.Following, beyond(l.Page, "since", peer), l.Limit+1)
	})
}

// beyond is the condition for what lies after the page's cursor, latest first. It is
// written expanded, since MariaDB reads the whole list for (since, id) < (?, ?), and all
// entries of the cursor's millisecond for since <= ? AND (since < ? OR id < ?): 9,931 where
// this reads 21.
func beyond(p social.Page, since, id string) string {
	if p.AtHead() {
		return ""
	}
	return fmt.Sprintf(" AND %s <= %d AND (%[1]s < %[2]d OR %[1]s = %[2]d AND %[3]s < %[4]d)", since, p.From.MinTime, id, p.From.ID)
}

// listings reads peers of many lists by one statement, each latest first.
func (q *queries) listings(ctx context.Context, doing string, ls []social.Listing,
	part func(i int, l social.Listing) string,
) (map[social.Listing][]social.Peer, error) {
	var rows []struct {
		Listing int `db:"listing"`
		social.Peer
	}
	err := q.all(ctx, doing, &rows, union(ls, part))
	found := make(map[social.Listing][]social.Peer, len(ls))
	for _, r := range rows {
		found[ls[r.Listing]] = append(found[ls[r.Listing]], r.Peer)
	}
	for _, peers := range found { // a union has no order
		slices.SortFunc(peers, func(a, b social.Peer) int {
			return -cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
		})
	}
	return found, err
}

// union reads the parts of many lists at once, each with an order and a limit of its own.
func union(ls []social.Listing, part func(i int, l social.Listing) string) string {
	if len(ls) == 1 { // as it is: a derived table is read twice
		return part(0, ls[0])
	}
	parts := make([]string, len(ls))
	for i, l := range ls {
		parts[i] = "SELECT * FROM (" + part(i, l) + ") AS part"
	}
	return strings.Join(parts, " UNION ALL ")
}

// Followed is whom a person follows, in no order, and the version of the person's edges as
// of which it is so; 0 and nobody for one who does not exist. One statement, and so one
// moment. Reads a primary key and the index following_list.
func (q *queries) Followed(ctx context.Context, user social.ID) (version int64, followed []social.Peer, err error) {
	var rows []struct {
		Version int64          `db:"graph_version"`
		ID      *social.ID     `db:"target_id"`
		Since   *social.Millis `db:"since"`
	}
	err = q.all(ctx, "read those followed", &rows, `
		SELECT a.graph_version, f.target_id, f.since
		FROM actor a LEFT JOIN following f ON f.user_id = a.user_id AND f.state = ?
		WHERE a.user_id = ?`, social.Following, user)
	for _, r := range rows {
		version = r.Version
		if r.ID != nil {
			followed = append(followed, social.Peer{ID: *r.ID, Since: *r.Since})
		}
	}
	return version, followed, err
}

// FollowersAfter reads ids of people who follow a person, in ascending order from strictly
// after one. Reads the primary key, in which nobody moves.
func (q *queries) FollowersAfter(ctx context.Context, user, after social.ID, limit int) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read followers of an author", &ids, `
		SELECT follower_id FROM follower `+q.forcePrimary()+`
		WHERE user_id = ? AND follower_id > ? AND state = ? ORDER BY follower_id LIMIT ?`,
		user, after, social.Following, limit)
	return ids, err
}

// Relations reads how the viewer and these people stand to each other, both ways; who
// is absent has no relation. At most 900 ids; reads two primary keys.
func (q *queries) Relations(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]social.Relation, error) {
	var rows []struct {
		ID   social.ID `db:"id"`
		Mine bool      `db:"mine"`
	}
	in := list(ids)
	err := q.all(ctx, "read relations", &rows, `
		SELECT target_id AS id, 1 AS mine FROM following WHERE user_id = ? AND target_id IN (`+in+`) AND state = ?
		UNION ALL
		SELECT follower_id, 0 FROM follower WHERE user_id = ? AND follower_id IN (`+in+`) AND state = ?`,
		viewer, social.Following, viewer, social.Following)
	relations := make(map[social.ID]social.Relation, len(rows))
	for _, r := range rows {
		rel := relations[r.ID]
		rel.ViewerFollows = rel.ViewerFollows || r.Mine
		rel.FollowsViewer = rel.FollowsViewer || !r.Mine
		relations[r.ID] = rel
	}
	return relations, err
}
