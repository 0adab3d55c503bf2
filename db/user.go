package db

import (
	"context"

	"kith/social"
)

const userColumns = "id, handle, name, bio, avatar_url"

// UsersByID reads the people that exist of these ids, in no order. At most 900 ids; reads
// the primary key.
func (q *queries) UsersByID(ctx context.Context, ids []social.ID) ([]*social.User, error) {
	var users []*social.User
	err := q.all(ctx, "read users", &users, `SELECT `+userColumns+` FROM user WHERE id IN (`+list(ids)+`)`)
	return users, err
}

// ExistingUsers is which of these ids are people, in no order. At most 900 ids.
func (q *queries) ExistingUsers(ctx context.Context, ids []social.ID) ([]social.ID, error) {
	var found []social.ID
	err := q.all(ctx, "check that users exist", &found, `SELECT id FROM user WHERE id IN (`+list(ids)+`)`)
	return found, err
}

// UserByHandle reads a person by stored handle, with the hash of the password; NOT_FOUND
// when nobody has it.
func (q *queries) UserByHandle(ctx context.Context, handle string) (*social.User, string, error) {
	var row struct {
		social.User
		Hash string `db:"password_hash"`
	}
	err := q.get(ctx, "read user by handle", &row,
		`SELECT `+userColumns+`, password_hash FROM user WHERE handle = ?`, handle)
	return &row.User, row.Hash, err
}

// InsertUser writes a person with their actor and counts; a handle that is taken is a
// CONFLICT.
func (tx *Tx) InsertUser(ctx context.Context, u *social.User, hash string) error {
	err := tx.exec(ctx, "insert user",
		`INSERT INTO user (id, handle, name, bio, avatar_url, password_hash) VALUES (?, ?, ?, ?, ?, ?)`,
		u.ID, u.Handle, u.Name, u.Bio, u.AvatarURL, hash)
	if classify(err) == duplicate {
		return &social.Error{Code: social.Conflict, Field: "handle", Message: "this handle is taken", Cause: err}
	}
	if err != nil {
		return err
	}
	if err := tx.exec(ctx, "insert actor",
		`INSERT INTO actor (user_id, graph_version, following) VALUES (?, 0, 0)`, u.ID); err != nil {
		return err
	}
	return tx.exec(ctx, "insert counts",
		`INSERT INTO user_count (user_id, followers, blogs, version) VALUES (?, 0, 0, 0)`, u.ID)
}

// UpdateProfile sets name, bio and avatar of the person.
func (tx *Tx) UpdateProfile(ctx context.Context, u *social.User) error {
	return tx.exec(ctx, "update profile",
		`UPDATE user SET name = ?, bio = ?, avatar_url = ? WHERE id = ?`, u.Name, u.Bio, u.AvatarURL, u.ID)
}

// LockUser reads a person and locks the row until the end of the transaction; NOT_FOUND
// where there is none.
func (tx *Tx) LockUser(ctx context.Context, id social.ID) (*social.User, error) {
	u := &social.User{}
	err := tx.get(ctx, "lock user", u, `SELECT `+userColumns+` FROM user WHERE id = ?`+tx.dialect.forUpdate, id)
	return u, err
}

// CountsByID reads the sizes of the lists of these people. At most 900 ids; reads two
// primary keys.
func (q *queries) CountsByID(ctx context.Context, ids []social.ID) (map[social.ID]social.Counts, error) {
	var rows []struct {
		UserID    social.ID `db:"user_id"`
		Followers int64     `db:"followers"`
		Blogs     int64     `db:"blogs"`
		Following int64     `db:"following"`
	}
	err := q.all(ctx, "read counts", &rows, `
		SELECT c.user_id, c.followers, c.blogs, a.following
		FROM user_count c JOIN actor a ON a.user_id = c.user_id
		WHERE c.user_id IN (`+list(ids)+`)`)
	counts := make(map[social.ID]social.Counts, len(rows))
	for _, r := range rows {
		counts[r.UserID] = social.Counts{Followers: r.Followers, Following: r.Following, Blogs: r.Blogs}
	}
	return counts, err
}
