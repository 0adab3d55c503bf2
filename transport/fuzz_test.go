package transport

import (
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
)

// FuzzPost sends any body: the answer is valid JSON and never a failure of the server.
func FuzzPost(f *testing.F) {
	introspection, err := os.ReadFile("testdata/introspection.graphql")
	if err != nil {
		f.Fatal(err)
	}
	for _, query := range []string{
		nameQuery, followMutation, userQuery, string(introspection), doubling(26), chain(3, 4, 3),
		`query($n: Int = 3, $b: Boolean = true){viewer{...f @defer(if: $b) @skip(if: $b)}} fragment f on User{followers(first: $n){edges{node{id}}}}`,
		`mutation{signUp(input: {handle: "\u0041", name: """b""", password: "c"}){token}}`,
		`{node(id: 1){... on Blog{title}} nodes(ids: [1, "a"]){__typename} __type(name: "User"){fields{name}}}`,
	} {
		f.Add(inJSON(query))
	}
	f.Add(`{"query": "query($input: SignInInput!, $i: [ID!]! = []){nodes(ids: $i){id}}", "variables": {"input": {"handle": 1e3, "password": null}, "i": [[1.0], "\u00e9"]}}`)
	f.Add(`{"query": "query($b: Boolean = true){viewer @include(if: $b){id}}", "variables": {"b": null}}`)
	f.Add(`[{"query": "{__typename}"}]`)
	f.Fuzz(func(t *testing.T, body string) {
		// A panic in a resolver is not 5xx; the log tells.
		e := newEdge(&fake{}, func(c *Config) { c.Viewer = nil })
		a := e.do(t, postRequest(body))
		if a.status >= 500 || strings.Contains(e.log.String(), "stack=") {
			t.Errorf("%d %s\nlog %s", a.status, a.raw, e.log)
		}
		if (a.Data == nil && len(a.Errors) == 0 && !strings.Contains(a.raw, `"data":null`)) || len(a.Errors) > maxErrors {
			t.Errorf("%s", a.raw)
		}
		for _, told := range a.Errors {
			if told.Extensions["code"] == nil || told.Message == "" || len(told.Message) > maxMessage {
				t.Errorf("%v", told)
			}
		}
	})
}

// FuzzLoneSurrogate compares with gqlparser's lexer, which puts U+FFFD for a lone half.
func FuzzLoneSurrogate(f *testing.F) {
	for _, s := range []string{`"\ud800"`, `"\ud800\udc00"`, `"\\ud800"`, `"""\ud800"""`, `#"\ud800`, "#\n\"\\udc00\"", `"\u{41}\uD83C\uDFCA"`, `"\"\ud800"`, `""""\"""\ud8""""`, `"" "\udfff"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Contains(strings.ToLower(text), "fffd") || strings.Contains(text, "\uFFFD") {
			t.Skip()
		}
		want, ok := lexedLone(text)
		if !ok {
			t.Skip()
		}
		if got := loneSurrogate(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}

func lexedLone(text string) (lone, ok bool) {
	l := lexer.New(&ast.Source{Input: text})
	for {
		token, err := l.ReadToken()
		switch {
		case err != nil:
			return false, false
		case token.Kind == lexer.EOF:
			return lone, true
		case token.Kind == lexer.String && strings.Contains(token.Value, "\uFFFD"):
			lone = true
		}
	}
}

// TestDocumentsAreSharedSafely runs the same cached documents at the same time, under
// -race.
func TestDocumentsAreSharedSafely(t *testing.T) {
	e := newEdge(&fake{})
	queries := []string{
		`{viewer{...f ...@defer{bio}}} fragment f on User{id handle followers(first: 3){nodes{name}}}`,
		`query($h: String = "a"){user(handle: $h){...@skip(if: false){id}}}`,
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 5 {
				if a := e.post(t, queries[i%len(queries)], nil); a.status != 200 || len(a.Errors) > 0 {
					t.Errorf("%d %s", a.status, a.raw)
				}
			}
		})
	}
	wg.Wait()
	if n := e.Handler.(*Server).documents.cache.Len(); n != len(queries) {
		t.Errorf("%d documents are kept", n)
	}
}

func TestAThousandDocumentsAreKeptAndNoBadOnes(t *testing.T) {
	d := newDocuments(newEdge(&fake{}).schema(), true)
	for i := range cachedDocuments + 1 {
		if _, errs := d.of("{viewer{id}} #" + strings.Repeat("x", i)); errs != nil {
			t.Fatal(errs)
		}
		_, _ = d.of("{nothing} #" + strings.Repeat("x", i))
	}
	if n := d.cache.Len(); n != 1000 {
		t.Errorf("%d", n)
	}
}
