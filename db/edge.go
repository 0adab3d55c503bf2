package db

import (
	"context"
	"strings"

	"kith/social"
)

// Actor is the row that whoever changes an edge or a like of its person holds.
type Actor struct {
	UserID       social.ID `db:"user_id"`
	GraphVersion int64     `db:"graph_version"`
	Following    int64     `db:"following"`
	// Pending is how many edges are Requested or Hidden: they may become follows.
	Pending  int64 `db:"pending"`
	Blocking int64 `db:"blocking"`
	Muting   int64 `db:"muting"`
	// LikeVersion rises with each change of the person's likes.
	LikeVersion int64 `db:"like_version"`
}

// LockActors reads the actors of these people and locks their rows, in ascending order,
// until the end of the transaction. At most 900 ids.
func (tx *Tx) LockActors(ctx context.Context, ids []social.ID) (map[social.ID]*Actor, error) {
	var rows []*Actor
	err := tx.all(ctx, "lock actors", &rows, `
		SELECT user_id, graph_version, following, pending, blocking, muting, like_version FROM actor `+tx.forcePrimary()+`
		WHERE user_id IN (`+list(ids)+`) ORDER BY user_id`+tx.dialect.forUpdate)
	actors := make(map[social.ID]*Actor, len(rows))
	for _, a := range rows {
		actors[a.UserID] = a
	}
	return actors, err
}

// forcePrimary keeps MySQL from scanning, and so waiting for rows that nobody asked for.
func (q *queries) forcePrimary() string {
	if q.dialect.name == "sqlite" {
		return ""
	}
	return q.dialect.index("PRIMARY")
}

// EdgesOf reads these edges as their owners see them; edges that never were are absent. At
// most 900 pairs; reads the primary key.
func (q *queries) EdgesOf(ctx context.Context, pairs []social.Pair) (map[social.Pair]social.Edge, error) {
	if len(pairs) == 0 {
		return map[social.Pair]social.Edge{}, nil // no list at all would be no SQL
	}
	var found []struct {
		UserID   social.ID          `db:"user_id"`
		TargetID social.ID          `db:"target_id"`
		State    social.FollowState `db:"state"`
		Since    social.Millis      `db:"since"`
		Accepted bool               `db:"accepted"`
	}
	err := q.all(ctx, "read edges", &found, `
		SELECT user_id, target_id, state, since, accepted FROM following
		WHERE (user_id, target_id) IN (`+q.dialect.pairs(pairRows(pairs))+`)`)
	edges := make(map[social.Pair]social.Edge, len(found))
	for _, f := range found {
		pair := social.Pair{UserID: f.UserID, TargetID: f.TargetID}
		edges[pair] = social.Edge{Pair: pair, State: f.State, Since: f.Since, Accepted: f.Accepted}
	}
	return edges, err
}

// PutFollowing writes edges as their owners see them. Sorted by (UserID, TargetID).
func (tx *Tx) PutFollowing(ctx context.Context, edges []social.Edge) error {
	return tx.upsert(ctx, "write following", "following", "user_id, target_id", "state, since, accepted",
		rows(edges, func(e social.Edge) []int64 {
			return []int64{int64(e.UserID), int64(e.TargetID), int64(e.State), int64(e.Since), bit(e.Accepted)}
		}),
		tx.assign([]string{"state", "since", "accepted"}))
}

// PutFollower writes the same edges from the side of those followed. Sorted by
// (TargetID, UserID).
func (tx *Tx) PutFollower(ctx context.Context, edges []social.Edge) error {
	return tx.upsert(ctx, "write follower", "follower", "user_id, follower_id", "state, since",
		rows(edges, func(e social.Edge) []int64 {
			return []int64{int64(e.TargetID), int64(e.UserID), int64(e.State), int64(e.Since)}
		}),
		"state = "+tx.dialect.excluded("state")+", since = "+tx.dialect.excluded("since"))
}

// PutActors writes actors that this transaction has locked.
func (tx *Tx) PutActors(ctx context.Context, actors []*Actor) error {
	columns := []string{"graph_version", "following", "pending", "blocking", "muting", "like_version"}
	return tx.upsert(ctx, "write actors", "actor", "user_id", strings.Join(columns, ", "),
		rows(actors, func(a *Actor) []int64 {
			return []int64{int64(a.UserID), a.GraphVersion, a.Following, a.Pending, a.Blocking, a.Muting, a.LikeVersion}
		}), tx.assign(columns))
}

// assign sets columns to their new values in an upsert.
func (tx *Tx) assign(columns []string) string {
	sets := make([]string, len(columns))
	for i, c := range columns {
		sets[i] = c + " = " + tx.dialect.excluded(c)
	}
	return strings.Join(sets, ", ")
}

// CountChange is by how much the counts of a person move.
type CountChange struct {
	UserID                     social.ID
	Followers, Blogs, Requests int64
}

// AddCounts moves counts. Sorted by UserID, each person once.
func (tx *Tx) AddCounts(ctx context.Context, changes []CountChange) error {
	ex := tx.dialect.excluded
	return tx.upsert(ctx, "move counts", "user_count", "user_id", "followers, blogs, requests, version",
		rows(changes, func(c CountChange) []int64 { return []int64{int64(c.UserID), c.Followers, c.Blogs, c.Requests, 1} }),
		"followers = user_count.followers + "+ex("followers")+
			", blogs = user_count.blogs + "+ex("blogs")+
			", requests = user_count.requests + "+ex("requests")+", version = user_count.version + 1")
}

// upsert writes rows and, where the key is there already, applies set to the old row.
// Unlike an UPDATE with a CASE over all keys it is linear in the rows.
func (tx *Tx) upsert(ctx context.Context, doing, table, key, columns, values, set string) error {
	if values == "" {
		return nil
	}
	return tx.exec(ctx, doing,
		"INSERT INTO "+table+" ("+key+", "+columns+") VALUES "+values+" "+tx.dialect.onConflict(key)+set)
}
