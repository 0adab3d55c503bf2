package db

import (
	"context"

	"kith/social"
)

// PublishKey is what an author's idempotency key stands for.
type PublishKey struct {
	UserID    social.ID     `db:"user_id"`
	Key       string        `db:"idempotency_key"`
	BlogID    social.ID     `db:"blog_id"`
	BodyHash  []byte        `db:"body_hash"`
	CreatedAt social.Millis `db:"created_at"`
}

// PublishKeyOf reads what the key stands for; NOT_FOUND where it was never used or has
// been dropped. Reads the primary key.
func (q *queries) PublishKeyOf(ctx context.Context, user social.ID, key string) (*PublishKey, error) {
	k := &PublishKey{}
	err := q.get(ctx, "read publish key", k, `
		SELECT user_id, idempotency_key, blog_id, body_hash, created_at
		FROM publish_key WHERE user_id = ? AND idempotency_key = ?`, user, []byte(key))
	return k, err
}

// PutPublishKey makes a key stand for a blog, whatever it stood for before.
func (tx *Tx) PutPublishKey(ctx context.Context, k *PublishKey) error {
	ex := tx.dialect.excluded
	return tx.exec(ctx, "write publish key", `
		INSERT INTO publish_key (user_id, idempotency_key, blog_id, body_hash, created_at) VALUES (?, ?, ?, ?, ?) `+
		tx.dialect.onConflict("user_id, idempotency_key")+
		`blog_id = `+ex("blog_id")+`, body_hash = `+ex("body_hash")+`, created_at = `+ex("created_at"),
		k.UserID, []byte(k.Key), k.BlogID, k.BodyHash, k.CreatedAt)
}

// TrimPublishKeys drops the oldest keys that were made before the given time, about a
// thousand, and says whether there may be more. Reads the index publish_key_age.
func (tx *Tx) TrimPublishKeys(ctx context.Context, before social.Millis) (more bool, err error) {
	var ages []social.Millis
	err = tx.all(ctx, "read old publish keys", &ages,
		`SELECT created_at FROM publish_key WHERE created_at < ? ORDER BY created_at LIMIT ?`, before, trimPiece)
	if err != nil || len(ages) == 0 {
		return false, err
	}
	// By age alone: a key that was used anew since has another.
	err = tx.exec(ctx, "drop old publish keys", `DELETE FROM publish_key WHERE created_at <= ?`, ages[len(ages)-1])
	return len(ages) == trimPiece, err
}
