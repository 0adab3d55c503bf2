package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"kith/social"
)

// listKind is a kind of list of relations, and where it is stored.
type listKind struct{ doing, table, owner, peer, where string }

var (
	followersList = listKind{"read followers", "follower", "user_id", "follower_id", inState(social.Following)}
	requestsList  = listKind{"read requests", "follower", "user_id", "follower_id", inState(social.Requested)}
	followingList = listKind{"read following", "following", "user_id", "target_id", inState(social.Following)}
	blockedList   = listKind{"read those blocked", "block", "user_id", "target_id", ""}
	mutedList     = listKind{"read those muted", "mute", "user_id", "target_id", ""}
	likersList    = listKind{"read likers", "blog_liker", "blog_id", "user_id", inState(social.Liked)}
	likedList     = listKind{"read what is liked", "blog_like", "user_id", "blog_id", inState(social.Liked)}
)

func inState[S number](s S) string { return fmt.Sprintf(" AND state = %d", s) }

// Followers reads, for each listing, people who follow its owner, latest first, up to one
// more than the page has, from strictly after its cursor. Reads the index follower_list.
func (q *queries) Followers(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, followersList, ls)
}

// Requests is like Followers, of people who have asked to follow.
func (q *queries) Requests(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, requestsList, ls)
}

// Following is like Followers, of people whom the owner follows, by the index
// following_list.
func (q *queries) Following(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, followingList, ls)
}

// Blocked is like Followers, of people whom the owner blocks, by the index block_list.
func (q *queries) Blocked(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, blockedList, ls)
}

// Muted is like Followers, of people whom the owner mutes, by the index mute_list.
func (q *queries) Muted(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, mutedList, ls)
}

// Likers is like Followers, of people who like the owner, which is a blog, by the index
// liker_list.
func (q *queries) Likers(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, likersList, ls)
}

// LikedBlogs is like Followers, of blogs that the owner likes, by the index like_list; also
// of those deleted.
func (q *queries) LikedBlogs(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.peers(ctx, likedList, ls)
}

