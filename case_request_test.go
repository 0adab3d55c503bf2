package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
)

// GQL-1
func TestEachMutationOfARequestSeesTheOnesBefore(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		d := u[0].OK(t, `mutation($u: ID!) {
			a: follow(input: {userId: $u}) { ...both } b: unfollow(input: {userId: $u}) { ...unfollowed } c: follow(input: {userId: $u}) { ...both } }
			fragment both on FollowPayload { user { viewerIsFollowing viewerCanFollow followerCount followers { totalCount nodes { id } } } viewer { followingCount following { nodes { id } } } }
			fragment unfollowed on FollowPayload { ...both }`, map[string]any{"u": u[1].gid})
		for alias, n := range map[string]int64{"a": 1, "b": 0, "c": 1} {
			p := d.Get(alias)
			if p.Get("user.viewerIsFollowing").Bool() != (n == 1) || p.Get("user.viewerCanFollow").Bool() != (n == 0) ||
				p.Get("user.followerCount").Int() != n || p.Get("user.followers.totalCount").Int() != n ||
				p.Get("user.followers.nodes.#").Int() != n || p.Get("viewer.followingCount").Int() != n ||
				p.Get("viewer.following.nodes.#").Int() != n {
				t.Errorf("%s: %s", alias, p)
			}
		}
		d = u[0].OK(t, `mutation {
			a: updateProfile(input: {name: "One"}) { user { name } viewer { name } } b: updateProfile(input: {name: "Two"}) { user { name } viewer { name } }
			c: publishBlog(input: {title: "t", content: "c"}) { blog { author { name } } viewer { blogCount blogs { nodes { title } } } }
			d: publishBlog(input: {title: "u", content: "c"}) { viewer { blogCount blogs { nodes { title } } } } }`, nil)
		want := `{"a":{"user":{"name":"One"},"viewer":{"name":"One"}},"b":{"user":{"name":"Two"},"viewer":{"name":"Two"}},` +
			`"c":{"blog":{"author":{"name":"Two"}},"viewer":{"blogCount":1,"blogs":{"nodes":[{"title":"t"}]}}},` +
			`"d":{"viewer":{"blogCount":2,"blogs":{"nodes":[{"title":"u"},{"title":"t"}]}}}}`
		if d.Raw != want {
			t.Errorf("got %s\nwant %s", d.Raw, want)
		}
	})
}

// GQL-3
func TestMutationsOfOneOperationRunInOrder(t *testing.T) {
	t.Parallel()
	const runs = 100
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 15)
		for run := range runs {
			me, target := u[run/10], u[(run/10+1+run%10)%15]
			base := counts(t, me.Client, target.gid)[0]
			d := me.OK(t, `mutation($u: ID!) { a: follow(input: {userId: $u}) { ...p } b: unfollow(input: {userId: $u}) { ...p } c: follow(input: {userId: $u}) { ...p } }
				fragment p on FollowPayload { state changed user { viewerIsFollowing followerCount } }`, map[string]any{"u": target.gid})
			want := fmt.Sprintf(`{"a":%[1]s,"b":%[2]s,"c":%[1]s}`,
				fmt.Sprintf(`{"state":"FOLLOWING","changed":true,"user":{"viewerIsFollowing":true,"followerCount":%d}}`, base+1),
				fmt.Sprintf(`{"state":"NONE","changed":true,"user":{"viewerIsFollowing":false,"followerCount":%d}}`, base))
			if d.Raw != want {
				t.Fatalf("run %d: got %s\nwant %s", run, d.Raw, want)
			}
			if got := counts(t, me.Client, target.gid)[0]; got != base+1 {
				t.Errorf("run %d: %d followers, want %d", run, got, base+1)
			}
		}
	})
}

