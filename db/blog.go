package db

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"kith/social"
)

// The states of a blog. Numbers are stored.
const (
	blogPublished = 0
	blogDeleted   = 1
)

// blogRow is a blog as it is stored.
type blogRow struct {
	ID        social.ID `db:"id"`
	AuthorID  social.ID `db:"author_id"`
	Title     string    `db:"title"`
	Content   string    `db:"content"`
	ImageURLs string    `db:"image_urls"`
	Status    int8      `db:"status"`
	Listing   int       `db:"listing"` // 0 where one list is read
}

const blogColumns = "id, author_id, title, content, image_urls, status"

func (r blogRow) blog() (*social.Blog, error) {
	b := &social.Blog{ID: r.ID, AuthorID: r.AuthorID, Title: r.Title, Content: r.Content}
	if err := json.Unmarshal([]byte(r.ImageURLs), &b.ImageURLs); err != nil {
		return nil, fmt.Errorf("read image addresses of blog %d: %w", r.ID, err)
	}
	return b, nil
}

// BlogsByID reads the published blogs of these ids, in no order. At most 900 ids; reads
// the primary key.
func (q *queries) BlogsByID(ctx context.Context, ids []social.ID) ([]*social.Blog, error) {
	blogs, err := q.blogs(ctx, "read blogs",
		`SELECT `+blogColumns+` FROM blog WHERE id IN (`+list(ids)+`) AND status = ?`, blogPublished)
	return blogs[0], err
}

// BlogsByAuthor reads, for each listing, published blogs of its owner, newest first, up to
// one more than the page has, from strictly after its cursor. Reads the index blog_author,
// which MariaDB would enter at the author, and read all that is above the cursor.
func (q *queries) BlogsByAuthor(ctx context.Context, ls []social.Listing) (map[social.Listing][]*social.Blog, error) {
	found := make(map[social.Listing][]*social.Blog, len(ls))
	blogs, err := q.blogs(ctx, "read blogs of authors", union(len(ls), func(i int) string {
		l, below := ls[i], social.ID(math.MaxInt64)
		if !l.AtHead() {
			below = l.From.ID
		}
		return fmt.Sprintf(`SELECT %d AS listing, `+blogColumns+` FROM blog %s WHERE author_id = %d AND status = %d AND id < %d
			ORDER BY id DESC LIMIT %d`, i, q.dialect.index("blog_author"), l.Owner, blogPublished, below, l.Limit+1)
	}))
	for i, list := range blogs {
		slices.SortFunc(list, func(a, b *social.Blog) int { return cmp.Compare(b.ID, a.ID) }) // a union has no order
		found[ls[i]] = list
	}
	return found, err
}

// blogs reads blogs by the listing they were read for.
func (q *queries) blogs(ctx context.Context, doing, query string, args ...any) (map[int][]*social.Blog, error) {
	var rows []blogRow
	if err := q.all(ctx, doing, &rows, query, args...); err != nil {
		return nil, err
	}
	blogs := map[int][]*social.Blog{}
	for _, r := range rows {
		b, err := r.blog()
		if err != nil {
			return nil, err
		}
		blogs[r.Listing] = append(blogs[r.Listing], b)
	}
	return blogs, nil
}

// InsertBlog writes a published blog.
func (tx *Tx) InsertBlog(ctx context.Context, b *social.Blog) error {
	images, err := imageList(b.ImageURLs)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "insert blog",
		`INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES (?, ?, ?, ?, ?, ?)`,
		b.ID, b.AuthorID, blogPublished, b.Title, b.Content, images)
}