func (q *queries) peers(ctx context.Context, kind listKind, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return q.listings(ctx, kind.doing, ls, func(i int, l social.Listing) string {
		return fmt.Sprintf(`SELECT %d AS listing, %s AS id, since FROM %s WHERE %s = %d%s%s
			ORDER BY since DESC, %[2]s DESC LIMIT %[8]d`, i, kind.peer, kind.table, kind.owner, l.Owner, kind.where, beyond(l.Page, "since", kind.peer), l.Limit+1)
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
	parts, err := q.peersOf(ctx, doing, len(ls), func(i int) string { return part(i, ls[i]) })
	found := make(map[social.Listing][]social.Peer, len(ls))
	for i, peers := range parts {
		if len(peers) > 0 {
			found[ls[i]] = peers
		}
	}
	return found, err
}

// peersOf reads n lists by one statement, each latest first; part i gives the rows of the list
// i, which it calls listing.
func (q *queries) peersOf(ctx context.Context, doing string, n int, part func(i int) string) ([][]social.Peer, error) {
	var rows []struct {
		Listing int `db:"listing"`
		social.Peer
	}
	err := q.all(ctx, doing, &rows, union(n, part))
	found := make([][]social.Peer, n)
	for _, r := range rows {
		found[r.Listing] = append(found[r.Listing], r.Peer)
	}
	for _, peers := range found { // a union has no order
		slices.SortFunc(peers, latestFirst)
	}
	return found, err
}

func latestFirst(a, b social.Peer) int {
	return -cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
}

// union reads the parts of n lists at once, each with an order and a limit of its own.
func union(n int, part func(i int) string) string {
	if n == 1 { // as it is: a derived table is read twice
		return part(0)
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i] = "SELECT * FROM (" + part(i) + ") AS part"
	}
	return strings.Join(parts, " UNION ALL ")
}

// Followed is whose blogs a person's feed has, in no order: those of the people they follow,
// also where one of the two is suspended, and do not mute. With it comes the version of the
// person's edges as of which it is so; 0 and nobody for one who does not exist. One
// statement, and so one moment. Reads two primary keys and the index following_list.
func (q *queries) Followed(ctx context.Context, user social.ID) (version int64, followed []social.Peer, err error) {
	const actor, follow, muted = 0, 1, 2
	var rows []struct {
		Part int `db:"part"`
		social.Peer
	}
	err = q.all(ctx, "read those followed", &rows, fmt.Sprintf(`
		SELECT %d AS part, user_id AS id, graph_version AS since FROM actor WHERE user_id = %[4]d
		UNION ALL SELECT %[2]d, target_id, since FROM following WHERE user_id = %[4]d AND state IN (%[5]d, %[6]d)
		UNION ALL SELECT %[3]d, target_id, since FROM mute WHERE user_id = %[4]d`,
		actor, follow, muted, user, social.Following, social.Hidden))
	mutes := map[social.ID]bool{}
	for _, r := range rows {
		switch r.Part {
		case actor:
			version = int64(r.Since)
		case muted:
			mutes[r.ID] = true
		}
	}
	for _, r := range rows {
		if r.Part == follow && !mutes[r.ID] {
			followed = append(followed, r.Peer)
		}
	}
	return version, followed, err
}

// FollowersAfter reads ids of people who follow a person, also those suspended, in ascending
// order from strictly after one. Reads the primary key, in which nobody moves.
func (q *queries) FollowersAfter(ctx context.Context, user, after social.ID, limit int) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read followers of an author", &ids, `
		SELECT follower_id FROM follower `+q.forcePrimary()+`
		WHERE user_id = ? AND follower_id > ? AND state IN (?, ?) ORDER BY follower_id LIMIT ?`,
		user, after, social.Following, social.Hidden, limit)
	return ids, err
}

// Relations reads how the viewer, 0 for nobody, and those of these people who are active
// stand to each other; the others are absent. At most 900 ids; reads primary keys.
func (q *queries) Relations(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]social.Relation, error) {
	var rows []struct {
		ID        social.ID           `db:"id"`
		IsPrivate bool                `db:"is_private"`
		Mine      *social.FollowState `db:"mine"`
		Theirs    *social.FollowState `db:"theirs"`
		Blocks    bool                `db:"blocks"`
		Mutes     bool                `db:"mutes"`
		Blocked   bool                `db:"blocked"`
	}
	err := q.all(ctx, "read relations", &rows, fmt.Sprintf(`
		SELECT u.id, u.is_private, f.state AS mine, g.state AS theirs,
			b.user_id IS NOT NULL AS blocks, m.user_id IS NOT NULL AS mutes, c.user_id IS NOT NULL AS blocked
		FROM user u
		LEFT JOIN following f ON f.user_id = %[1]d AND f.target_id = u.id
		LEFT JOIN following g ON g.user_id = u.id AND g.target_id = %[1]d
		LEFT JOIN block b ON b.user_id = %[1]d AND b.target_id = u.id
		LEFT JOIN block c ON c.user_id = u.id AND c.target_id = %[1]d
		LEFT JOIN mute m ON m.user_id = %[1]d AND m.target_id = u.id
		WHERE u.id IN (%s) AND u.status = %d`, viewer, list(ids), social.Active))
	relations := make(map[social.ID]social.Relation, len(rows))
	for _, r := range rows {
		relations[r.ID] = social.Relation{
			IsThere: true, IsPrivate: r.IsPrivate,
			ViewerFollows:   r.Mine != nil && *r.Mine == social.Following,
			ViewerRequested: r.Mine != nil && *r.Mine == social.Requested,
			ViewerBlocks:    r.Blocks,
			ViewerMutes:     r.Mutes,
			FollowsViewer:   r.Theirs != nil && *r.Theirs == social.Following,
			BlocksViewer:    r.Blocked,
		}
	}
	return relations, err
}
