package transport

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// written is a query whose answer has at most 49,902+n fields, in 5,000 entries.
func written(n int) string {
	ids := func(n int) string { return strings.Repeat("id ", n) }
	return `{viewer{followers(first: 100){nodes{followers(first: 49){nodes{` + ids(9) + `}} ` + ids(7) + `}} ` + leaves(n) + `}}`
}

// text is a query whose answer has at most n bytes of text: those of 419 blogs, and a key.
func text(n int, first, content string) string {
	page := func(alias, first string) string {
		return alias + ": blogs(first: " + first + "){nodes{" + content + "}} "
	}
	n -= len("user") + 5*len("p0") + 419*(len("nodes")+len("content")+40_000) + otherBytes
	return `{user(handle: "x"){` + page("p0", first) + page("p1", first) + page("p2", first) + page("p3", first) + page("p4", "19") +
		strings.Repeat("k", n) + `: id}}`
}

func TestLimitsOfTheAnswerAreExact(t *testing.T) {
	const most = 16 << 20
	for name, test := range map[string]struct {
		at, above string
		variables map[string]any
		values    int
		message   string
	}{
		"50,000 fields": {written(98), written(99), nil, 50_000, "the query has 50001 fields in its answer; 50000 are allowed"},
		"50,000 by a fragment": {
			strings.ReplaceAll(written(98), "nodes{id id id id id id id id id }", "nodes{...f}") + " fragment f on User{" + strings.Repeat("id ", 9) + "}",
			strings.ReplaceAll(written(99), "nodes{id id id id id id id id id }", "nodes{...f}") + " fragment f on User{" + strings.Repeat("id ", 9) + "}",
			nil, 50_000, "50001 fields"},
		"50,000 by variables": {
			"query($n: Int, $m: Int = 49)" + strings.NewReplacer("100", "$n", "49", "$m").Replace(written(98)),
			"query($n: Int, $m: Int = 49)" + strings.NewReplacer("100", "$n", "49", "$m").Replace(written(99)),
			map[string]any{"n": 100}, 50_000, "50001 fields"},
		"50,000 with some left out": {
			strings.Replace(written(98), "nodes{id", "nodes{id @include(if: false)", 1),
			strings.Replace(written(99), "nodes{id", "nodes{id @skip(if: true)", 1),
			nil, 50_000, "50001 fields"},
		"16 MiB": {text(most, "100", "content"), text(most+1, "100", "content"), nil, 0, "the query has 16777217 bytes of text in its answer; 16777216 are allowed"},
		"16 MiB by a fragment": {
			text(most, "100", "...f") + " fragment f on Blog{content}", text(most+1, "100", "...f") + " fragment f on Blog{content}",
			nil, 0, "16777217 bytes"},
		"16 MiB by variables": {
			"query($n: Int)" + text(most, "$n", "content"), "query($n: Int)" + text(most+1, "$n", "content"),
			map[string]any{"n": 100}, 0, "16777217 bytes"},
		"16 MiB with some left out": {
			text(most, "100", "content @include(if: false)"), text(most+1, "100", "...@skip(if: true){content}"),
			nil, 0, "16777217 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			at := e.post(t, test.at, test.variables)
			if at.status != 200 || at.Data == nil {
				t.Fatalf("at the limit: %d %.300s", at.status, at.raw)
			}
			if c := at.Extensions.Cost; test.values != 0 && c.Values != test.values || test.values == 0 && c.Bytes != most {
				t.Errorf("at the limit: %+v", c)
			}
			calls := e.fake.calls.Load()
			above := e.post(t, test.above, test.variables)
			if above.status != 400 || above.code() != "QUERY_TOO_COMPLEX" || !strings.Contains(above.Errors[0].Message, test.message) || e.fake.calls.Load() != calls {
				t.Errorf("above the limit: %d %.300s", above.status, above.raw)
			}
		})
	}
}

