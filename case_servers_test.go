package main

import (
	"fmt"
	"testing"
	"time"

	"kith/socialtest"
)

// Every mutation through one server is seen at once through another.
func TestWritesAreReadThroughAnotherServer(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	w := newWorld(t, s)
	servers := []*server{w.server, wiredServer(t, s, 3)}
	var author person
	for round := range 6 {
		a, b := servers[round%2], servers[(round+1)%2]
		signed := socialtest.Client{Handler: a.handler}.OK(t, `mutation($h: String!) { signUp(input: {handle: $h, name: "Name", password: "password"}) { token user { id } } }`,
			map[string]any{"h": fmt.Sprintf("reads_%d", round)}).Get("signUp")
		me := person{Client: socialtest.Client{Handler: a.handler, Token: signed.Get("token").String()}, gid: signed.Get("user.id").String()}
		if round == 0 {
			author = me
			continue
		}
		author := author.at(b)
		seen := func(what, query, want string) {
			t.Helper()
			got := me.at(b).OK(t, query, map[string]any{"u": author.gid, "h": fmt.Sprintf("reads_%d", round)})
			if got.Raw != want {
				t.Errorf("round %d, after %s: %s\nwant %s", round, what, got.Raw, want)
			}
		}
		seen("signUp", `query($h: String!) { viewer { id } user(handle: $h) { id } }`, `{"viewer":{"id":"`+me.gid+`"},"user":{"id":"`+me.gid+`"}}`)
		socialtest.Client{Handler: b.handler}.OK(t, `mutation($h: String!) { signIn(input: {handle: $h, password: "password"}) { token } }`, map[string]any{"h": fmt.Sprintf("reads_%d", round)})

		me.OK(t, `mutation { updateProfile(input: {name: "New", bio: "Bio", avatarUrl: "https://example.com/a"}) { userId } }`, nil)
		seen("updateProfile", `{ viewer { name bio avatarUrl } }`, `{"viewer":{"name":"New","bio":"Bio","avatarUrl":"https://example.com/a"}}`)

		w.Clock.Advance(time.Millisecond) // two servers' blogs of one millisecond have no order
		author.publish(t, "by the author")
		const relation = `query($u: ID!) { viewer { followingCount following { totalCount nodes { id } } } node(id: $u) { ... on User { viewerIsFollowing followers(first: 1) { nodes { handle } } } } followFeed(first: 1) { nodes { title } } }`
		me.OK(t, followDoc, map[string]any{"u": author.gid})
		seen("follow", relation, fmt.Sprintf(`{"viewer":{"followingCount":1,"following":{"totalCount":1,"nodes":[{"id":"%s"}]}},"node":{"viewerIsFollowing":true,"followers":{"nodes":[{"handle":"reads_%d"}]}},"followFeed":{"nodes":[{"title":"by the author"}]}}`, author.gid, round))
		w.Clock.Advance(time.Millisecond)
		author.publish(t, "newer")
		seen("another's publishBlog", `{ followFeed(first: 1) { nodes { title } } }`, `{"followFeed":{"nodes":[{"title":"newer"}]}}`)
		me.OK(t, unfollowDoc, map[string]any{"u": author.gid})
		seen("unfollow", relation, `{"viewer":{"followingCount":0,"following":{"totalCount":0,"nodes":[]}},"node":{"viewerIsFollowing":false,"followers":{"nodes":[]}},"followFeed":{"nodes":[]}}`)

		blog := me.publish(t, "mine")
		const mine = `{ viewer { blogCount blogs { nodes { title } } } }`
		seen("publishBlog", mine, `{"viewer":{"blogCount":1,"blogs":{"nodes":[{"title":"mine"}]}}}`)
		me.delete(t, blog)
		seen("deleteBlog", mine, `{"viewer":{"blogCount":0,"blogs":{"nodes":[]}}}`)
	}
}
