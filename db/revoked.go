package db

import (
	"context"

	"kith/social"
)

// InsertEnded writes that tokens have ended.
func (tx *Tx) InsertEnded(ctx context.Context, e social.EndedTokens) error {
	return tx.exec(ctx, "insert ended tokens",
		`INSERT INTO revoked (user_id, jti, version, until) VALUES (?, ?, ?, ?)`, e.UserID, e.Token, e.Version, e.Until)
}

// TokenEnded tells whether a token of the person, of this name and version, has ended.
// Reads the index revoked_token.
func (q *queries) TokenEnded(ctx context.Context, user social.ID, token string, version int64) (bool, error) {
	var n int
	err := q.get(ctx, "read whether a token has ended", &n, `
		SELECT COUNT(*) FROM revoked
		WHERE user_id = ? AND jti IN (?, '') AND (jti <> '' OR version > ?)`, user, token, version)
	return n > 0, err
}

// EndedAfter reads which tokens have ended, in the order of the rows' ids from strictly
// after the given one, at most limit, and gives the last one's id. Reads the primary key.
func (q *queries) EndedAfter(ctx context.Context, after int64, limit int) (ended []social.EndedTokens, last int64, err error) {
	var rows []struct {
		ID int64 `db:"id"`
		social.EndedTokens
	}
	err = q.all(ctx, "read ended tokens", &rows,
		`SELECT id, user_id, jti, version, until FROM revoked WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	for _, r := range rows {
		ended, last = append(ended, r.EndedTokens), r.ID
	}
	return ended, last, err
}

// TrimEnded drops what nobody need know since before the given time, about a thousand of
// the oldest rows, and says whether there may be more. Reads the index revoked_until.
func (tx *Tx) TrimEnded(ctx context.Context, before social.Millis) (more bool, err error) {
	var untils []social.Millis
	err = tx.all(ctx, "read old ended tokens", &untils,
		`SELECT until FROM revoked WHERE until < ? ORDER BY until LIMIT ?`, before, trimPiece)
	if err != nil || len(untils) == 0 {
		return false, err
	}
	err = tx.exec(ctx, "drop old ended tokens", `DELETE FROM revoked WHERE until <= ?`, untils[len(untils)-1])
	return len(untils) == trimPiece, err
}
