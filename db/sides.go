package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Sides is an edge or a like, of a state S, as it is stored at its owner, which is the truth,
// and at the one who is followed, or the blog that is liked, the mirror; nil where there is no
// row.
type Sides[S ~int8] struct {
	social.Pair
	Own, Mirror *Side[S]
	// Blocked says of an edge that one of the two blocks the other.
	Blocked bool
}

// Side is an edge or a like as one of its two rows has it.
type Side[S ~int8] struct {
	State S
	Since social.Millis
}

// EdgeSides are both sides of an edge.
type EdgeSides = Sides[social.FollowState]

// LikeSides are both sides of a like.
type LikeSides = Sides[social.LikeState]

// sidesRow is how both sides are read.
type sidesRow[S ~int8] struct {
	UserID      social.ID      `db:"user_id"`
	TargetID    social.ID      `db:"target_id"`
	State       *S             `db:"state"`
	Since       *social.Millis `db:"since"`
	MirrorState *S             `db:"mirror_state"`
	MirrorSince *social.Millis `db:"mirror_since"`
	Blocked     bool           `db:"blocked"`
}

func (r sidesRow[S]) sides() Sides[S] {
	side := func(state *S, since *social.Millis) *Side[S] {
		if state == nil || since == nil {
			return nil
		}
		return &Side[S]{State: *state, Since: *since}
	}
	return Sides[S]{
		Pair: social.Pair{UserID: r.UserID, TargetID: r.TargetID}, Blocked: r.Blocked,
		Own: side(r.State, r.Since), Mirror: side(r.MirrorState, r.MirrorSince),
	}
}

// sideTable is where one side is stored: by owner, then peer, its primary key.
type sideTable struct{ name, owner, peer string }

var (
	followingSide = sideTable{"following", "user_id", "target_id"}
	followerSide  = sideTable{"follower", "user_id", "follower_id"}
	likeSide      = sideTable{"blog_like", "user_id", "blog_id"}
	likerSide     = sideTable{"blog_liker", "blog_id", "user_id"}
)

// EdgesAfter reads edges that have a row at their owner, whatever their state, of the owners
// up to upTo: by owner, then target, from strictly after one. One statement, and so one
// moment. Reads primary keys, of following twice the limit at most.
func (q *queries) EdgesAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]EdgeSides, error) {
	return ownersAfter[social.FollowState](ctx, q, followingSide, followerSide, blockedSides, after, upTo, limit)
}

// MirrorsAfter is like EdgesAfter from the other side: edges that have a row at their target,
// of the targets up to upTo, by target, then owner, from strictly after one.
func (q *queries) MirrorsAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]EdgeSides, error) {
	return mirrorsAfter[social.FollowState](ctx, q, followingSide, followerSide, blockedSides, after, upTo, limit)
}

// LikesAfter is like EdgesAfter of likes, by who likes.
func (q *queries) LikesAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]LikeSides, error) {
	return ownersAfter[social.LikeState](ctx, q, likeSide, likerSide, unblocked, after, upTo, limit)
}

// LikersAfter is like MirrorsAfter of likes, by the blog that is liked.
func (q *queries) LikersAfter(ctx context.Context, after social.Pair, upTo social.ID, limit int) ([]LikeSides, error) {
	return mirrorsAfter[social.LikeState](ctx, q, likeSide, likerSide, unblocked, after, upTo, limit)
}

// wallSides adds to what is read from one side p whether one of the two blocks the other.
type wallSides struct{ column, join string }

var (
	blockedSides = wallSides{
		`b.user_id IS NOT NULL OR c.user_id IS NOT NULL AS blocked`,
		`LEFT JOIN block b ON b.user_id = p.owner_id AND b.target_id = p.peer_id
		LEFT JOIN block c ON c.user_id = p.peer_id AND c.target_id = p.owner_id`,
	}
	unblocked = wallSides{column: `0 AS blocked`} // likes are over no wall
)

func ownersAfter[S ~int8](ctx context.Context, q *queries, own, mirror sideTable, w wallSides, after social.Pair, upTo social.ID, limit int) ([]Sides[S], error) {
	return readSides[S](ctx, q, "read both sides from owners", `
		SELECT p.owner_id AS user_id, p.peer_id AS target_id, p.state, p.since, m.state AS mirror_state, m.since AS mirror_since, `+w.column+`
		FROM (`+q.sideAfter(own, after, upTo, limit)+`) AS p `+mirror.joined()+` `+w.join+`
		ORDER BY p.owner_id, p.peer_id`)
}

