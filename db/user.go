package db

import (
	"context"

	"kith/social"
)

const userColumns = "id, handle, name, bio, avatar_url, is_private, status"

// UsersByID reads those of these ids who are people that are active, in no order: whoever
// is suspended or deleted is as if not there. At most 900 ids; reads the primary key.
func (q *queries) UsersByID(ctx context.Context, ids []social.ID) ([]*social.User, error) {
	var users []*social.User
	err := q.all(ctx, "read users", &users,
		`SELECT `+userColumns+` FROM user WHERE id IN (`+list(ids)+`) AND status = ?`, social.Active)
	return users, err
}

// ExistingUsers is which of these ids are people that are active, in no order. At most 900
// ids; reads the primary key.
func (q *queries) ExistingUsers(ctx context.Context, ids []social.ID) ([]social.ID, error) {
	var found []social.ID
	err := q.all(ctx, "check that users exist", &found,
		`SELECT id FROM user WHERE id IN (`+list(ids)+`) AND status = ?`, social.Active)
	return found, err
}

// Credentials are what signs a person in, and what ends that.
type Credentials struct {
	Hash string `db:"password_hash"` // empty for who is deleted
	// Version is that of the tokens that are good: older ones have ended.
	Version int64 `db:"token_version"`
}

// UserByHandle reads a person by stored handle, whatever their status; NOT_FOUND when
// nobody has it. Reads the index user_handle.
func (q *queries) UserByHandle(ctx context.Context, handle string) (*social.User, Credentials, error) {
	return q.credentials(ctx, "read user by handle", `handle = ?`, handle)
}

// UserWithCredentials reads a person, whatever their status; NOT_FOUND where there is none.
// Reads the primary key.
func (q *queries) UserWithCredentials(ctx context.Context, id social.ID) (*social.User, Credentials, error) {
	return q.credentials(ctx, "read user", `id = ?`, id)
}

// LockCredentials reads a person, whatever their status, and locks the row until the end
// of the transaction; NOT_FOUND where there is none.
func (tx *Tx) LockCredentials(ctx context.Context, id social.ID) (*social.User, Credentials, error) {
	return tx.credentials(ctx, "lock user", `id = ?`+tx.dialect.forUpdate, id)
}

func (q *queries) credentials(ctx context.Context, doing, where string, arg any) (*social.User, Credentials, error) {
	var row struct {
		social.User
		Credentials
	}
	err := q.get(ctx, doing, &row,
		`SELECT `+userColumns+`, password_hash, token_version FROM user WHERE `+where, arg)
	return &row.User, row.Credentials, err
}

// InsertUser writes a person with their actor and counts; a handle that is taken is a
// CONFLICT.
func (tx *Tx) InsertUser(ctx context.Context, u *social.User, hash string) error {
	err := tx.exec(ctx, "insert user",
		`INSERT INTO user (id, handle, name, bio, avatar_url, is_private, status, password_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		u.ID, u.Handle, u.Name, u.Bio, u.AvatarURL, u.IsPrivate, u.Status, hash)
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

// UpdateProfile sets name, bio and avatar of the person, and whether they are private.
func (tx *Tx) UpdateProfile(ctx context.Context, u *social.User) error {
	return tx.exec(ctx, "update profile", `UPDATE user SET name = ?, bio = ?, avatar_url = ?, is_private = ? WHERE id = ?`,
		u.Name, u.Bio, u.AvatarURL, u.IsPrivate, u.ID)
}

// UpdateCredentials sets the password of the person and the version of their tokens.
func (tx *Tx) UpdateCredentials(ctx context.Context, id social.ID, c Credentials) error {
	return tx.exec(ctx, "update credentials",
		`UPDATE user SET password_hash = ?, token_version = ? WHERE id = ?`, c.Hash, c.Version, id)
}

// UpdateStatus sets the status of the person, and notes by the store's clock that their
// edges are to be made to match it.
func (tx *Tx) UpdateStatus(ctx context.Context, id social.ID, status social.UserStatus) error {
	if err := tx.exec(ctx, "update status", `UPDATE user SET status = ? WHERE id = ?`, status, id); err != nil {
		return err
	}
	return tx.exec(ctx, "note whom to settle", `
		INSERT INTO settling (user_id, since) VALUES (?, `+tx.dialect.nowMS+`) `+
		tx.dialect.onConflict("user_id")+`since = `+tx.dialect.excluded("since"), id)
}

// LockUser reads a person, whatever their status, and locks the row until the end of the
// transaction; NOT_FOUND where there is none.
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
