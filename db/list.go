package db

import (
	"context"

	"kith/social"
)

// Followers reads people who follow the person, latest first, up to one more than the
// page has, from strictly after its cursor. Reads the index follower_list.
func (q *queries) Followers(ctx context.Context, user social.ID, p social.Page) ([]social.Peer, error) {
	return q.peers(ctx, "read followers", "follower", "follower_id", user, p)
}

// Following reads people whom the person follows, latest first, up to one more than the
// page has, from strictly after its cursor. Reads the index following_list.
func (q *queries) Following(ctx context.Context, user social.ID, p social.Page) ([]social.Peer, error) {
	return q.peers(ctx, "read following", "following", "target_id", user, p)
}

// peers reads a list of relations by keyset. The condition is written expanded, since
// MariaDB reads the whole list for (since, id) < (?, ?), and all entries of the cursor's
// millisecond for since <= ? AND (since < ? OR id < ?): 9,931 where this reads 21.
func (q *queries) peers(ctx context.Context, doing, table, peer string, user social.ID, p social.Page) ([]social.Peer, error) {
	where, args := "user_id = ? AND state = ?", []any{user, social.Following}
	if p.From != nil {
		where += " AND since <= ? AND (since < ? OR since = ? AND " + peer + " < ?)"
		args = append(args, p.From.MinTime, p.From.MinTime, p.From.MinTime, p.From.ID)
	}
	var peers []social.Peer
	err := q.all(ctx, doing, &peers,
		`SELECT `+peer+` AS id, since FROM `+table+` WHERE `+where+
			` ORDER BY since DESC, `+peer+` DESC LIMIT ?`, append(args, p.Limit+1)...)
	return peers, err
}

// Authors is whom the person follows and who exists: whose blogs the feed is made of. In
// no order. Reads the index following_list and a primary key for each.
func (q *queries) Authors(ctx context.Context, user social.ID) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read followed authors", &ids, `
		SELECT f.target_id FROM following f JOIN user u ON u.id = f.target_id
		WHERE f.user_id = ? AND f.state = ?`, user, social.Following)
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