func mirrorsAfter[S ~int8](ctx context.Context, q *queries, own, mirror sideTable, w wallSides, after social.Pair, upTo social.ID, limit int) ([]Sides[S], error) {
	return readSides[S](ctx, q, "read both sides from targets", `
		SELECT p.peer_id AS user_id, p.owner_id AS target_id, m.state, m.since, p.state AS mirror_state, p.since AS mirror_since, `+w.column+`
		FROM (`+q.sideAfter(mirror, after.Reversed(), upTo, limit)+`) AS p `+own.joined()+` `+w.join+`
		ORDER BY p.owner_id, p.peer_id`)
}

// joined is the other side m of what is read from one side p.
func (t sideTable) joined() string {
	return fmt.Sprintf("LEFT JOIN %s m ON m.%s = p.peer_id AND m.%s = p.owner_id", t.name, t.owner, t.peer)
}

// sideAfter selects rows of one side. The rest of the owner at the cursor and those after it
// are two parts, since one condition for both would make some stores read the owner from the
// beginning.
func (q *queries) sideAfter(t sideTable, after social.Pair, upTo social.ID, limit int) string {
	part := func(where, order string) string {
		return fmt.Sprintf(`SELECT * FROM (SELECT %s AS owner_id, %s AS peer_id, state, since FROM %s %s WHERE %s ORDER BY %s LIMIT %d) AS part`,
			t.owner, t.peer, t.name, q.forcePrimary(), where, order, limit)
	}
	return `SELECT * FROM (` +
		part(fmt.Sprintf("%s = %d AND %s > %d", t.owner, after.UserID, t.peer, after.TargetID), t.peer) + ` UNION ALL ` +
		part(fmt.Sprintf("%s > %d AND %[1]s <= %[3]d", t.owner, after.UserID, upTo), t.owner+", "+t.peer) +
		fmt.Sprintf(`) AS parts ORDER BY owner_id, peer_id LIMIT %d`, limit)
}

func readSides[S ~int8](ctx context.Context, q *queries, doing, query string) ([]Sides[S], error) {
	var rows []sidesRow[S]
	err := q.all(ctx, doing, &rows, query)
	sides := make([]Sides[S], len(rows))
	for i, r := range rows {
		sides[i] = r.sides()
	}
	return sides, err
}

// SidesOf reads these edges from both sides; those without any row are absent. Blocks are
// for WallsOf. At most 900 pairs; reads two primary keys.
func (q *queries) SidesOf(ctx context.Context, pairs []social.Pair) (map[social.Pair]EdgeSides, error) {
	return sidesOf[social.FollowState](ctx, q, followingSide, followerSide, pairs)
}

// LikeSidesOf is like SidesOf of likes.
func (q *queries) LikeSidesOf(ctx context.Context, pairs []social.Pair) (map[social.Pair]LikeSides, error) {
	return sidesOf[social.LikeState](ctx, q, likeSide, likerSide, pairs)
}

func sidesOf[S ~int8](ctx context.Context, q *queries, own, mirror sideTable, pairs []social.Pair) (map[social.Pair]Sides[S], error) {
	sides := make(map[social.Pair]Sides[S], len(pairs))
	if len(pairs) == 0 {
		return sides, nil // no list at all would be no SQL
	}
	reversed := make([]social.Pair, len(pairs))
	for i, p := range pairs {
		reversed[i] = p.Reversed()
	}
	const atOwner, atMirror = 0, 1
	read := func(part int, t sideTable, pairs []social.Pair) string {
		return fmt.Sprintf(`SELECT %d AS part, %s AS owner_id, %s AS peer_id, state, since FROM %s WHERE (%[2]s, %[3]s) IN (%[5]s)`,
			part, t.owner, t.peer, t.name, q.dialect.pairs(pairRows(pairs)))
	}
	var rows []struct {
		Part    int           `db:"part"`
		OwnerID social.ID     `db:"owner_id"`
		PeerID  social.ID     `db:"peer_id"`
		State   S             `db:"state"`
		Since   social.Millis `db:"since"`
	}
	err := q.all(ctx, "read both sides", &rows, read(atOwner, own, pairs)+` UNION ALL `+read(atMirror, mirror, reversed))
	for _, r := range rows {
		pair, side := social.Pair{UserID: r.OwnerID, TargetID: r.PeerID}, &Side[S]{State: r.State, Since: r.Since}
		if r.Part == atMirror {
			pair = pair.Reversed()
		}
		e := sides[pair]
		if e.Pair = pair; r.Part == atOwner {
			e.Own = side
		} else {
			e.Mirror = side
		}
		sides[pair] = e
	}
	return sides, err
}
