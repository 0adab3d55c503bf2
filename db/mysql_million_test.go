package db_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// The people of the test below: a star with a million followers, a viewer who follows 5,000
// of these, and others: one who follows the same, one with nothing in common.
const (
	star, viewer, alike, stranger = 1, 2, 3, 4

	crowdSize, followedByViewer = 1_000_000, 5_000
	crowdFrom                   = 10_000 // and then on
)

// crowded writes a million relations, and 100,000 people with handles.
func crowded(t testing.TB, s *socialtest.Store) {
	t.Helper()
	s.Exec(t, fmt.Sprintf(`INSERT INTO follower (user_id, follower_id, state, since)
		SELECT %d, %d + seq, 1, 1700000000000 + seq DIV 3 FROM seq_1_to_%d`, star, crowdFrom, crowdSize))
	for _, who := range []int{viewer, alike} {
		s.Exec(t, fmt.Sprintf(`INSERT INTO following (user_id, target_id, state, since)
			SELECT %d, %d + 200 * seq, 1, 1700000000000 + seq DIV 3 FROM seq_1_to_%d`, who, crowdFrom, followedByViewer))
	}
	s.Exec(t, fmt.Sprintf(`INSERT INTO following (user_id, target_id, state, since)
		SELECT %d, seq, 1, 1700000000000 FROM seq_2000000_to_2005000`, stranger))
	s.Exec(t, fmt.Sprintf(`INSERT INTO follower (user_id, follower_id, state, since)
		SELECT %d, %d + 200 * seq, 2, 1700000000000 + seq DIV 3 FROM seq_1_to_%d`, viewer, crowdFrom, followedByViewer))
	for _, table := range []string{"block", "mute"} {
		s.Exec(t, fmt.Sprintf(`INSERT INTO %s (user_id, target_id, since)
			SELECT %d, %d + 200 * seq, 1700000000000 + seq DIV 3 FROM seq_1_to_%d`, table, viewer, crowdFrom, followedByViewer))
	}
	s.Exec(t, `INSERT INTO user (id, handle, name, bio, password_hash) SELECT seq, CONCAT('a_', LPAD(seq, 7, '0')), 'x', '', '' FROM seq_1_to_100000`)
	s.Exec(t, "ANALYZE TABLE follower, following, block, mute, user")
}

// planned checks what the planner says: each table by the index that its reading names in
// its doc, nothing sorted and nothing gathered first.
func planned(t testing.TB, d *db.DB, what string, read func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	keys := []string{"following_list", "follower_list", "block_list", "mute_list", "user_handle", "PRIMARY"}
	tables := 0
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		tx.Plans(func(statement, key, remarks string) {
			tables++
			counted := key == "" && strings.Contains(statement, "AS counted") // what the count counts
			if !slices.Contains(keys, key) && !counted || strings.Contains(remarks, "filesort") || strings.Contains(remarks, "temporary") {
				t.Errorf("%s reads by key %q, %q: %s", what, key, remarks, statement)
			}
		})
		return read(ctx, tx)
	})
	if tables == 0 {
		t.Errorf("%s: nothing was explained", what)
	}
}

// Among a million relations, a page reads no more rows than it has entries, and one, on its
// first page as on its 500th. A list that the viewer shares looks each entry up once more,
// and reads on past those who are not in it: of 5,000 followed at most all, never of the
// million.
func TestPagesAmongAMillionRelationsReadNoMoreThanThemselves(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const size = 10
		crowded(t, s)
		reads := func(what string, most int, read func(ctx context.Context, tx *db.Tx) error) {
			t.Helper()
			n := rowsRead(t, s.DB, read)
			t.Logf("%s: %d rows", what, n)
			planned(t, s.DB, what, read)
			if n > most {
				t.Errorf("%s read %d rows, want at most %d", what, n, most)
			}
		}
		type list = func(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error)
		relations := map[string]struct {
			owner  social.ID
			rows   int // for an entry
			length int
			every  int // of the list's ids
			read   func(tx *db.Tx) list
		}{
			"followers": {star, 1, crowdSize, 1, func(tx *db.Tx) list { return tx.Followers }},
			"following": {viewer, 1, followedByViewer, 200, func(tx *db.Tx) list { return tx.Following }},
			"requests":  {viewer, 1, followedByViewer, 200, func(tx *db.Tx) list { return tx.Requests }},
			"blocked":   {viewer, 1, followedByViewer, 200, func(tx *db.Tx) list { return tx.Blocked }},
			"muted":     {viewer, 1, followedByViewer, 200, func(tx *db.Tx) list { return tx.Muted }},
			"mutual follows": {alike, 2, followedByViewer, 200, func(tx *db.Tx) list {
				return func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
					return tx.MutualFollows(ctx, viewer, ls)
				}
			}},
			"followers you know": {star, 2, followedByViewer, 200, func(tx *db.Tx) list {
				return func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
					return tx.FollowersYouKnow(ctx, viewer, ls)
				}
			}},
		}
		for name, l := range relations {
			for _, number := range []int{1, 2, 250, 500} {
				p := social.Page{Limit: size}
				first := l.length - (number-1)*size // the seq of the page's first entry
				if number > 1 {
					p.From = social.Cursor{MinTime: social.Millis(1_700_000_000_000 + (first+1)/3), ID: social.ID(crowdFrom + l.every*(first+1))}
				}
				reads(fmt.Sprintf("%s, page %d", name, number), l.rows*(size+1)+3, func(ctx context.Context, tx *db.Tx) error {
					peers, err := page(ctx, l.read(tx), l.owner, p)
					if want := min(size+1, first); len(peers) != want || peers[0].ID != social.ID(crowdFrom+l.every*first) {
						t.Errorf("%s, page %d: %d entries, want %d", name, number, len(peers), want)
					}
					return err
				})
			}
		}
		reads("mutual follows with a stranger", 2*followedByViewer+3, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.MutualFollows(ctx, viewer, []social.Listing{{Owner: stranger, Page: social.Page{Limit: size}}})
			equal(t, "found", len(found), 0)
			return err
		})
		reads("followers of the star that a stranger knows", 2*followedByViewer+5, func(ctx context.Context, tx *db.Tx) error {
			found, err := tx.FollowersYouKnow(ctx, stranger, []social.Listing{{Owner: star, Page: social.Page{Limit: size}}})
			equal(t, "found", len(found), 0)
			return err
		})
		reads("their counts", 4*followedByViewer+5, func(ctx context.Context, tx *db.Tx) error {
			mutual, err := tx.CountMutualFollows(ctx, viewer, []social.ID{alike})
			if err != nil {
				return err
			}
			known, err := tx.CountFollowersYouKnow(ctx, viewer, []social.ID{star})
			equal(t, "counts", fmt.Sprint(mutual[alike], known[star]), "5000 5000")
			return err
		})
		for _, number := range []int{1, 2, 500} {
			after := ""
			if number > 1 {
				after = fmt.Sprintf("a_%07d", (number-1)*size)
			}
			reads(fmt.Sprintf("search, page %d", number), size+1, func(ctx context.Context, tx *db.Tx) error {
				users, err := tx.UsersByHandle(ctx, "a_", after, size+1)
				equal(t, "found", len(users), size+1)
				equal(t, "first", int(users[0].ID), (number-1)*size+1)
				return err
			})
		}
		reads("count of a search", 2*db.MaxCounted+5, func(ctx context.Context, tx *db.Tx) error {
			n, err := tx.CountHandles(ctx, "a_")
			equal(t, "counted", n, db.MaxCounted)
			return err
		})
	})
}
