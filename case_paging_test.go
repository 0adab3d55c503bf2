package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
)

// PAG-1
func TestRelationsOfOneInstantAreAllReachable(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		crowd := w.persons(t, 25)
		start := w.Clock.Now().Truncate(time.Second).Add(time.Minute + 123456*time.Microsecond)
		for _, step := range []time.Duration{0, 32 * time.Microsecond, time.Millisecond, 400 * time.Microsecond} {
			w.Clock.Set(start)
			hub := w.person(t)
			for _, p := range crowd {
				p.follow(t, hub)
				hub.follow(t, p)
				w.Clock.Advance(step)
			}
			for _, name := range []string{"followers", "following"} {
				after, seen, last := "", map[string]bool{}, social.Cursor{MinTime: 1 << 60}
				for i, want := range []int{10, 10, 5} {
					l := list(t, hub.Client, hub.gid, name, 10, after).checkEnds(t)
					if len(l.ids) != want || l.next != (i < 2) {
						t.Errorf("%s by %v, page %d: %d people, more: %v", name, step, i, len(l.ids), l.next)
					}
					for j, id := range l.ids {
						c := decoded(t, l.cursors[j], name, hub.id)
						if seen[id] || c.MinTime > last.MinTime || c.MinTime == last.MinTime && c.ID >= last.ID {
							t.Errorf("%s by %v: %v after %v, seen: %v", name, step, c, last, seen[id])
						}
						seen[id], last = true, c
					}
					after = l.info.Get("endCursor").String()
				}
				if len(seen) != 25 {
					t.Errorf("%s by %v: %d people", name, step, len(seen))
				}
			}
			start = start.Add(time.Second)
		}
	})
}

// decoded reads a cursor of a list.
func decoded(t testing.TB, s, list string, owner social.ID) social.Cursor {
	t.Helper()
	kind := map[string]social.CursorKind{
		"followers": social.FollowersCursor, "following": social.FollowingCursor,
		"blogs": social.BlogsCursor, "feed": social.FeedCursor,
	}[list]
	if list == "followers" || list == "following" {
		s = *seal().Open(&s)
	}
	c, err := social.DecodeCursor("after", s, kind, owner)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reader is somebody who follows an author, whose blogs carry their times as titles.
func reader(t *testing.T, w *world, times ...int) (reader, author person, blogs []string) {
	t.Helper()
	author, reader = w.person(t), w.person(t)
	reader.follow(t, author)
	start := w.Clock.Now().Add(time.Second)
	for _, ms := range times {
		w.Clock.Set(start.Add(time.Duration(ms) * time.Millisecond))
		blogs = append(blogs, author.publish(t, fmt.Sprint(ms)))
	}
	return reader, author, blogs
}

// PAG-2
func TestOffsetCountsTheTiesThatWereGivenOut(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, author, blogs := reader(t, w, 96, 97, 98, 98, 98, 99, 100)
		start := w.Clock.NowMS() - 100
		type end struct {
			ms     social.Millis
			offset int
		}
		for _, test := range []struct {
			first int
			sizes []int
			ends  []end
		}{
			{3, []int{3, 3, 1}, []end{{98, 1}, {97, 1}, {96, 1}}},
			{4, []int{4, 3}, []end{{98, 2}, {96, 1}}},
			{1, []int{1, 1, 1, 1, 1, 1, 1}, []end{{100, 1}, {99, 1}, {98, 1}, {98, 2}, {98, 3}, {97, 1}, {96, 1}}},
		} {
			for _, list := range []string{"feed", "blogs"} {
				var ids []string
				owner := me.id
				if list == "blogs" {
					owner = author.id
				}
				after := ""
				for i, size := range test.sizes {
					var l listed
					if list == "blogs" {
						l = blogsOf(t, me.Client, author.gid, test.first, after)
					} else {
						l = me.readFeed(t, scroll(test.first, after))
					}
					if len(l.ids) != size || l.next != (i < len(test.sizes)-1) {
						t.Fatalf("%s by %d, page %d: %d blogs, more: %v", list, test.first, i, len(l.ids), l.next)
					}
					ids = append(ids, l.ids...)
					after = l.info.Get("endCursor").String()
					c := decoded(t, after, list, owner)
					if got := (end{c.MinTime - start, c.Offset}); got != test.ends[i] {
						t.Errorf("%s by %d, page %d ends at %v, want %v", list, test.first, i, got, test.ends[i])
					}
				}
				want := slices.Clone(blogs)
				slices.Reverse(want)
				if !slices.Equal(ids, want) {
					t.Errorf("%s by %d: %v, want %v", list, test.first, ids, want)
				}
			}
		}
	})
}

