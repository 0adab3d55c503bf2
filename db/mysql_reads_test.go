package db_test

import (
	"context"
	"fmt"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// rowsRead is how many rows of tables and indexes a reading touches on MariaDB.
func rowsRead(t testing.TB, d *db.DB, read func(ctx context.Context, tx *db.Tx) error) (n int) {
	t.Helper()
	status := func(ctx context.Context, tx *db.Tx) (n int, err error) {
		err = tx.Get(ctx, &n, `SELECT CAST(SUM(VARIABLE_VALUE) AS SIGNED) FROM information_schema.SESSION_STATUS
			WHERE VARIABLE_NAME LIKE 'HANDLER_READ%' AND VARIABLE_NAME NOT LIKE '%DELETED'`)
		return n, err
	}
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		var at [3]int
		for i := range at {
			var err error
			if at[i], err = status(ctx, tx); err != nil {
				return err
			}
			if i != 1 {
				continue
			}
			if err := read(ctx, tx); err != nil {
				return err
			}
		}
		// The status query itself reads; the first two tell how much.
		n = (at[2] - at[1]) - (at[1] - at[0])
		return nil
	})
	return n
}

// A page costs the same at the head and deep in a list of 10,000, and no more than its
// entries and one.
func TestListPageReadsNoMoreThanItself(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const entries, size = 10_000, 20
		var edges []social.Edge
		for i := range social.ID(entries) {
			edges = append(edges, edge(1, 10+i, following, social.Millis(1_000_000+i)), edge(10+i, 1, following, social.Millis(1_000_000+i)))
		}
		putEdges(t, s.DB, edges...)
		s.Exec(t, "ANALYZE TABLE following, follower")
		for _, page := range []int{1, 50, 500} {
			p := social.Page{Limit: size}
			if page > 1 {
				at := social.Millis(1_000_000 + entries - (page-1)*size)
				p.From = social.Cursor{MinTime: at, ID: social.ID(10 + at - 1_000_000)}
			}
			for _, l := range lists {
				n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
					peers, err := l.read(tx, ctx, 1, p)
					if want := min(size+1, entries-(page-1)*size); len(peers) != want {
						t.Errorf("%s page %d has %d entries, want %d", l.name, page, len(peers), want)
					}
					return err
				})
				if n > size+5 {
					t.Errorf("%s page %d read %d rows", l.name, page, n)
				}
			}
		}
	})
}

// People who followed in one millisecond, as those of one batch do, cost no more.
func TestListPageAmongTiesReadsNoMoreThanItself(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const entries, size, at = 5_000, 20, 1_000_000
		var edges []social.Edge
		for i := range social.ID(entries) {
			edges = append(edges, edge(1, 10+i, following, at), edge(10+i, 1, following, at))
		}
		putEdges(t, s.DB, edges...)
		s.Exec(t, "ANALYZE TABLE following, follower")
		for _, id := range []social.ID{entries, entries / 2, 100} {
			for _, l := range lists {
				n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
					peers, err := l.read(tx, ctx, 1, social.Page{Limit: size, From: social.Cursor{MinTime: at, ID: id}})
					equal(t, "entries", len(peers), size+1)
					return err
				})
				if n > size+5 {
					t.Errorf("%s below %d read %d rows", l.name, id, n)
				}
			}
		}
	})
}

func TestEdgesOf800PairsReadThesePairsAlone(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		var edges []social.Edge
		var pairs []social.Pair
		for i := range social.ID(800) {
			for k := range social.ID(10) {
				edges = append(edges, edge(i+1, 5000+i*10+k, following, 1))
			}
			pairs = append(pairs, social.Pair{UserID: i + 1, TargetID: 5000 + i*10 + 3})
		}
		putEdges(t, s.DB, edges...)
		s.Exec(t, "ANALYZE TABLE following")
		n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			edges, err := tx.EdgesOf(ctx, pairs)
			equal(t, "found", len(edges), len(pairs))
			return err
		})
		if n > 4*len(pairs) {
			t.Errorf("read %d rows for %d pairs of 8,000 edges", n, len(pairs))
		}
	})
}

