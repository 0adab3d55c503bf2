package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/graph"
	"kith/social"
)

// schema is the contract, parsed.
func schema() *ast.Schema { return graph.NewExecutableSchema(graph.Config{}).Schema() }

func TestFieldsForTheSignedInAreNullToNobody(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		blog := u[0].publish(t, "blog")
		before := w.rowCounts(t)
		arguments := map[string]string{
			"signOut": `(input: {everywhere: true})`, "changePassword": `(input: {current: "password", new: "password"})`,
			"deleteAccount": `(input: {password: "password"})`,
			"updateProfile": `(input: {name: "New"})`, "follow": `(input: {userId: "` + u[1].gid + `"})`,
			"unfollow": `(input: {userId: "` + u[1].gid + `"})`, "publishBlog": `(input: {title: "t", content: "c"})`,
			"followMany": `(input: {userIds: ["` + u[1].gid + `"]})`,
			"deleteBlog": `(input: {blogId: "` + blog + `"})`, "followFeed": "", "followRequests": "", "blockedUsers": "", "mutedUsers": "", "notifications": "", "markNotificationsRead": "(input: {})",
			"mutualFollows": `(userId: "` + u[1].gid + `")`,
		}
		for _, name := range []string{"likeBlog", "unlikeBlog"} {
			arguments[name] = `(input: {blogId: "` + blog + `"})`
		}
		for _, name := range []string{"removeFollower", "acceptFollowRequest", "rejectFollowRequest", "block", "unblock", "mute", "unmute"} {
			arguments[name] = `(input: {userId: "` + u[1].gid + `"})`
		}
		found := 0
		for _, root := range []*ast.Definition{schema().Query, schema().Mutation} {
			for _, f := range root.Fields {
				if f.Directives.ForName("signedIn") == nil {
					continue
				}
				found++
				args, known := arguments[f.Name]
				if !known {
					t.Fatalf("%s needs arguments here", f.Name)
				}
				a := w.nobody().Do(t, strings.ToLower(root.Name)+" { "+f.Name+args+" { __typename } viewerIs: __typename }", nil)
				wantError(t, a, social.Unauthenticated, "")
				if a.Status != 200 || a.Data().Get(f.Name).Type != gjson.Null || a.Data().Get("viewerIs").String() != root.Name {
					t.Errorf("%s answered %d: %s", f.Name, a.Status, a.Body)
				}
			}
		}
		if found != len(arguments) {
			t.Errorf("%d fields need a viewer, want %d", found, len(arguments))
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
		d := w.nobody().OK(t, `query($u: ID!) { viewer { id } node(id: $u) { ... on User {
			viewerIsFollowing isFollowingViewer isMutual viewerCanFollow followers { totalCount } blogs { nodes { title } }
			mutualFollows { totalCount nodes { id } } followersYouKnow { totalCount nodes { id } } } } }`, map[string]any{"u": u[0].gid})
		want := `{"viewer":null,"node":{"viewerIsFollowing":false,"isFollowingViewer":false,"isMutual":false,"viewerCanFollow":false,` +
			`"followers":{"totalCount":0},"blogs":{"nodes":[{"title":"blog"}]},` +
			`"mutualFollows":{"totalCount":0,"nodes":[]},"followersYouKnow":{"totalCount":0,"nodes":[]}}}`
		if d.Raw != want {
			t.Errorf("nobody reads %s\nwant %s", d.Raw, want)
		}
	})
}

func TestRelationsOfTheViewerFollowTheEdges(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		relation := func(me, other person) string {
			t.Helper()
			return me.OK(t, `query($u: ID!) { node(id: $u) { ... on User { viewerIsFollowing isFollowingViewer isMutual viewerCanFollow } } }`,
				map[string]any{"u": other.gid}).Get("node").Raw
		}
		is := func(following, followed, mutual, can bool) string {
			return fmt.Sprintf(`{"viewerIsFollowing":%v,"isFollowingViewer":%v,"isMutual":%v,"viewerCanFollow":%v}`, following, followed, mutual, can)
		}
		for i, step := range []struct {
			act          func()
			mine, theirs string
		}{
			{func() {}, is(false, false, false, true), is(false, false, false, true)},
			{func() { u[0].follow(t, u[1]) }, is(true, false, false, false), is(false, true, false, true)},
			{func() { u[1].follow(t, u[0]) }, is(true, true, true, false), is(true, true, true, false)},
			{func() { u[0].unfollow(t, u[1]) }, is(false, true, false, true), is(true, false, false, false)},
			{func() { u[1].unfollow(t, u[0]) }, is(false, false, false, true), is(false, false, false, true)},
		} {
			step.act()
			if got := relation(u[0], u[1]); got != step.mine {
				t.Errorf("step %d: I see %s, want %s", i, got, step.mine)
			}
			if got := relation(u[1], u[0]); got != step.theirs {
				t.Errorf("step %d: they see %s, want %s", i, got, step.theirs)
			}
			if got := relation(u[0], u[0]); got != is(false, false, false, false) {
				t.Errorf("step %d: myself I see as %s", i, got)
			}
		}
	})
}

