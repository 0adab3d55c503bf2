package db

import (
	"context"

	"kith/social"
)

// Walls are what may stand between the two people of an edge.
type Walls struct {
	Blocks  map[social.Pair]bool // who blocks whom
	Mutes   map[social.Pair]bool // who mutes whom
	Private map[social.ID]bool   // targets who approve their followers
}

// WallsOf reads the blocks of these edges in both directions, the mutes of their owners, and
// which targets are private. At most 900 pairs; reads primary keys.
func (q *queries) WallsOf(ctx context.Context, pairs []social.Pair) (Walls, error) {
	w := Walls{Blocks: map[social.Pair]bool{}, Mutes: map[social.Pair]bool{}, Private: map[social.ID]bool{}}
	if len(pairs) == 0 {
		return w, nil // no list at all would be no SQL
	}
	const block, mute, private = 0, 1, 2
	both := make([]social.Pair, 0, 2*len(pairs))
	targets := make([]social.ID, 0, len(pairs))
	for _, p := range pairs {
		both, targets = append(both, p, p.Reversed()), append(targets, p.TargetID)
	}
	var rows []struct {
		Part     int       `db:"part"`
		UserID   social.ID `db:"user_id"`
		TargetID social.ID `db:"target_id"`
	}
	err := q.all(ctx, "read walls", &rows, `
		SELECT 0 AS part, user_id, target_id FROM block WHERE (user_id, target_id) IN (`+q.dialect.pairs(pairRows(both))+`)
		UNION ALL
		SELECT 1, user_id, target_id FROM mute WHERE (user_id, target_id) IN (`+q.dialect.pairs(pairRows(pairs))+`)
		UNION ALL
		SELECT 2, 0, id FROM user WHERE id IN (`+list(targets)+`) AND is_private = 1`)
	for _, r := range rows {
		pair := social.Pair{UserID: r.UserID, TargetID: r.TargetID}
		switch r.Part {
		case block:
			w.Blocks[pair] = true
		case mute:
			w.Mutes[pair] = true
		case private:
			w.Private[r.TargetID] = true
		}
	}
	return w, err
}

// PutBlock writes that a person blocks another; under the lock of the person's actor.
func (tx *Tx) PutBlock(ctx context.Context, p social.Pair, since social.Millis) error {
	return tx.exec(ctx, "insert block", `INSERT INTO block (user_id, target_id, since) VALUES (?, ?, ?)`, p.UserID, p.TargetID, since)
}

// DeleteBlock removes it.
func (tx *Tx) DeleteBlock(ctx context.Context, p social.Pair) error {
	return tx.exec(ctx, "delete block", `DELETE FROM block WHERE user_id = ? AND target_id = ?`, p.UserID, p.TargetID)
}

// PutMute writes that a person mutes another; under the lock of the person's actor.
func (tx *Tx) PutMute(ctx context.Context, p social.Pair, since social.Millis) error {
	return tx.exec(ctx, "insert mute", `INSERT INTO mute (user_id, target_id, since) VALUES (?, ?, ?)`, p.UserID, p.TargetID, since)
}

// DeleteMute removes it.
func (tx *Tx) DeleteMute(ctx context.Context, p social.Pair) error {
	return tx.exec(ctx, "delete mute", `DELETE FROM mute WHERE user_id = ? AND target_id = ?`, p.UserID, p.TargetID)
}

// OwnCounts are the sizes of the lists that only their owner sees.
type OwnCounts struct {
	Requests int64 `db:"requests"`
	Blocking int64 `db:"blocking"`
	Muting   int64 `db:"muting"`
}

// OwnCountsOf reads them; NOT_FOUND where there is no such person. Reads two primary keys.
func (q *queries) OwnCountsOf(ctx context.Context, id social.ID) (n OwnCounts, err error) {
	err = q.get(ctx, "read own counts", &n, `
		SELECT c.requests, a.blocking, a.muting FROM user_count c JOIN actor a ON a.user_id = c.user_id WHERE c.user_id = ?`, id)
	return n, err
}
