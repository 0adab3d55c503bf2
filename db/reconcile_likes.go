package db

import (
	"context"
	"fmt"

	"kith/social"
)

// LikeTally is how many like a blog, and how hot that makes it.
type LikeTally struct {
	Likes int64
	Heat  Heat
}

// CountedLikes are the likes of a blog as they are stored, none where the row is missing, and
// as its rows are.
type CountedLikes struct {
	BlogID   social.ID
	HasCount bool
	Stored   LikeTally
	Rows     LikeTally
	// Most is the heat that the blog would have of all that ever liked it: see [Heat.Near].
	Most Heat
}

// CountLikers counts who likes these blogs, and reads what is stored of it: of one moment, as
// in CountRows. Of what was never liked there is nothing. At most 900 ids; reads the primary
// key, and of the blogs every row of the likers twice.
func (q *queries) CountLikers(ctx context.Context, blogs []social.ID) ([]CountedLikes, error) {
	const stored = 0
	var rows []struct {
		Part   int       `db:"part"`
		BlogID social.ID `db:"blog_id"`
		Likes  int64     `db:"likes"`
		Heat   *float64  `db:"heat"`
		Most   *float64  `db:"most"`
	}
	// Relative to the newest, since the sum itself is beyond every number.
	heat := func(sum, newest string) string {
		return fmt.Sprintf(`MAX(n.%s) / %de0 + LOG2(SUM(%s))`, newest, int64(halfLife), sum)
	}
	warmth := fmt.Sprintf(`POW(2, (l.since - n.%%s) / %de0)`, int64(halfLife))
	err := q.all(ctx, "count likers", &rows, fmt.Sprintf(`
		SELECT %d AS part, blog_id, likes, heat, NULL AS most FROM blog_count WHERE blog_id IN (%[2]s)
		UNION ALL
		SELECT 1, l.blog_id, COUNT(CASE WHEN l.state = %[3]d THEN 1 END), %[4]s, %[5]s
		FROM (SELECT blog_id, MAX(since) AS newest, MAX(CASE WHEN state = %[3]d THEN since END) AS newest_liked
			FROM blog_liker WHERE blog_id IN (%[2]s) GROUP BY blog_id) AS n
		JOIN blog_liker l ON l.blog_id = n.blog_id
		GROUP BY l.blog_id`, stored, list(blogs), social.Liked,
		heat(fmt.Sprintf("CASE WHEN l.state = %d THEN "+fmt.Sprintf(warmth, "newest_liked")+" END", social.Liked), "newest_liked"),
		heat(fmt.Sprintf(warmth, "newest"), "newest")))
	found := make(map[social.ID]CountedLikes, len(rows))
	for _, r := range rows {
		c, ok := found[r.BlogID]
		if !ok {
			c = CountedLikes{BlogID: r.BlogID, Stored: LikeTally{Heat: NoHeat}, Rows: LikeTally{Heat: NoHeat}, Most: NoHeat}
		}
		tally := LikeTally{Likes: r.Likes, Heat: heatOf(r.Heat)}
		if r.Part == stored {
			c.HasCount, c.Stored = true, tally
		} else {
			c.Rows, c.Most = tally, heatOf(r.Most)
		}
		found[r.BlogID] = c
	}
	counted := make([]CountedLikes, 0, len(found))
	for _, b := range blogs {
		if c, ok := found[b]; ok {
			counted = append(counted, c)
		}
	}
	return counted, err
}

func heatOf(stored *float64) Heat {
	if stored == nil {
		return NoHeat
	}
	return Heat(*stored)
}

// EnsureLikeCount writes the count of a blog that has none, of this version and no likes, and
// holds its row until the end of the transaction; one that is there stays as it is.
func (tx *Tx) EnsureLikeCount(ctx context.Context, blog social.ID, version int64) error {
	return tx.exec(ctx, "ensure like count", `
		INSERT INTO blog_count (blog_id, likes, version) VALUES (?, 0, ?) `+
		tx.dialect.onConflict("blog_id")+`version = blog_count.version`, blog, version)
}

// EverLikedAfter reads ids of blogs that were ever liked in ascending order from strictly
// after one, also of those of which the count is missing, or the blog. Reads two primary keys.
func (q *queries) EverLikedAfter(ctx context.Context, after social.ID, limit int) ([]social.ID, error) {
	part := func(table string) string {
		return fmt.Sprintf(`SELECT blog_id FROM (SELECT DISTINCT blog_id FROM %s %s WHERE blog_id > %d ORDER BY blog_id LIMIT %d) AS part`,
			table, q.forcePrimary(), after, limit)
	}
	var ids []social.ID
	err := q.all(ctx, "read blogs that were liked", &ids,
		part("blog_count")+` UNION `+part("blog_liker")+fmt.Sprintf(` ORDER BY blog_id LIMIT %d`, limit))
	return ids, err
}

// CountEverLikedAfter is how many EverLikedAfter reads without a limit, but for those of which
// the count is missing.
func (q *queries) CountEverLikedAfter(ctx context.Context, after social.ID) (n int64, err error) {
	err = q.get(ctx, "count blogs that were liked", &n, `SELECT COUNT(*) FROM blog_count WHERE blog_id > ?`, after)
	return n, err
}
