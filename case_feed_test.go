package main

import (
	"slices"
	"testing"
	"time"

	"kith/social"
)

// FEED-1
func TestUnfollowTakesBlogsOutAndFollowBringsThemIn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		u[1].publish(t, "p1")
		w.Clock.Advance(500 * time.Millisecond)
		u[2].publish(t, "q1")
		u[0].follow(t, u[2])
		feedIs := func(want ...string) {
			t.Helper()
			if got := u[0].feed(t, 10, "").titles; !slices.Equal(got, want) {
				t.Fatalf("feed is %v, want %v", got, want)
			}
		}
		u[0].follow(t, u[1])
		feedIs("q1", "p1")
		w.Clock.Advance(500 * time.Millisecond)
		u[1].publish(t, "p2")
		feedIs("p2", "q1", "p1")
		u[0].unfollow(t, u[1])
		feedIs("q1")
		u[0].follow(t, u[1])
		feedIs("p2", "q1", "p1")
	})
}

// FEED-4
func TestOneDeadAuthorEmptiesNothingElse(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		p1 := u[1].publish(t, "p1")
		w.Clock.Advance(time.Millisecond)
		p2 := u[2].publish(t, "p2")
		u[0].follow(t, u[1])
		w.Clock.Advance(time.Millisecond)
		u[0].follow(t, u[2])
		u[1].follow(t, u[3])
		w.Clock.Advance(time.Millisecond)
		u[2].follow(t, u[3])
		w.Exec(t, "DELETE FROM user WHERE id = ?", u[2].id)

		for _, first := range []int{1, 10} {
			if f := u[0].feed(t, first, ""); !slices.Equal(f.titles, []string{"p1"}) || f.next {
				t.Errorf("the feed is %v, more: %v", f.titles, f.next)
			}
		}
		for of, name := range map[string]string{u[0].gid: "following", u[3].gid: "followers"} {
			if l := list(t, u[0].Client, of, name, 10, ""); !slices.Equal(l.ids, []string{u[1].gid}) || l.next || l.total != 2 {
				t.Errorf("%s: %v of %d, more: %v", name, l.ids, l.total, l.next)
			}
			// A page of which everybody is gone can still be passed.
			l := list(t, u[0].Client, of, name, 1, "")
			if len(l.ids) != 0 || !l.next || l.info.Get("endCursor").String() == "" {
				t.Errorf("%s: %v, %s", name, l.ids, l.info)
			}
			if l = list(t, u[0].Client, of, name, 1, l.info.Get("endCursor").String()); !slices.Equal(l.ids, []string{u[1].gid}) || l.next {
				t.Errorf("%s behind the dead: %v, more: %v", name, l.ids, l.next)
			}
		}
		d := u[0].OK(t, `query($p1: ID!, $p2: ID!, $u: ID!) {
			blog(id: $p2) { id author { name } } node(id: $p2) { id } dead: node(id: $u) { id } user(handle: "u3_test") { id }
			nodes(ids: [$p2, $p1, $u]) { id ... on Blog { author { handle } } } }`,
			map[string]any{"p1": p1, "p2": p2, "u": u[2].gid})
		want := `{"blog":null,"node":null,"dead":null,"user":null,"nodes":[null,{"id":"` + p1 + `","author":{"handle":"u2_test"}},null]}`
		if d.Raw != want {
			t.Errorf("got %s\nwant %s", d.Raw, want)
		}
		// The dead can be unfollowed, and their token opens nothing.
		if f := u[0].unfollow(t, u[2]); !f.Get("changed").Bool() || f.Get("user").Type.String() != "Null" {
			t.Errorf("unfollowing the dead: %s", f)
		}
		if v := u[2].OK(t, `{ viewer { id } }`, nil); v.Raw != `{"viewer":null}` {
			t.Errorf("the dead are signed in: %s", v)
		}
		a := u[2].Do(t, `mutation { publishBlog(input: {title: "t", content: "c"}) { blog { id } } }`, nil)
		wantError(t, a, social.Unauthenticated, "")
	})
}
