package db

import (
	"context"
	"fmt"
	"strings"

	"kith/social"
)

// MutualFollows reads, for each listing, people whom the viewer follows and its owner too,
// by the viewer's edges: latest first, up to one more than the page has, from strictly
// after its cursor.
//
// It goes through the viewer's list in its order (the index following_list), looks each up
// among the owner's edges (the primary key), and stops when the page is full. So it reads
// two rows for every one of those followed that it passes, however long the owner's own
// list is.
func (q *queries) MutualFollows(ctx context.Context, viewer social.ID, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.probed(ctx, "read mutual follows", "following", "target_id", viewer, ls)
}

// FollowersYouKnow reads, for each listing, people whom the viewer follows and who follow
// its owner, in the order of [queries.MutualFollows] and by the same way, with the primary
// key of the owner's followers.
func (q *queries) FollowersYouKnow(ctx context.Context, viewer social.ID, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.probed(ctx, "read followers you know", "follower", "follower_id", viewer, ls)
}

// CountMutualFollows is how many people both the viewer and each of these follow; who is
// absent shares none. Goes the way of [queries.MutualFollows] to its end.
func (q *queries) CountMutualFollows(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
	return q.countProbed(ctx, "count mutual follows", "following", "target_id", viewer, ids)
}

// CountFollowersYouKnow is how many of those whom the viewer follows follow each of these;
// who is absent has none. Goes the way of [queries.FollowersYouKnow] to its end.
func (q *queries) CountFollowersYouKnow(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
	return q.countProbed(ctx, "count followers you know", "follower", "follower_id", viewer, ids)
}

func (q *queries) probed(ctx context.Context, doing, table, peer string, viewer social.ID, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.listings(ctx, doing, ls, func(i int, l social.Listing) string {
		return fmt.Sprintf(`SELECT %d AS listing, mine.target_id AS id, mine.since %s%s
			ORDER BY mine.since DESC, mine.target_id DESC LIMIT %d`,
			i, q.probing(table, peer, viewer, l.Owner), beyond(l.Page, "mine.since", "mine.target_id"), l.Limit+1)
	})
}

func (q *queries) countProbed(ctx context.Context, doing, table, peer string, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
	var rows []struct {
		ID social.ID `db:"id"`
		N  int64     `db:"n"`
	}
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprintf("SELECT %d AS id, COUNT(*) AS n %s", id, q.probing(table, peer, viewer, id))
	}
	err := q.all(ctx, doing, &rows, strings.Join(parts, " UNION ALL "))
	counts := make(map[social.ID]int64, len(rows))
	for _, r := range rows {
		counts[r.ID] = r.N
	}
	return counts, err
}

// probing joins the viewer's list, as mine, with the owner's edges to the same people. The
// order of the join is told to the planner: begun with the owner's side it could read a
// million followers.
func (q *queries) probing(table, peer string, viewer, owner social.ID) string {
	return fmt.Sprintf(`FROM following mine %s %s %s theirs %s
		ON theirs.user_id = %d AND theirs.%s = mine.target_id AND theirs.state = %d
		WHERE mine.user_id = %d AND mine.state = %[7]d`,
		q.dialect.index("following_list"), q.dialect.joinInOrder, table, q.forcePrimary(), owner, peer, social.Following, viewer)
}
