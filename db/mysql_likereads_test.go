package db_test

import (
	"context"
	"fmt"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// Person 1 likes 20,000 blogs from 100,001 on, and as many people from 100,001 on like blog
// 1: of the first 5,000 each in a millisecond of its own, the others all in one.
const (
	likeRows   = 20_000
	likeTies   = 15_000 // the latest
	likeFrom   = 100_000
	likeMoment = 1_700_000_000_000
)

// writeManyLikes writes them, those who are 3 and 2 with as many that are hidden or have ended, and
// heat for all of the blogs.
func writeManyLikes(t testing.TB, s *socialtest.Store) {
	t.Helper()
	people(t, s.DB, 1, 2)
	since := fmt.Sprintf("%d + LEAST(seq, %d)", likeMoment, likeRows-likeTies)
	for _, table := range []string{"blog_like (user_id, blog_id", "blog_liker (blog_id, user_id"} {
		s.Exec(t, fmt.Sprintf(`INSERT INTO %s, state, since) SELECT 1, %d + seq, %d, %s FROM seq_1_to_%d`, table, likeFrom, social.Liked, since, likeRows))
		s.Exec(t, fmt.Sprintf(`INSERT INTO %s, state, since) SELECT 1, %d + seq, seq %% 2 * 2, %d FROM seq_1_to_%[4]d`,
			table, 2*likeFrom, likeMoment*2, likeRows/2))
	}
	s.Exec(t, fmt.Sprintf(`INSERT INTO blog_count (blog_id, likes, version, heat) SELECT %d + seq, 1, 1, IF(seq > %d, 80000 + seq DIV 4, NULL) FROM seq_1_to_%d`,
		likeFrom, likeRows/2, likeRows))
	s.Exec(t, fmt.Sprintf(`INSERT INTO blog (id, author_id, status, title, content, image_urls)
		SELECT %d + seq, 1, 0, 't', 'c', '[]' FROM seq_1_to_%d`, likeFrom, likeRows))
	s.Exec(t, "ANALYZE TABLE blog_like, blog_liker, blog_count, blog, user, actor")
}

// Among ties and hidden ones, at the head and far behind it, a reading of likes touches what
// it gives, and no more.
func TestReadingsOfLikesReadNoMoreThanThemselves(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		writeManyLikes(t, s)
		const size = 20
		reads := func(what string, most int, read func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			if n := rowsRead(t, s.DB, read); n > most {
				t.Errorf("%s read %d rows, want at most %d", what, n, most)
			}
		}
		for _, first := range []social.ID{likeRows, likeRows - 50, likeRows - likeTies + 100, likeRows - likeTies + 5, 2000} { // seq of the first
			p := social.Page{Limit: size}
			if first < likeRows {
				p.From = social.Cursor{MinTime: likeMoment + social.Millis(min(first+1, likeRows-likeTies)), ID: likeFrom + first + 1}
			}
			for name, list := range map[string]func(tx *db.Tx) func(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error){
				"likers": func(tx *db.Tx) func(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error) {
					return tx.Likers
				},
				"liked blogs": func(tx *db.Tx) func(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error) {
					return tx.LikedBlogs
				},
			} {
				reads(fmt.Sprint(name, " from ", first), size+5, func(ctx context.Context, tx *db.Tx) error {
					peers, err := page(ctx, list(tx), 1, p)
					equal(t, name, fmt.Sprint(len(peers), peers[0].ID), fmt.Sprint(size+1, likeFrom+first))
					return err
				})
			}
		}
		for _, limit := range []int{1, 1000} {
			reads(fmt.Sprint("the newest ", limit), 2*limit+8, func(ctx context.Context, tx *db.Tx) error { // from the index, and from what it gives
				_, newest, err := tx.NewestLikes(ctx, 1, limit)
				equal(t, "newest", fmt.Sprint(len(newest), newest[0].ID), fmt.Sprint(limit, likeFrom+likeRows))
				return err
			})
			reads(fmt.Sprint("the hottest ", limit), (4*5+2)*limit+10, func(ctx context.Context, tx *db.Tx) error { // of five for each, two and the blog and its author
				hot, err := tx.HottestBlogs(ctx, limit)
				equal(t, "hottest", fmt.Sprint(len(hot), hot[0]), fmt.Sprint(limit, likeFrom+likeRows))
				return err
			})
		}
		var blogs []social.ID
		var pairs []social.Pair
		for b := range social.ID(db.MaxIn) {
			blogs = append(blogs, likeFrom+20*b)
			pairs = append(pairs, social.Pair{UserID: 1, TargetID: likeFrom + 20*b})
		}
		reads("those liked among 900", 2*db.MaxIn, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.LikedAmong(ctx, 1, blogs)
			equal(t, "liked", len(found), db.MaxIn-1)
			return err
		})
		reads("counts of 900", 2*db.MaxIn, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.LikeCounts(ctx, blogs)
			equal(t, "counts", len(found), db.MaxIn-1)
			return err
		})
		reads("900 likes", 4*db.MaxIn, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.LikesOf(ctx, pairs)
			equal(t, "likes", len(found), db.MaxIn-1)
			return err
		})
		reads("some to settle", 2*100+5, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.LikesToSettle(ctx, 1, social.Suspended, 100)
			equal(t, "to settle", len(found), 100)
			return err
		})
	})
}