func TestPagesWithAllThereIsToKnowPass(t *testing.T) {
	const blog = `id title content imageUrls createdAt author{id handle name bio avatarUrl createdAt viewerIsFollowing}`
	for _, query := range []string{
		`{followFeed(first: 100){edges{cursor node{` + blog + `}} pageInfo{hasNextPage endCursor}}}`,
		`{user(handle: "x"){name bio avatarUrl blogs(first: 100){nodes{` + blog + `} pageInfo{hasNextPage endCursor}}}}`,
	} {
		a := newEdge(&fake{content: "x"}).post(t, query, nil)
		if c := a.Extensions.Cost; a.status != 200 || c == nil || c.Bytes < 6_300_000 || c.Bytes > 6_700_000 || c.Nodes != 100 {
			t.Errorf("%d %+v %.300s", a.status, c, a.raw)
		}
	}
}

func TestSizesAreCountedWithoutOverflow(t *testing.T) {
	s := size{nodes: plenty, values: plenty, bytes: plenty, introspected: plenty}
	if got := s.and(s).times(plenty); got != s {
		t.Errorf("%+v", got)
	}
	// Each list is 100 times the one around it: 100^5 entries of 10^8 bytes.
	deep := "{viewer{" + strings.Repeat("followers(first: 100){nodes{", 5) + times(20, "a%d: bio ") + strings.Repeat("}}", 5) + "}}"
	a := newEdge(&fake{}).post(t, deep, nil)
	if a.status != 400 || a.code() != "QUERY_TOO_COMPLEX" || !strings.Contains(a.raw, "countless") {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// TestEveryTextHasItsLength fails when the schema gains a field whose text nobody bounded.
func TestEveryTextHasItsLength(t *testing.T) {
	short := []string{"Boolean", "DateTime", "Float", "ID", "Int"}
	unused := maps.Clone(textBytes)
	schema := newEdge(&fake{}).schema()
	for _, def := range schema.Types {
		if def.BuiltIn || !def.IsCompositeType() {
			continue
		}
		for _, f := range def.Fields {
			of := schema.Types[f.Type.Name()]
			if !of.IsLeafType() {
				continue
			}
			name := def.Name + "." + f.Name
			_, named := textBytes[name]
			delete(unused, name)
			isShort := f.Type.Elem == nil && (of.Kind == ast.Enum || slices.Contains(short, of.Name))
			if !named && !isShort && !strings.HasPrefix(f.Name, "__") {
				t.Errorf("%s gives text: say in textBytes how long it may be", name)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s is in textBytes and not in the schema", name)
	}
}

// TestEveryListIsCounted fails when the schema gains a list that [counter.entries] takes
// for one value: neither made from a list, nor in a connection that is read in pages.
func TestEveryListIsCounted(t *testing.T) {
	schema := newEdge(&fake{}).schema()
	takes := func(f *ast.FieldDefinition, ok func(*ast.ArgumentDefinition) bool) bool {
		return slices.ContainsFunc(f.Arguments, ok)
	}
	isPage := func(a *ast.ArgumentDefinition) bool { return a.Name == "first" || a.Name == "last" }
	isList := func(a *ast.ArgumentDefinition) bool { return a.Type.Elem != nil }
	for _, def := range schema.Types {
		if def.BuiltIn || !def.IsCompositeType() {
			continue
		}
		for _, f := range def.Fields {
			name := fmt.Sprintf("%s.%s", def.Name, f.Name)
			if strings.HasSuffix(f.Type.Name(), "Connection") && !takes(f, isPage) {
				t.Errorf("%s gives a connection without first or last", name)
			}
			if f.Type.Elem != nil && schema.Types[f.Type.Name()].IsCompositeType() &&
				!takes(f, isPage) && !takes(f, isList) && listBounds[name] == 0 && !strings.HasSuffix(def.Name, "Connection") {
				t.Errorf("%s is a list of any length", name)
			}
		}
	}
}