// scroll writes arguments of followFeed; a cursor that is "" is left out.
func scroll(first int, after string) string {
	if after == "" {
		return fmt.Sprintf("(first: %d)", first)
	}
	return fmt.Sprintf("(first: %d, after: %q)", first, after)
}

// PAG-4
func TestHasNextPageIsExactOnAMultipleOfThePage(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		hub, author := w.person(t), w.person(t)
		for range 30 {
			w.person(t).follow(t, hub)
		}
		after := ""
		for i := range 3 {
			l := list(t, hub.Client, hub.gid, "followers", 10, after)
			if len(l.ids) != 10 || l.next != (i < 2) {
				t.Errorf("page %d: %d followers, more: %v", i, len(l.ids), l.next)
			}
			after = l.info.Get("endCursor").String()
		}

		hub.follow(t, author)
		for range 20 {
			author.publish(t, "blog")
		}
		for name, l := range map[string]listed{
			"feed": hub.readFeed(t, "(first: 20)"), "blogs": blogsOf(t, hub.Client, author.gid, 20, ""),
		} {
			if len(l.ids) != 20 || l.next {
				t.Errorf("%s: %d blogs, more: %v", name, len(l.ids), l.next)
			}
		}

		for name, l := range map[string]listed{
			"followers": list(t, hub.Client, w.person(t).gid, "followers", 10, ""),
			"following": list(t, hub.Client, w.person(t).gid, "following", 10, ""),
			"blogs":     blogsOf(t, hub.Client, hub.gid, 10, ""),
			"feed":      author.readFeed(t, "(first: 10)"),
		} {
			if len(l.edges) != 0 || l.next || l.info.Get("startCursor").Type != gjson.Null || l.info.Get("endCursor").Type != gjson.Null {
				t.Errorf("empty %s: %v, %s", name, l.edges, l.info)
			}
		}
	})
}

// PAG-8
func TestTiesDeletedBetweenPagesNeitherSkipNorRepeat(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		for _, all := range []bool{false, true} {
			me, author, blogs := reader(t, w, 97, 97, 97, 98, 98, 98, 98, 98)
			slices.Reverse(blogs)
			first := me.readFeed(t, "(first: 2)")
			theirs := blogsOf(t, me.Client, author.gid, 2, "")
			if !slices.Equal(first.ids, blogs[:2]) || !slices.Equal(theirs.ids, blogs[:2]) {
				t.Fatalf("first pages: %v and %v, want %v", first.ids, theirs.ids, blogs[:2])
			}
			gone, left := blogs[:2], blogs[2:]
			if all {
				gone, left = blogs, nil
			}
			for _, b := range gone {
				author.delete(t, b)
			}
			rest := func(read func(after string) listed, after string) {
				t.Helper()
				var ids []string
				for {
					l := read(after)
					ids = append(ids, l.ids...)
					if all && (l.info.Get("endCursor").Type != gjson.Null || len(l.ids) > 0 || l.next) {
						t.Errorf("nothing is left, yet %v %s", l.ids, l.info)
					}
					if !l.next {
						break
					}
					after = l.info.Get("endCursor").String()
				}
				if !slices.Equal(ids, left) {
					t.Errorf("the rest is %v, want %v", ids, left)
				}
			}
			rest(func(after string) listed { return me.readFeed(t, scroll(2, after)) }, first.cursors[1])
			rest(func(after string) listed { return blogsOf(t, me.Client, author.gid, 2, after) }, theirs.cursors[1])
		}
	})
}
