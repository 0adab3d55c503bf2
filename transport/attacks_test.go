package transport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// SEC-2, and the attacks of GRAPHQL.md with those found since.
func TestAttacksAreRefusedBeforeExecution(t *testing.T) {
	for name, query := range map[string]string{
		"3,000 aliases":             "{" + times(3000, "a%d: user(handle: \"a\"){followerCount} ") + "}",
		"100 aliased mutations":     "mutation {" + times(100, "a%d: follow(input: {userId: \"a\"}){userId} ") + "}",
		"100 unaliased duplicates":  "mutation {" + strings.Repeat("follow(input: {userId: \"a\"}){userId} ", 100) + "}",
		"500 aliased __schema":      "{" + times(500, "a%d: __schema{description} ") + "}",
		"25 aliased __schema":       "{" + times(25, "a%d: __schema{description} ") + "}",
		"26 nested fragments":       doubling(26),
		"200 nested fragments":      doubling(150),
		"5,000 inline fragments":    "{" + strings.Repeat("...{__typename}", 5000) + "}",
		"5,000 unknown directives":  "{viewer" + strings.Repeat(" @a", 5000) + "{id}}",
		"600 unknown directives":    "{viewer" + strings.Repeat(" @a", 600) + "{id}}",
		"480 fields of one name":    "{viewer{" + strings.Repeat("id ", 480) + "}}",
		"the same in inline ones":   "{viewer{" + strings.Repeat("...{", 100) + strings.Repeat("id ", 60) + strings.Repeat("}", 100) + "}}",
		"one name below one name":   "{viewer{" + strings.Repeat("followers(first: 1){nodes{id id id id}} ", 40) + "}}",
		"fragments walked again":    chain(0, 100, 30),
		"introspection many times":  "{" + times(15, "a%d: __schema{types{fields{type{fields{type{name}}}}}} ") + "}",
		"gigabytes of content":      manyBlogs(times(29, "a%d: content ")),
		"192 MB of content":         manyBlogs("content"),
		"by inline fragments":       manyBlogs("... on Blog{...{content}} ... on Node{... on Blog{content}}"),
		"by a fragment":             manyBlogs("...f") + " fragment f on Blog{" + times(29, "a%d: content ") + "}",
		"by fragments of fragments": manyBlogs("...f") + " fragment f on Blog{...g} fragment g on Blog{content}",
		"content left out":          manyBlogs("content @include(if: false)"),
		"megabytes of keys":         manyBlogs(strings.Repeat("k", 4000) + ": id"),
		"keys of objects":           manyBlogs(strings.Repeat("k", 4000) + ": author{id}"),
		"139,000 lists of nothing":  manyBlogs("id author{" + times(29, "a%d: followers(first: 0){totalCount} ") + "}"),
		"9,600 lists of nothing":    manyBlogs("author{followers(first: 0){totalCount} blogs(first: 0){nodes{id}}}"),
		"nodes of no ids":           "{" + times(20, "a%d: nodes(ids: []){... on User{followers(first: 100){nodes{followers(first: 3){totalCount}}}}} ") + "}",
		"1,000 lists in each other": "{viewer" + strings.Repeat("{...", 1100) + "{id}" + strings.Repeat("}", 1100) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			a := e.post(t, query, nil)
			if a.status != 400 || a.code() != "QUERY_TOO_COMPLEX" || len(a.raw) > 500 {
				t.Errorf("%d %.300s", a.status, a.raw)
			}
			if e.fake.calls.Load() != 0 {
				t.Error("a resolver ran")
			}
		})
	}
}

// manyBlogs is 4,800 times the fields of a blog.
func manyBlogs(fields string) string {
	return `{user(handle: "x"){blogs(first: 100){nodes{author{blogs(first: 48){nodes{` + fields + `}}}}}}}`
}

// doubling is n fragments, each of which spreads the next one twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("{viewer{...f0}}")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on User{...f%d ...f%d}", i, i+1, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on User{id}", n)
	return b.String()
}

func TestFragmentsAreMeasuredOnce(t *testing.T) {
	for _, n := range []int{1, 26, 120} {
		doc, err := parser.ParseQuery(&ast.Source{Input: doubling(n)})
		if err != nil {
			t.Fatal(err)
		}
		m := newMeter(doc)
		s := m.set(doc.Operations[0].SelectionSet)
		if want := 2*n + 3; m.visits != want {
			t.Errorf("%d fragments: %d visits, want %d", n, m.visits, want)
		}
		if s.fields < min(1<<n, plenty) {
			t.Errorf("%d fragments: %d fields", n, s.fields)
		}
	}
}

func TestCyclesOfFragmentsAreInvalid(t *testing.T) {
	for _, query := range []string{
		`{viewer{...a}} fragment a on User{...a}`,
		`{viewer{...a}} fragment a on User{followers{nodes{...b}} ...b} fragment b on User{id ...a}`,
	} {
		a := newEdge(&fake{}).post(t, query, nil)
		if a.status != 400 || a.Errors[0].Extensions["code"] != "BAD_USER_INPUT" {
			t.Errorf("%s: %d %s", query, a.status, a.raw)
		}
	}
}

func TestDeferredFieldsComeWithTheOthers(t *testing.T) {
	for _, query := range []string{
		`{viewer{id ...@defer(label: "x"){handle} ...f @defer}} fragment f on User{name followers(first: 1){...@defer{nodes{...g @defer}}}} fragment g on User{bio}`,
		`query($d: Boolean!){viewer{id ...f @defer(if: $d)}} fragment f on User{handle name followers(first: 1){nodes{bio}}}`,
	} {
		a := newEdge(&fake{}).post(t, query, map[string]any{"d": true})
		viewer, _ := a.Data["viewer"].(map[string]any)
		if len(a.Errors) > 0 || viewer["handle"] != "viewer" || viewer["name"] == nil || strings.Contains(a.raw, "hasNext") || !strings.Contains(a.raw, `"bio"`) {
			t.Errorf("%s", a.raw)
		}
	}
}
