package db

import (
	"context"
	"encoding/binary"
	"fmt"

	"kith/social"
)

// HotList is the list of hot blogs as it was at a time, hottest first. Read as the newest, it
// comes with what the store's clock is now.
type HotList struct {
	At    social.Millis
	Blogs []social.ID
	Now   social.Millis
}

type hotRow struct {
	At    social.Millis `db:"at"`
	Blogs []byte        `db:"blogs"`
	Now   social.Millis `db:"now"`
}

func (r hotRow) list() (HotList, error) {
	l := HotList{At: r.At, Now: r.Now, Blogs: make([]social.ID, 0, len(r.Blogs)/8)}
	if len(r.Blogs)%8 != 0 {
		return l, fmt.Errorf("read hot list %d: %d bytes", r.At, len(r.Blogs))
	}
	for b := r.Blogs; len(b) > 0; b = b[8:] {
		l.Blogs = append(l.Blogs, social.ID(binary.BigEndian.Uint64(b)))
	}
	return l, nil
}

// NewestHotList reads the newest one that was kept; the zero At where none is. Reads the
// primary key.
func (q *queries) NewestHotList(ctx context.Context) (HotList, error) {
	var r hotRow
	err := q.get(ctx, "read the newest hot list", &r, `
		SELECT COALESCE(at, 0) AS at, COALESCE(blogs, '') AS blogs, `+q.dialect.nowMS+` AS now
		FROM (SELECT 1 AS one) AS one LEFT JOIN hot_list ON at = (SELECT MAX(at) FROM hot_list)`)
	if err != nil {
		return HotList{}, err
	}
	return r.list()
}

// HotListAt reads the one of a time; NOT_FOUND where it is not kept. Reads the primary key.
func (q *queries) HotListAt(ctx context.Context, at social.Millis) (HotList, error) {
	var r hotRow
	if err := q.get(ctx, "read a hot list", &r, `SELECT at, blogs, 0 AS now FROM hot_list WHERE at = ?`, at); err != nil {
		return HotList{}, err
	}
	return r.list()
}

// PutHotList keeps a list, unless one of this time is kept already, and drops those from
// before a time.
func (tx *Tx) PutHotList(ctx context.Context, l HotList, before social.Millis) error {
	var blogs []byte
	for _, id := range l.Blogs {
		blogs = binary.BigEndian.AppendUint64(blogs, uint64(id))
	}
	if err := tx.exec(ctx, "drop old hot lists", `DELETE FROM hot_list WHERE at < ?`, before); err != nil {
		return err
	}
	return tx.exec(ctx, "keep a hot list", `INSERT INTO hot_list (at, blogs) VALUES (?, ?) `+
		tx.dialect.onConflict("at")+`at = hot_list.at`, l.At, append([]byte{}, blogs...))
}

// hotSpare is how many blogs are looked at for each that a hot list is to have: the others
// may be deleted, or of people who are private or gone.
const hotSpare = 5

// HottestBlogs reads the blogs that are the hottest, hottest first, of those that everybody
// may see. Reads the index blog_heat, and the primary keys of what it finds.
func (q *queries) HottestBlogs(ctx context.Context, limit int) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read hottest blogs", &ids, fmt.Sprintf(`
		SELECT h.blog_id FROM (SELECT blog_id, heat FROM blog_count %s WHERE heat IS NOT NULL ORDER BY heat DESC LIMIT %d) AS h
		JOIN blog b ON b.id = h.blog_id JOIN user u ON u.id = b.author_id
		WHERE b.status = %d AND u.status = %d AND u.is_private = 0
		ORDER BY h.heat DESC, h.blog_id DESC LIMIT %d`,
		q.dialect.index("blog_heat"), hotSpare*limit, blogPublished, social.Active, limit))
	return ids, err
}

// Unheated reads which of these blogs are liked and have no heat: that of their likes was too
// small a part of what has ended, see [Heat]. At most 900 ids; reads the primary key.
func (q *queries) Unheated(ctx context.Context, blogs []social.ID) ([]social.ID, error) {
	var ids []social.ID
	err := q.all(ctx, "read blogs without heat", &ids,
		`SELECT blog_id FROM blog_count WHERE blog_id IN (`+list(blogs)+`) AND likes > 0 AND heat IS NULL ORDER BY blog_id`)
	return ids, err
}
