package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kith/social"
)

// LikesOf reads these likes as their people have them; likes that never were are absent. At
// most 900 pairs; reads the primary key.
func (q *queries) LikesOf(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Like, error) {
	if len(pairs) == 0 {
		return map[social.Pair]social.Like{}, nil // no list at all would be no SQL
	}
	var found []struct {
		UserID social.ID        `db:"user_id"`
		BlogID social.ID        `db:"blog_id"`
		State  social.LikeState `db:"state"`
		Since  social.Millis    `db:"since"`
	}
	err := q.all(ctx, "read likes", &found, `
		SELECT user_id, blog_id, state, since FROM blog_like
		WHERE (user_id, blog_id) IN (`+q.dialect.pairs(pairRows(pairs))+`)`)
	likes := make(map[social.Pair]social.Like, len(found))
	for _, f := range found {
		pair := social.Pair{UserID: f.UserID, TargetID: f.BlogID}
		likes[pair] = social.Like{Pair: pair, State: f.State, Since: f.Since}
	}
	return likes, err
}

// LikedAmong reads which of these blogs a person likes. At most 900 blogs; reads the primary
// key.
func (q *queries) LikedAmong(ctx context.Context, who social.ID, blogs []social.ID) ([]social.ID, error) {
	var liked []social.ID
	err := q.all(ctx, "read what is liked of some", &liked,
		`SELECT blog_id FROM blog_like WHERE user_id = ? AND blog_id IN (`+list(blogs)+`) AND state = ?`, who, social.Liked)
	return liked, err
}

// NewestLikes reads the newest likes of a person, latest first, up to limit, and the version
// of the person's likes as of which it is so; 0 and none for one who does not exist. One
// statement, and so one moment. Reads the index like_list and a primary key.
func (q *queries) NewestLikes(ctx context.Context, who social.ID, limit int) (version int64, liked []social.Peer, err error) {
	const actor = 0
	var rows []struct {
		Part int `db:"part"`
		social.Peer
	}
	err = q.all(ctx, "read newest likes", &rows, fmt.Sprintf(`
		SELECT %d AS part, user_id AS id, like_version AS since FROM actor WHERE user_id = %[2]d
		UNION ALL SELECT * FROM (SELECT 1 AS part, blog_id AS id, since FROM blog_like %[3]s
			WHERE user_id = %[2]d AND state = %[4]d ORDER BY since DESC, blog_id DESC LIMIT %[5]d) AS newest`,
		actor, who, q.dialect.index("like_list"), social.Liked, limit))
	for _, r := range rows {
		if r.Part == actor {
			version = int64(r.Since)
		} else {
			liked = append(liked, r.Peer)
		}
	}
	slices.SortFunc(liked, latestFirst) // a union has no order
	return version, liked, err
}

// Authorship is who wrote a blog, and whether it has been deleted.
type Authorship struct {
	AuthorID social.ID
	Deleted  bool
}

// Authorships reads those of these blogs; what never was is absent. At most 900 ids; reads
// the primary key.
func (q *queries) Authorships(ctx context.Context, blogs []social.ID) (map[social.ID]Authorship, error) {
	var rows []blogRow
	err := q.all(ctx, "read authors of blogs", &rows, `SELECT id, author_id, status FROM blog WHERE id IN (`+list(blogs)+`)`)
	found := make(map[social.ID]Authorship, len(rows))
	for _, r := range rows {
		found[r.ID] = Authorship{AuthorID: r.AuthorID, Deleted: r.Status == blogDeleted}
	}
	return found, err
}

// PutLikes writes likes as their people have them. Sorted by (UserID, TargetID).
func (tx *Tx) PutLikes(ctx context.Context, likes []social.Like) error {
	return tx.putLikes(ctx, "write likes", "blog_like", "user_id, blog_id", likes, func(p social.Pair) social.Pair { return p })
}

// PutLikers writes the same likes from the side of the blogs. Sorted by (TargetID, UserID).
func (tx *Tx) PutLikers(ctx context.Context, likes []social.Like) error {
	return tx.putLikes(ctx, "write likers", "blog_liker", "blog_id, user_id", likes, social.Pair.Reversed)
}

func (tx *Tx) putLikes(ctx context.Context, doing, table, key string, likes []social.Like, as func(social.Pair) social.Pair) error {
	return tx.upsert(ctx, doing, table, key, "state, since",
		rows(likes, func(l social.Like) []int64 {
			p := as(l.Pair)
			return []int64{int64(p.UserID), int64(p.TargetID), int64(l.State), int64(l.Since)}
		}),
		"state = "+tx.dialect.excluded("state")+", since = "+tx.dialect.excluded("since"))
}

// LikeCountChange is by how much the likes of a blog move.
type LikeCountChange struct {
	BlogID social.ID
	Likes  int64
	Warmth Warmth
}

// AddLikeCounts moves likes of blogs. Sorted by BlogID, each blog once.
func (tx *Tx) AddLikeCounts(ctx context.Context, changes []LikeCountChange) error {
	var b strings.Builder
	for i, c := range changes {
		if i > 0 {
			b.WriteByte(',')
		}
		heat := "NULL"
		if delta, moves := c.Warmth.delta(); moves {
			heat = strconv.FormatFloat(delta, 'e', -1, 64)
		}
		fmt.Fprintf(&b, "(%d,%d,1,%s)", c.BlogID, c.Likes, heat)
	}
	return tx.upsert(ctx, "move likes of blogs", "blog_count", "blog_id", "likes, version, heat", b.String(),
		// Heat first: MySQL lets what follows see the new values.
		"heat = "+tx.dialect.heated()+", likes = blog_count.likes + "+tx.dialect.excluded("likes")+", version = blog_count.version + 1")
}

// LikeCounts reads how many like these blogs; who was never liked is absent. At most 900 ids;
// reads the primary key.
func (q *queries) LikeCounts(ctx context.Context, blogs []social.ID) (map[social.ID]social.LikeCount, error) {
	var rows []struct {
		BlogID social.ID `db:"blog_id"`
		social.LikeCount
	}
	err := q.all(ctx, "read like counts", &rows, `SELECT blog_id, likes, version FROM blog_count WHERE blog_id IN (`+list(blogs)+`)`)
	counts := make(map[social.ID]social.LikeCount, len(rows))
	for _, r := range rows {
		counts[r.BlogID] = r.LikeCount
	}
	return counts, err
}

// LikesToSettle reads likes of a person that do not match the status, up to limit. Reads the
// index like_list.
func (q *queries) LikesToSettle(ctx context.Context, who social.ID, status social.UserStatus, limit int) ([]social.Pair, error) {
	states := []social.LikeState{social.Liked}
	switch status {
	case social.Active:
		states = []social.LikeState{social.HiddenLike}
	case social.Deleted:
		states = []social.LikeState{social.Liked, social.HiddenLike}
	}
	var blogs []social.ID
	err := q.all(ctx, "read likes to settle", &blogs,
		`SELECT blog_id FROM blog_like WHERE user_id = ? AND state IN (`+list(states)+`) LIMIT ?`, who, limit)
	pairs := make([]social.Pair, len(blogs))
	for i, b := range blogs {
		pairs[i] = social.Pair{UserID: who, TargetID: b}
	}
	return pairs, err
}
