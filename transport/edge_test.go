package transport

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"

	"kith/graph"
	"kith/social"
)

// edge is a server over a fake, and what it logged.
type edge struct {
	http.Handler
	fake *fake
	log  *strings.Builder
}

// lockedWriter lets resolvers log at the same time.
type lockedWriter struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// newEdge serves f; "good" is the token of person 7.
func newEdge(f *fake, change ...func(*Config)) *edge {
	log := &strings.Builder{}
	cfg := Config{
		Schema: graph.NewExecutableSchema(graph.Config{
			Resolvers:  f,
			Directives: graph.DirectiveRoot{SignedIn: SignedIn},
		}),
		Viewer: func(_ context.Context, token string) (social.ID, error) {
			switch token {
			case "good":
				return 7, nil
			case "ended":
				return 7, social.ErrTokenEnded
			case "unjudged":
				return 7, social.Errorf(social.Unavailable, "the store is away")
			case "broken":
				return 7, errors.New("no such table")
			}
			return 0, social.Errorf(social.Unauthenticated, "the signature of %s is wrong", token)
		},
		Introspection: true,
		Log:           slog.New(slog.NewTextHandler(lockedWriter{new(sync.Mutex), log}, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, c := range change {
		c(&cfg)
	}
	return &edge{New(cfg), f, log}
}

// reply is an answer, read back.
type reply struct {
	status int
	header http.Header
	raw    string
	Errors []struct {
		Message    string
		Path       []any
		Locations  []map[string]int
		Extensions map[string]any
	}
	Data       map[string]any
	Extensions struct{ Cost *cost }
}

// code is that of the only error.
func (r *reply) code() string {
	if len(r.Errors) != 1 {
		return ""
	}
	code, _ := r.Errors[0].Extensions["code"].(string)
	return code
}

func (r *reply) field() any {
	if len(r.Errors) != 1 {
		return nil
	}
	return r.Errors[0].Extensions["field"]
}

func (e *edge) do(t testing.TB, r *http.Request) *reply {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	out := &reply{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if w.Body.Len() == 0 {
		return out
	}
	if !utf8.ValidString(out.raw) {
		t.Fatalf("not UTF-8: %q", out.raw)
	}
	if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
		t.Fatalf("not JSON: %v: %q", err, out.raw)
	}
	return out
}

// post sends a query with variables in the newer media type, as person 7.
func (e *edge) post(t testing.TB, query string, variables map[string]any) *reply {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	r := postRequest(string(body))
	r.Header.Set("Accept", mediaGraphQL)
	r.Header.Set("Authorization", "Bearer good")
	return e.do(t, r)
}

func postRequest(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", mediaJSON)
	return r
}

// schema is the one that edges serve.
func (e *edge) schema() *ast.Schema {
	return graph.NewExecutableSchema(graph.Config{}).Schema()
}
