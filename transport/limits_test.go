package transport

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// leaves are n fields of a User, names taken in turn.
func leaves(n int) string {
	names := strings.Fields("id handle name bio avatarUrl createdAt followerCount followingCount blogCount viewerIsFollowing isMutual viewerCanFollow")
	var b strings.Builder
	for i := range n {
		b.WriteString(names[i%len(names)] + " ")
	}
	return b.String()
}

// times writes format n times, with the index.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// nested is a query whose fields are n deep, n even.
func nested(n int) string {
	return "{viewer{" + strings.Repeat("followers(first: 1){nodes{", n/2-1) + "id" + strings.Repeat("}}", n/2-1) + "}}"
}

func typeChain(n int) string {
	return "{__schema{types{fields{type{" + strings.Repeat("ofType{", n-5) + "name" + strings.Repeat("}", n-5) + "}}}}}"
}

// chain is n fields in the last of m fragments that spread each other, and e fields
// beside them: 1+e+n fields, 1+e+n+m*n walked.
func chain(e, n, m int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{viewer{%s...f1}}", leaves(e))
	for i := 1; i < m; i++ {
		fmt.Fprintf(&b, " fragment f%d on User{...f%d}", i, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on User{%s}", m, leaves(n))
	return b.String()
}

func TestEveryLimitIsExact(t *testing.T) {
	padded := func(n int) string { return nameQuery + strings.Repeat(" ", n-len(nameQuery)) }
	for name, test := range map[string]struct{ at, above string }{
		"text of 32 KiB":        {padded(32 << 10), padded(32<<10 + 1)},
		"2,000 tokens":          {"{viewer{id}}" + strings.Repeat("#\n", 1994), "{viewer{id}}" + strings.Repeat("#\n", 1995)},
		"12 levels":             {nested(12), strings.Replace(nested(12), "id", "pageInfo{hasNextPage}", 1)},
		"12 levels by fragment": {"{...q} fragment q on Query " + nested(12), "{...q} fragment q on Query " + nested(14)},
		"20 of introspection":   {typeChain(20), typeChain(21)},
		"30 aliases":            {"{viewer{" + times(30, "a%d: id ") + "}}", "{viewer{" + times(31, "a%d: id ") + "}}"},
		"30 aliases by fragments": {
			"{viewer{...f followers(first: 1){nodes{...f}}}} fragment f on User{" + times(15, "a%d: id ") + "}",
			"{b: viewer{...f followers(first: 1){nodes{...f}}}} fragment f on User{" + times(15, "a%d: id ") + "}"},
		"20 root fields":      {"{" + strings.Repeat("viewer{id} ", 20) + "}", "{" + strings.Repeat("viewer{id} ", 21) + "}"},
		"20 by fragments":     {"{...{...f} ...f} fragment f on Query{" + strings.Repeat("viewer{id} ", 10) + "}", "{...{...f __typename} ...f} fragment f on Query{" + strings.Repeat("viewer{id} ", 10) + "}"},
		"50 directives":       {"{viewer{" + strings.Repeat("id @skip(if: false) ", 50) + "}}", "{viewer{" + strings.Repeat("id @skip(if: false) ", 51) + "}}"},
		"500 fields":          {"{viewer{" + leaves(499) + "}}", "{viewer{" + leaves(500) + "}}"},
		"2,000 fields walked": {chain(19, 99, 19), chain(20, 99, 19)},
		"20,000 pairs":        {"{viewer{" + strings.Repeat("id ", 200) + "}}", "{viewer{" + strings.Repeat("id ", 201) + "}}"},
		"5,000 nodes": {
			"{viewer{followers(first: 100){nodes{followers(first: 49){nodes{id}}}}}}",
			"{viewer{followers(first: 100){nodes{followers(first: 49){nodes{id}}}}} nodes(ids: [\"a\"]){id}}"},
		"300 entries of introspection": {
			"{__schema{" + times(7, "a%d: directives{args{defaultValue}} ") + "directives{name}}}",
			"{__schema{" + times(7, "a%d: directives{args{defaultValue}} ") + "directives{name} types{name}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			at := e.post(t, test.at, nil)
			if at.status != 200 || at.Data == nil {
				t.Errorf("at the limit: %s", at.raw)
			}
			above := e.post(t, test.above, nil)
			if above.status != 400 || above.code() != "QUERY_TOO_COMPLEX" || above.Data != nil {
				t.Errorf("above the limit: %d %.300s", above.status, above.raw)
			}
		})
	}
}

func TestFieldsOfAllOperationsCountTogether(t *testing.T) {
	documents := newDocuments(newEdge(&fake{}).schema(), true)
	for n, want := range map[int]int{498: 0, 499: 1} {
		_, errs := documents.of("query a {__typename} query b {viewer{" + leaves(n) + "}}")
		if len(errs) != want {
			t.Errorf("%d fields: %v", n+2, errs)
		}
	}
}

func TestTheIntrospectionQueryOfToolsPasses(t *testing.T) {
	query, err := os.ReadFile("testdata/introspection.graphql")
	if err != nil {
		t.Fatal(err)
	}
	if a := newEdge(&fake{}).post(t, string(query), nil); a.status != 200 || len(a.Errors) > 0 {
		t.Errorf("%d %.300s", a.status, a.raw)
	}
}

func TestIntrospectionOffRefusesItAndSuggestsNothing(t *testing.T) {
	e := newEdge(&fake{}, func(c *Config) { c.Introspection = false })
	for _, query := range []string{`{__schema{description}}`, `{...f} fragment f on Query{__type(name: "User"){name}}`, `{viewer{handl}}`, `{user(handel: "a", handle: "b"){id}}`, `{viewers{id}}`} {
		a := e.post(t, query, nil)
		if a.status != 400 || a.code() != "BAD_USER_INPUT" || strings.Contains(a.raw, "Did you mean") {
			t.Errorf("%s: %d %s", query, a.status, a.raw)
		}
	}
	if a := e.post(t, `{__typename viewer{__typename}}`, nil); a.status != 200 {
		t.Errorf("__typename: %s", a.raw)
	}
	if a := newEdge(&fake{}).post(t, `{viewer{handl}}`, nil); !strings.Contains(a.raw, "Did you mean") {
		t.Errorf("with introspection: %s", a.raw)
	}
}