func TestRelationsOfAPageReadThatPageAlone(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		var edges []social.Edge
		for i := range social.ID(2000) {
			edges = append(edges, edge(1, 10+i, following, 1), edge(10+i, 1, following, 1))
		}
		putEdges(t, s.DB, edges...)
		people(t, s.DB, seq(100, 199)...)
		s.Exec(t, "ANALYZE TABLE following, follower, user")
		n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			relations, err := tx.Relations(ctx, 1, seq(100, 199))
			equal(t, "found", len(relations), 100)
			return err
		})
		if n > 6*100 { // the person, both edges, both blocks, the mute
			t.Errorf("read %d rows", n)
		}
	})
}

func TestNearestBlogsOfManyAuthorsReadTheirOwnAlone(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		for author := range social.ID(50) {
			blogs(t, s.DB, author+1, seq(1000*author+1, 1000*author+20)...)
		}
		s.Exec(t, "ANALYZE TABLE blog")
		r := db.IDRange{Above: 5000, Below: 25_000}
		n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			ids, err := tx.BlogRefsIn(ctx, seq(1, 10), r, 2001)
			equal(t, "found", len(ids), 5*20)
			return err
		})
		if n > 5*20*3+10*3 {
			t.Errorf("read %d rows for 100 ids of 10 authors", n)
		}
	})
}

// Whoever locks some actors keeps nobody from their neighbours.
func TestLockedActorsAreTheseAlone(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 10, 20, 30, 40, 50)
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.LockActors(ctx, []social.ID{20, 25, 40, 60}); err != nil {
				return err
			}
			for id, free := range map[social.ID]bool{10: true, 20: false, 30: true, 40: false, 50: true} {
				_, err := s.SQL.Exec(fmt.Sprintf("SELECT user_id FROM actor WHERE user_id = %d FOR UPDATE NOWAIT", id))
				if (err == nil) != free {
					t.Errorf("actor %d: %v, want free %v", id, err, free)
				}
			}
			// Nor from signing up between them.
			_, err := s.SQL.Exec("INSERT INTO actor (user_id, graph_version, following) VALUES (25, 0, 0), (60, 0, 0)")
			return err
		})
	})
}

// Nor do they wait for their neighbours' locks, as a scan of the table would, which the
// planner prefers where the list is longer than the table.
func TestActorsAreLockedPastLockedNeighbours(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s.DB, 10, 20, 30, 40, 50)
		other, err := s.SQL.Begin()
		noError(t, err)
		defer func() { _ = other.Rollback() }()
		_, err = other.Exec("SELECT user_id FROM actor WHERE user_id = 30 FOR UPDATE")
		noError(t, err)
		runs := 0
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
			if runs++; runs > 1 {
				t.Error("waited for a neighbour")
				_ = other.Rollback()
			}
			actors, err := tx.LockActors(ctx, append(seq(1, 29), seq(31, db.MaxIn)...))
			equal(t, "locked", len(actors), 4)
			return err
		})
	})
}

func TestPageOfBlogsReadsNoMoreThanItself(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		const entries, size = 10_000, 20
		s.Exec(t, `INSERT INTO blog (id, author_id, status, title, content, image_urls)
			SELECT 1000 + seq, 1, 0, 't', 'c', '[]' FROM seq_1_to_10000`)
		s.Exec(t, "ANALYZE TABLE blog")
		for _, below := range []social.ID{0, 1000 + entries, 1000 + entries*3/4, 1000 + 100} {
			n := rowsRead(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
				blogs, err := page(ctx, tx.BlogsByAuthor, 1, social.Page{Limit: size, From: social.Cursor{ID: below}})
				equal(t, "blogs", len(blogs), size+1)
				return err
			})
			if n > size+5 {
				t.Errorf("a page below %d read %d rows", below, n)
			}
		}
	})
}
