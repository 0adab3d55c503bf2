package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/social"
)

// crowd fills the store behind Kith's back: n authors followed by the reader.
func (w *world) crowd(t *testing.T, reader person, n int) []social.ID {
	t.Helper()
	authors := make([]social.ID, n)
	var users, following, follower, actors, counts []string
	for i := range authors {
		id := reader.id + social.ID(i) + 1
		authors[i] = id
		users = append(users, fmt.Sprintf("(%d,'a%d','Author','','x')", id, i))
		following = append(following, fmt.Sprintf("(%d,%d,1,%d)", reader.id, id, i+1))
		follower = append(follower, fmt.Sprintf("(%d,%d,1,%d)", id, reader.id, i+1))
		actors = append(actors, fmt.Sprintf("(%d,0,0)", id))
		counts = append(counts, fmt.Sprintf("(%d,1,0,0)", id))
	}
	w.Exec(t, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES "+strings.Join(users, ","))
	w.Exec(t, "INSERT INTO following (user_id, target_id, state, since) VALUES "+strings.Join(following, ","))
	w.Exec(t, "INSERT INTO follower (user_id, follower_id, state, since) VALUES "+strings.Join(follower, ","))
	w.Exec(t, "INSERT INTO actor (user_id, graph_version, following) VALUES "+strings.Join(actors, ","))
	w.Exec(t, "INSERT INTO user_count (user_id, followers, blogs, version) VALUES "+strings.Join(counts, ","))
	w.Exec(t, "UPDATE actor SET following = ? WHERE user_id = ?", n, reader.id)
	return authors
}

// writeBlogs inserts one blog for each id; author says whose.
func (w *world) writeBlogs(t *testing.T, ids []social.ID, author func(i int) social.ID) {
	t.Helper()
	i := 0
	for chunk := range slices.Chunk(ids, 500) {
		var rows []string
		for _, id := range chunk {
			rows = append(rows, fmt.Sprintf("(%d,%d,0,'%d','text','[]')", id, author(i), id))
			i++
		}
		w.Exec(t, "INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES "+strings.Join(rows, ","))
	}
}

// at makes n ids of one millisecond, that long before now.
func (w *world) at(ago time.Duration, n int) []social.ID {
	first := social.FirstIDAt(social.Millis(w.Clock.Now().Add(-ago).UnixMilli()))
	ids := make([]social.ID, n)
	for i := range ids {
		ids[i] = first + social.ID(i)
	}
	return ids
}

// spread makes n ids, pause apart, the newest that long before now.
func (w *world) spread(ago, pause time.Duration, n int) []social.ID {
	ids := make([]social.ID, n)
	for i := range ids {
		ids[i] = w.at(ago+time.Duration(i)*pause, 1)[0]
	}
	return ids
}

const (
	day      = 24 * time.Hour
	feedPage = `query($a: String, $b: String, $n: Int, $m: Int) { followFeed(first: $n, after: $a, last: $m, before: $b) {
		edges { cursor node { title author { name } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
)

// The bounds of DESIGN section 12: 4 statements where the first range fits, never more
// than 9, whatever the distribution and however many are followed.
func TestAFeedPageTakes4To9Statements(t *testing.T) {
	t.Parallel()
	distributions := []struct {
		name  string
		fits  bool // the first page's first range
		blogs func(w *world) []social.ID
		one   bool // by the first author alone
	}{
		{"an hour apart", true, func(w *world) []social.ID { return w.spread(time.Minute, time.Hour, 200) }, false},
		{"nothing at all", false, func(*world) []social.ID { return nil }, false},
		{"a burst behind a gap of 40 days", false, func(w *world) []social.ID { return w.spread(40*day, time.Millisecond, 2500) }, false},
		{"one author in all posts", false, func(w *world) []social.ID { return w.spread(time.Hour, 11*day, 60) }, true},
		{"all in one millisecond", false, func(w *world) []social.ID { return w.at(time.Hour, 2500) }, false},
		{"two a year", false, func(w *world) []social.ID { return w.spread(20*day, 180*day, 6) }, false},
		{"a burst now and one long ago", false, func(w *world) []social.ID {
			return append(w.spread(0, time.Microsecond*900, 2100), w.spread(700*day, time.Hour, 30)...)
		}, false},
	}
	for _, followed := range []int{10, 1000} {
		for _, d := range distributions {
			t.Run(fmt.Sprintf("%s, %d followed", d.name, followed), func(t *testing.T) {
				eachWorld(t, func(t *testing.T, w *world) {
					reader := w.person(t)
					w.Clock.Advance(time.Second) // the reader's id is not an author's
					authors := w.crowd(t, reader, followed)
					ids := d.blogs(w)
					slices.Sort(ids)
					ids = slices.Compact(ids)
					w.writeBlogs(t, ids, func(i int) social.ID {
						if d.one {
							return authors[0]
						}
						return authors[i%len(authors)]
					})
					slices.Reverse(ids)
					readAllCounting(t, w, reader, ids, d.fits)
				})
			})
		}
	}
}

// readAllCounting reads the feed to its end and back, and counts every page's statements.
func readAllCounting(t *testing.T, w *world, reader person, want []social.ID, fits bool) {
	t.Helper()
	read := func(v map[string]any) (got []string, start, end string, more bool) {
		before := w.server.store.db.Statements()
		f := reader.OK(t, feedPage, v).Get("followFeed")
		n := w.server.store.db.Statements() - before
		if n > 9 || (n < 4 && len(f.Get("edges").Array()) > 0) {
			t.Fatalf("page %v took %d statements", v, n)
		}
		if len(v) == 1 && fits && n != 4 {
			t.Fatalf("the first page fits the first range and took %d statements, not 4", n)
		}
		for _, e := range f.Get("edges.#.node.title").Array() {
			got = append(got, e.String())
		}
		more = f.Get("pageInfo.hasNextPage").Bool()
		if v["m"] != nil {
			more = f.Get("pageInfo.hasPreviousPage").Bool()
		}
		return got, f.Get("pageInfo.startCursor").String(), f.Get("pageInfo.endCursor").String(), more
	}
	wanted := make([]string, len(want))
	for i, id := range want {
		wanted[i] = id.String()
	}
	// A few pages of 20, as clients ask, then large ones.
	size := func(page int) int {
		if page < 5 {
			return 20
		}
		return 100
	}
	var down []string
	var last, lastTitle string
	v := map[string]any{"n": 20}
	for page := 1; ; page++ {
		got, _, end, more := read(v)
		down = append(down, got...)
		if !more {
			break
		}
		last, lastTitle, v = end, down[len(down)-1], map[string]any{"n": size(page), "a": end}
	}
	if !slices.Equal(down, wanted) {
		t.Fatalf("down: %d blogs, want %d", len(down), len(wanted))
	}
	if last == "" {
		return
	}
	var up []string
	v = map[string]any{"m": 20, "b": last}
	for page := 1; ; page++ {
		got, start, _, more := read(v)
		up = append(got, up...)
		if !more {
			break
		}
		v = map[string]any{"m": size(page), "b": start}
	}
	// The cursor's own entry is not read again.
	if at := slices.Index(wanted, lastTitle); !slices.Equal(up, wanted[:at]) {
		t.Fatalf("up: %d blogs, want %d", len(up), at)
	}
}

// P8: lists within the people of a list are read together, so a request's statements
// depend on its shape, not on how many people the list has. Batches gather for a
// millisecond, which a busy machine stretches: hence a bound, and not the 8 to 16 that were
// seen, also with three times as much work as cores; one by one it would be over 400.
func TestListsWithinAListShareStatements(t *testing.T) {
	const people, bound = 60, 24
	eachWorld(t, func(t *testing.T, w *world) {
		reader := w.person(t)
		w.Clock.Advance(time.Second)
		authors := w.crowd(t, reader, people)
		w.writeBlogs(t, w.spread(time.Hour, time.Minute, 3*people), func(i int) social.ID { return authors[i%people] })
		before := w.server.store.db.Statements()
		got := reader.OK(t, `query { viewer { following(first: 100) { nodes {
			handle followerCount
			blogs(first: 2) { nodes { title author { handle } } pageInfo { hasNextPage } }
			followers(first: 2) { totalCount nodes { handle isMutual } }
			following(first: 2) { nodes { handle } }
		} } } }`, nil)
		if n := w.server.store.db.Statements() - before; n > bound {
			t.Errorf("%d statements for %d people, want at most %d", n, people, bound)
		}
		nodes := got.Get("viewer.following.nodes").Array()
		if len(nodes) != people {
			t.Fatalf("%d people, want %d", len(nodes), people)
		}
		for _, n := range nodes {
			if len(n.Get("blogs.nodes").Array()) != 2 || !n.Get("blogs.pageInfo.hasNextPage").Bool() ||
				n.Get("followers.nodes.0.handle").String() == "" || len(n.Get("following.nodes").Array()) != 0 {
				t.Fatalf("one of the people: %s", n)
			}
		}
	})
}
