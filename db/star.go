package db

import (
	"context"
	"time"

	"kith/social"
)

// Standing is how many people follow an author, and since when that has made a star of them.
type Standing struct {
	UserID    social.ID      `db:"user_id"`
	Followers int64          `db:"followers"`
	StarSince *social.Millis `db:"star_since"` // by the store's clock; nil for who is none
	ReadAt    social.Millis  `db:"read_at"`    // by the same clock
}

// StarFor tells for how long somebody has been a star; false for who is none.
func (s Standing) StarFor() (time.Duration, bool) {
	if s.StarSince == nil {
		return 0, false
	}
	return time.Duration(s.ReadAt-*s.StarSince) * time.Millisecond, true
}

// Standings reads those of these people who exist. At most 900 ids; reads two primary keys.
func (q *queries) Standings(ctx context.Context, ids []social.ID) (map[social.ID]Standing, error) {
	var rows []Standing
	err := q.all(ctx, "read standings", &rows, `
		SELECT c.user_id, c.followers, u.star_since, `+q.dialect.nowMS+` AS read_at
		FROM user_count c JOIN user u ON u.id = c.user_id
		WHERE c.user_id IN (`+list(ids)+`)`)
	standings := make(map[social.ID]Standing, len(rows))
	for _, r := range rows {
		standings[r.UserID] = r
	}
	return standings, err
}

// Stars reads who is a star, in no order. Reads the index user_star.
func (q *queries) Stars(ctx context.Context) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read stars", &ids,
		`SELECT id FROM user `+q.dialect.index("user_star")+` WHERE star_since IS NOT NULL`)
	return ids, err
}

// MakeStar makes a star of somebody, for good; since when, the first time stands.
func (tx *Tx) MakeStar(ctx context.Context, id social.ID) error {
	return tx.exec(ctx, "make a star",
		`UPDATE user SET star_since = `+tx.dialect.nowMS+` WHERE id = ? AND star_since IS NULL`, id)
}