func TestListsTellTotalAndSince(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		hub := u[0]
		var since []string
		for _, p := range u[1:] {
			w.Clock.Advance(1234567 * time.Microsecond)
			p.follow(t, hub)
			since = append(since, w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
		}
		slices.Reverse(since)
		for _, c := range []person{hub, u[2], {Client: w.nobody()}} {
			l := list(t, c.Client, hub.gid, "followers", 2, "")
			if l.total != 3 || len(l.edges) != 2 || l.edges[0].Get("since").String() != since[0] || l.edges[1].Get("since").String() != since[1] {
				t.Errorf("followers: %d, %v, want since %v", l.total, l.edges, since)
			}
			l = list(t, c.Client, hub.gid, "followers", 2, l.cursors[1])
			if l.total != 3 || len(l.edges) != 1 || l.edges[0].Get("since").String() != since[2] || !l.info.Get("hasPreviousPage").Bool() {
				t.Errorf("the rest: %d, %v", l.total, l.edges)
			}
		}
		if l := list(t, hub.Client, u[1].gid, "following", 1, ""); l.total != 1 || l.edges[0].Get("since").String() != since[2] {
			t.Errorf("following: %d, %v", l.total, l.edges)
		}
		// A repeated follow changes nothing; following anew is a new relation.
		w.Clock.Advance(time.Hour)
		u[1].follow(t, hub)
		if l := list(t, hub.Client, hub.gid, "followers", 1, ""); l.ids[0] != u[3].gid {
			t.Errorf("repeating moved somebody up: %v", l.ids)
		}
		u[1].unfollow(t, hub)
		u[1].follow(t, hub)
		l := list(t, hub.Client, hub.gid, "followers", 1, "")
		if want := w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"); l.ids[0] != u[1].gid || l.total != 3 || l.edges[0].Get("since").String() != want {
			t.Errorf("followed anew: %d, %v, want since %s", l.total, l.edges, want)
		}
	})
}

func TestAFeedReadsBothWaysFromACursor(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, author, b := reader(t, w, 1, 2, 2, 2, 3, 4, 5)
		slices.Reverse(b) // newest first: b[0] ... b[6]
		all := me.readFeed(t, "")
		if !slices.Equal(all.ids, b) {
			t.Fatalf("the feed is %v, want %v", all.ids, b)
		}
		c := func(i int) string { return quoted(all.cursors[i]) }
		for args, want := range map[string]struct {
			ids            []string
			next, previous bool
		}{
			"(first: 3)":                      {b[:3], true, false},
			"(first: 7)":                      {b, false, false},
			"(first: 0)":                      {nil, true, false},
			"(first: 0, after: " + c(3) + ")": {nil, true, true},
			"(first: 0, after: " + c(6) + ")": {nil, false, true},
			"(first: null, after: null, last: null, before: null)": {b, false, false},
			"(first: 2, after: null, last: null)":                  {b[:2], true, false},
			"(first: 2, after: " + c(1) + ", before: null)":        {b[2:4], true, true},
			"(after: " + c(4) + ")":                                {b[5:], false, true},
			"(after: " + c(6) + ")":                                {nil, false, true},
			"(last: 2, before: " + c(5) + ")":                      {b[3:5], true, true},
			"(last: 5, before: " + c(5) + ")":                      {b[:5], true, false},
			"(last: 9, before: " + c(5) + ", first: null)":         {b[:5], true, false},
			"(last: 0, before: " + c(5) + ")":                      {nil, true, true},
			"(last: 0, before: " + c(0) + ")":                      {nil, true, false},
			"(before: " + c(2) + ")":                               {b[:2], true, false},
			"(last: 3, before: " + c(0) + ")":                      {nil, true, false},
		} {
			l := me.readFeed(t, args)
			if !slices.Equal(l.ids, want.ids) || l.next != want.next || l.info.Get("hasPreviousPage").Bool() != want.previous {
				t.Errorf("%s: %v %s, want %v", args, l.ids, l.info, want)
			}
			if len(want.ids) == 0 && (l.info.Get("startCursor").Type != gjson.Null || l.info.Get("endCursor").Type != gjson.Null) {
				t.Errorf("%s: cursors of nothing: %s", args, l.info)
			}
		}
		for args, field := range map[string]string{
			"(last: 2)": "before", "(first: 2, last: 2)": "first", "(first: 2, before: " + c(3) + ")": "first",
			"(after: " + c(3) + ", before: " + c(3) + ")": "after", "(after: " + c(3) + ", last: 2)": "after",
			"(last: 101, before: " + c(3) + ")": "last", "(first: -1)": "first", "(last: -1, before: " + c(3) + ")": "last",
		} {
			wantError(t, me.Do(t, "{ followFeed"+args+" { nodes { id } } }", nil), social.BadUserInput, field)
		}
		// What is newer than the head, by the cursor of the head.
		fresh := author.publish(t, "fresh")
		if l := me.readFeed(t, "(last: 10, before: "+c(0)+")"); !slices.Equal(l.ids, []string{fresh}) || l.info.Get("hasPreviousPage").Bool() {
			t.Errorf("newer: %v %s", l.ids, l.info)
		}
	})
}

func TestAPageHasTwentyUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		hub := w.person(t)
		author := w.person(t)
		hub.follow(t, author)
		for _, p := range w.persons(t, 101) {
			p.follow(t, hub)
			author.publish(t, "blog")
		}
		doc := `query($n: Int) { followFeed%[1]s { nodes { id } } viewer { followers%[1]s { nodes { id } } } node(id: "` + author.gid + `") { ... on User { blogs%[1]s { nodes { id } } } } }`
		for args, want := range map[string]int64{"": 20, "(first: null)": 20, "(first: $n)": 20, "(first: 100)": 100, "(first: 0)": 0} {
			d := hub.Do(t, strings.Replace(fmt.Sprintf(doc, args), "($n: Int)", map[bool]string{true: "($n: Int)"}[args == "(first: $n)"], 1), nil).Data()
			if d.Get("followFeed.nodes.#").Int() != want || d.Get("viewer.followers.nodes.#").Int() != want || d.Get("node.blogs.nodes.#").Int() != want {
				t.Errorf("%q: %d, %d and %d, want %d", args, d.Get("followFeed.nodes.#").Int(), d.Get("viewer.followers.nodes.#").Int(), d.Get("node.blogs.nodes.#").Int(), want)
			}
		}
	})
}

func TestNodesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		blog := u[0].publish(t, "blog")
		unknown := social.GlobalID(social.UserNode, 5)
		ids := []string{u[1].gid, blog, unknown, u[0].gid, u[1].gid, social.GlobalID(social.BlogNode, 5)}
		d := w.nobody().OK(t, `query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } none: nodes(ids: []) { id } }`, map[string]any{"ids": ids})
		node := func(kind, id string) string { return `{"__typename":"` + kind + `","id":"` + id + `"}` }
		want := `{"nodes":[` + strings.Join([]string{
			node("User", u[1].gid), node("Blog", blog), "null", node("User", u[0].gid), node("User", u[1].gid), "null",
		}, ",") + `],"none":[]}`
		if d.Raw != want {
			t.Errorf("got %s\nwant %s", d.Raw, want)
		}
		// What is no id is told in its place, and the others stand.
		a := w.nobody().Do(t, `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, map[string]any{"ids": []string{u[0].gid, "what", blog}})
		wantError(t, a, social.BadUserInput, "ids")
		if want := `{"nodes":[{"id":"` + u[0].gid + `"},null,{"id":"` + blog + `"}]}`; a.Data().Raw != want || gjson.Get(a.Body, "errors.0.path").Raw != `["nodes",1]` {
			t.Errorf("answered %s, want %s", a.Body, want)
		}
		for spelling, found := range map[string]bool{"u1_test": true, "U1_TEST": true, "u1_Test": true, "nobody_here": false} {
			got := w.nobody().OK(t, `query($h: String!) { user(handle: $h) { id handle } }`, map[string]any{"h": spelling}).Get("user")
			if want := `{"id":"` + u[0].gid + `","handle":"u1_test"}`; found && got.Raw != want || !found && got.Type != gjson.Null {
				t.Errorf("%s: %s", spelling, got)
			}
		}
		if v := u[1].OK(t, `{ viewer { id handle name bio avatarUrl } }`, nil).Get("viewer"); v.Raw != `{"id":"`+u[1].gid+`","handle":"u2_test","name":"User 2","bio":"","avatarUrl":null}` {
			t.Errorf("the viewer is %s", v)
		}
	})
}
