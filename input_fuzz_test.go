package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kith/socialtest"
)

// FuzzGraphQLBody: whatever the body, the answer is JSON and no fault of the server.
func FuzzGraphQLBody(f *testing.F) {
	w := newWorld(f, socialtest.NewSQLite(f))
	me, other := w.person(f), w.person(f)
	me.follow(f, other)
	blog := other.publish(f, "blog")
	cursor := me.feed(f, 1, "").end
	for _, document := range []string{
		`{ viewer { id handle name bio avatarUrl createdAt followerCount blogs(first: 2) { nodes { title } } } }`,
		`{ followFeed(first: 2, after: "` + cursor + `") { edges { cursor node { id author { isMutual } } } pageInfo { endCursor } } }`,
		`{ followFeed(last: 1, before: "` + cursor + `") { nodes { __typename ...on Blog @include(if: true) { id } } } }`,
		`{ nodes(ids: ["` + blog + `", "` + me.gid + `", ""]) { id } }`,
		`mutation { a: follow(input: {userId: "` + other.gid + `"}) { changed } b: unfollow(input: {userId: "` + other.gid + `"}) { state } }`,
		`mutation { publishBlog(input: {title: "t\u0000", content: """c""", imageUrls: "https://example.com", idempotencyKey: "k"}) { blog { id } } }`,
		`mutation { updateProfile(input: {name: "\ud83e\udd86", bio: null, avatarUrl: null}) { user { name } } }`,
		`mutation { deleteBlog(input: {blogId: "` + blog + `"}) { deletedBlogId } signIn(input: {handle: "u1_test", password: "password"}) { token } }`,
		`query($n: Int = 9223372036854775808, $a: [String!]! = []) { followFeed(first: $n) { nodes { id } } }`,
		`query a { viewer { ...b } } fragment b on User { followers { nodes { ...b } } }`,
		`{ __schema { types { name } } __type(name: "User") { name } }`, `subscription { x }`, `{`, `"`, `#`, ``,
	} {
		f.Add(`{"query": ` + quoted(document) + `}`)
	}
	for _, body := range []string{
		`{"query": "query($u: ID!) { node(id: $u) { id } }", "variables": {"u": 1e400}}`,
		`{"query": "query($n: Int) { viewer { followers(first: $n) { totalCount } } }", "variables": {"n": -1.5e300}, "operationName": null}`,
		`{"query": "mutation($i: PublishBlogInput!) { publishBlog(input: $i) { blog { id } } }", "variables": {"i": {"title": "t", "content": "c", "imageUrls": [null]}}}`,
		`[{"query": "{ viewer { id } }"}]`, `{"query": "{ viewer { id } }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0"}}}`,
		"{\"query\": \"{ user(handle: \\\"a\xc3(\\\") { id } }\"}", `{"query": "\ud800"}`, `null`, ``, `{"query": 1}`, "\x00", strings.Repeat("[", 10_000),
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		w.Clock.Advance(time.Millisecond) // or this millisecond's ids run out
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		if a := me.Send(r, "application/json"); a.Status >= 500 || !json.Valid([]byte(a.Body)) || strings.Contains(a.Body, "INTERNAL") {
			t.Errorf("%q answered %d: %q", body, a.Status, a.Body)
		}
	})
}
