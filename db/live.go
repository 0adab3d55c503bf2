package db

import (
	"context"
	"fmt"

	"kith/social"
)

// Shown is which of these edges are such that the owner's feed has the target's blogs: the
// owner follows, also where one of the two is suspended, and does not mute. At most 900
// pairs; reads two primary keys.
func (q *queries) Shown(ctx context.Context, pairs []social.Pair) (map[social.Pair]bool, error) {
	var rows []struct {
		UserID   social.ID `db:"user_id"`
		TargetID social.ID `db:"target_id"`
	}
	shown := make(map[social.Pair]bool, len(pairs))
	if len(pairs) == 0 {
		return shown, nil // no list at all would be no SQL
	}
	err := q.all(ctx, "read whose blogs are shown", &rows, fmt.Sprintf(`
		SELECT f.user_id, f.target_id FROM following f
		LEFT JOIN mute m ON m.user_id = f.user_id AND m.target_id = f.target_id
		WHERE (f.user_id, f.target_id) IN (%s) AND f.state IN (%d, %d) AND m.user_id IS NULL`,
		q.dialect.pairs(pairRows(pairs)), social.Following, social.Hidden))
	for _, r := range rows {
		shown[social.Pair{UserID: r.UserID, TargetID: r.TargetID}] = true
	}
	return shown, err
}

// OldestWaiting is when the oldest event was written that the consumer has not passed, by
// the store's clock; 0 where none waits. One statement, and so one moment. Reads primary
// keys, a row for each lane.
func (q *queries) OldestWaiting(ctx context.Context, consumer string) (social.Millis, error) {
	var at social.Millis
	err := q.get(ctx, "read the oldest event that waits", &at, `
		SELECT COALESCE(MIN(o.created_at), 0) FROM lane l
		LEFT JOIN consumed c ON c.consumer = ? AND c.lane = l.lane
		JOIN outbox o ON o.lane = l.lane AND o.seq = COALESCE(c.position, 0) + 1`, consumer)
	return at, err
}
