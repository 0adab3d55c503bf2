package db

import (
	"context"

	"github.com/jmoiron/sqlx"

	"kith/social"
)

// MaxCounted is as far as [queries.CountHandles] counts.
const MaxCounted = 10_000

// withHandle is the people from a handle on and below another. No LIKE: _ is a letter of
// handles and a wildcard there.
const withHandle = ` FROM user WHERE handle >= ? AND handle < ?`

// UsersByHandle reads id and handle of people whose handle begins so, by handle, strictly
// after one ("" for the head), up to limit. Reads the index user_handle by range.
func (q *queries) UsersByHandle(ctx context.Context, prefix, after string, limit int) ([]*social.User, error) {
	from := prefix
	if after != "" {
		from = after + lowest // nothing lies between the two
	}
	var users []*social.User
	err := q.all(ctx, "search users by handle", &users,
		`SELECT id, handle`+withHandle+` ORDER BY handle LIMIT ?`, from, past(prefix), limit)
	return users, err
}

// CountHandles is how many people have a handle that begins so, at most MaxCounted. Reads
// the index user_handle by range.
func (q *queries) CountHandles(ctx context.Context, prefix string) (int64, error) {
	var n int64
	err := q.get(ctx, "count users by handle", &n,
		`SELECT COUNT(*) FROM (SELECT 1`+withHandle+` LIMIT ?) AS counted`, prefix, past(prefix), MaxCounted)
	return n, err
}

// IDsByHandle reads who has these handles; a handle that is missing is nobody's. At most 900;
// reads the index user_handle.
func (q *queries) IDsByHandle(ctx context.Context, handles []string) (map[string]social.ID, error) {
	query, args, err := sqlx.In(`SELECT id, handle FROM user WHERE handle IN (?)`, handles)
	if err != nil {
		return nil, q.wrap("find users by handle", err)
	}
	var users []*social.User
	err = q.all(ctx, "find users by handle", &users, query, args...)
	ids := make(map[string]social.ID, len(users))
	for _, u := range users {
		ids[u.Handle] = u.ID
	}
	return ids, err
}

// lowest is the first letter of handles in the order of the index, which is that of bytes.
const lowest = "0"

// past is above all that begins so, and nothing that does not lies between: its last letter
// raised by one, whatever that is.
func past(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(prefix[last]+1)
}