// imageList writes addresses as JSON. An & stays one character: six for each would not
// fit nine addresses of the longest kind into the column.
func imageList(urls []string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(append([]string{}, urls...)); err != nil { // none is [], not null
		return "", fmt.Errorf("write image addresses: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

// LockBlog says who wrote a blog and whether it has been deleted, and locks its row until
// the end of the transaction; NOT_FOUND where there never was one.
func (tx *Tx) LockBlog(ctx context.Context, id social.ID) (author social.ID, deleted bool, err error) {
	var r blogRow
	err = tx.get(ctx, "lock blog", &r,
		`SELECT `+blogColumns+` FROM blog WHERE id = ?`+tx.dialect.forUpdate, id)
	return r.AuthorID, r.Status == blogDeleted, err
}

// BlogStatus says who wrote a blog and whether it has been deleted; NOT_FOUND where there
// never was one. Reads the primary key.
func (q *queries) BlogStatus(ctx context.Context, id social.ID) (author social.ID, deleted bool, err error) {
	var r blogRow
	err = q.get(ctx, "read the status of a blog", &r, `SELECT `+blogColumns+` FROM blog WHERE id = ?`, id)
	return r.AuthorID, r.Status == blogDeleted, err
}

// MarkBlogDeleted deletes a blog; its row stays, so that likes of it can be taken back.
func (tx *Tx) MarkBlogDeleted(ctx context.Context, id social.ID) error {
	return tx.exec(ctx, "mark blog deleted", `UPDATE blog SET status = ? WHERE id = ?`, blogDeleted, id)
}

// IDRange bounds ids on both sides, bounds excluded.
type IDRange struct {
	Above, Below social.ID
}

// BlogRefsIn reads published blogs of these authors within the range, in no order, and at
// most limit of them: an answer of limit may lack any. Reads the index blog_author, once
// for each author.
func (q *queries) BlogRefsIn(ctx context.Context, authors []social.ID, r IDRange, limit int) ([]social.BlogRef, error) {
	return q.refs(ctx, "read blogs of a range", q.eachChunk(authors, r, "")+` LIMIT ?`, limit)
}

// BlogRefsNearest reads published blogs of these authors within the range: the limit
// newest, newest first, or with oldest the limit oldest, oldest first. Reads the index
// blog_author over the whole range.
func (q *queries) BlogRefsNearest(ctx context.Context, authors []social.ID, r IDRange, oldest bool, limit int) ([]social.BlogRef, error) {
	order := fmt.Sprintf(" ORDER BY id DESC LIMIT %d", limit)
	if oldest {
		order = fmt.Sprintf(" ORDER BY id LIMIT %d", limit)
	}
	return q.refs(ctx, "read nearest blogs", `SELECT id, author_id FROM (`+q.eachChunk(authors, r, order)+`) AS nearest`+order)
}

func (q *queries) refs(ctx context.Context, doing, query string, args ...any) ([]social.BlogRef, error) {
	var rows []struct {
		ID       social.ID `db:"id"`
		AuthorID social.ID `db:"author_id"`
	}
	err := q.all(ctx, doing, &rows, query, args...)
	refs := make([]social.BlogRef, len(rows))
	for i, r := range rows {
		refs[i] = social.BlogRef(r)
	}
	return refs, err
}

// eachChunk selects blogs of the range, for every 900 authors apart.
func (q *queries) eachChunk(authors []social.ID, r IDRange, each string) string {
	if len(authors) == 0 {
		authors = []social.ID{0} // nobody: no list at all would be no SQL
	}
	var parts []string
	for chunk := range slices.Chunk(authors, MaxIn) {
		parts = append(parts, fmt.Sprintf(
			`SELECT id, author_id FROM (SELECT id, author_id FROM blog %s WHERE author_id IN (%s) AND status = %d AND id > %d AND id < %d%s) AS chunk`,
			q.dialect.index("blog_author"), list(chunk), blogPublished, r.Above, r.Below, each))
	}
	return strings.Join(parts, " UNION ALL ")
}

// AuthorFrom names an author, and the lowest of their blogs that is asked for.
type AuthorFrom struct {
	AuthorID, From social.ID
}

// newestPiece is how many authors share a statement of NewestBlogs.
const newestPiece = 50

// NewestBlogs reads, for each author, the published blogs at and above an id, the limit
// newest of them, newest first. Each author once. Reads the index blog_author.
func (q *queries) NewestBlogs(ctx context.Context, authors []AuthorFrom, limit int) (map[social.ID][]social.BlogRef, error) {
	found := map[social.ID][]social.BlogRef{}
	for chunk := range slices.Chunk(authors, newestPiece) {
		parts := make([]string, len(chunk))
		for i, a := range chunk {
			parts[i] = fmt.Sprintf(`SELECT * FROM (SELECT id, author_id FROM blog %s WHERE author_id = %d AND status = %d AND id >= %d
				ORDER BY id DESC LIMIT %d) AS part`, q.dialect.index("blog_author"), a.AuthorID, blogPublished, a.From, limit)
		}
		refs, err := q.refs(ctx, "read newest blogs of authors", strings.Join(parts, " UNION ALL "))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(refs, func(a, b social.BlogRef) int { return cmp.Compare(b.ID, a.ID) }) // a union has no order
		for _, r := range refs {
			found[r.AuthorID] = append(found[r.AuthorID], r)
		}
	}
	return found, nil
}