func TestAFailedMutationLeavesTheOthersOfItsRequest(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		a := u[0].Do(t, `mutation($me: ID!, $u: ID!) {
			a: follow(input: {userId: $me}) { state } b: follow(input: {userId: $u}) { changed user { viewerIsFollowing } }
			c: publishBlog(input: {title: "", content: "c"}) { blog { id } } d: publishBlog(input: {title: "t", content: "c"}) { blog { title } }
			e: deleteBlog(input: {blogId: $u}) { deletedBlogId } f: updateProfile(input: {bio: "new"}) { user { bio } }
		}`, map[string]any{"me": u[0].gid, "u": u[1].gid})
		want := `{"a":null,"b":{"changed":true,"user":{"viewerIsFollowing":true}},"c":null,"d":{"blog":{"title":"t"}},"e":null,"f":{"user":{"bio":"new"}}}`
		if a.Status != 200 || a.Data().Raw != want {
			t.Errorf("answered %d: %s\nwant %s", a.Status, a.Body, want)
		}
		type told struct{ path, code, field string }
		var got []told
		for _, e := range gjson.Get(a.Body, "errors").Array() {
			got = append(got, told{e.Get("path").Raw, e.Get("extensions.code").String(), e.Get("extensions.field").String()})
		}
		wantErrors := []told{{`["a"]`, "BAD_USER_INPUT", "userId"}, {`["c"]`, "BAD_USER_INPUT", "title"}, {`["e"]`, "BAD_USER_INPUT", "blogId"}}
		if fmt.Sprint(got) != fmt.Sprint(wantErrors) {
			t.Errorf("errors %v, want %v", got, wantErrors)
		}
		if !u[0].OK(t, `query($u: ID!) { node(id: $u) { ... on User { viewerIsFollowing } } }`, map[string]any{"u": u[1].gid}).Get("node.viewerIsFollowing").Bool() {
			t.Error("the follow beside the failures did not stand")
		}
		if got := counts(t, u[0].Client, u[0].gid); got != [3]int64{0, 1, 1} {
			t.Errorf("counts are %v", got)
		}
	})
}

// SEC-1
func TestMutationsComeByNoSimpleRequest(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		mutation := `mutation M { follow(input: {userId: "` + u[1].gid + `"}) { state } }`
		two := `query Q { viewer { id } } ` + mutation
		get := func(query, operation string) *http.Request {
			v := url.Values{"query": {query}}
			if operation != "" {
				v.Set("operationName", operation)
			}
			return httptest.NewRequest(http.MethodGet, "/graphql?"+v.Encode(), nil)
		}
		for _, r := range []*http.Request{get(mutation, ""), get(mutation, "M"), get(two, "M")} {
			if a := u[0].Send(r, ""); a.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s answered %d: %s", r.URL, a.Status, a.Body)
			}
		}
		for _, r := range []*http.Request{get(`{ viewer { id } }`, ""), get(two, "Q")} {
			if a := u[0].Send(r, ""); a.Status != 200 || a.Data().Get("viewer.id").String() != u[0].gid {
				t.Errorf("%s answered %d: %s", r.URL, a.Status, a.Body)
			}
		}
		body := `{"query": ` + quoted(mutation) + `}`
		form := url.Values{"query": {mutation}}.Encode()
		for contentType, body := range map[string]string{
			"text/plain": body, "text/plain; charset=utf-8": body, "": body, "application/graphql": mutation,
			"application/x-www-form-urlencoded": form, "multipart/form-data; boundary=x": "--x\r\nContent-Disposition: form-data; name=\"query\"\r\n\r\n" + mutation + "\r\n--x--\r\n",
		} {
			a := u[0].Send(httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body)), contentType)
			if a.Status < 400 || a.Status >= 500 {
				t.Errorf("%q answered %d: %s", contentType, a.Status, a.Body)
			}
			// The query in the address does not help the body.
			a = u[0].Send(httptest.NewRequest(http.MethodPost, "/graphql?"+form, strings.NewReader(body)), contentType)
			if a.Status < 400 || a.Status >= 500 {
				t.Errorf("%q with an address answered %d: %s", contentType, a.Status, a.Body)
			}
		}
		n := u[0].OK(t, `query($u: ID!) { node(id: $u) { ... on User { viewerIsFollowing followerCount } } }`, map[string]any{"u": u[1].gid})
		if n.Get("node").Raw != `{"viewerIsFollowing":false,"followerCount":0}` {
			t.Errorf("a follow came through: %s", n)
		}
		if got := w.takeEvents(t, social.FollowEvent); len(got) != 0 {
			t.Errorf("events %v", got)
		}
	})
}
