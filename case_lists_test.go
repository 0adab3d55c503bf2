package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

// at is the same person as a client of another server.
func (p person) at(s *server) person {
	p.Handler = s.handler
	return p
}

// listed is one page of a list.
type listed struct {
	ids, cursors []string
	next         bool
	info         gjson.Result // pageInfo
	total        int64
	edges        []gjson.Result
}

// list reads a page of followers or following of somebody; after is "" for none.
func list(t testing.TB, c socialtest.Client, of, name string, first int, after string) listed {
	t.Helper()
	l := c.OK(t, `query($id: ID!, $n: Int, $a: String) { node(id: $id) { ... on User { `+name+`(first: $n, after: $a) { totalCount
		edges { cursor since node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`,
		map[string]any{"id": of, "n": first, "a": orNull(after)}).Get("node." + name)
	return readList(t, l)
}

// blogsOf reads a page of somebody's blogs.
func blogsOf(t testing.TB, c socialtest.Client, of string, first int, after string) listed {
	t.Helper()
	l := c.OK(t, `query($id: ID!, $n: Int, $a: String) { node(id: $id) { ... on User { blogs(first: $n, after: $a) {
		edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`,
		map[string]any{"id": of, "n": first, "a": orNull(after)}).Get("node.blogs")
	return readList(t, l).checkEnds(t)
}

// readFeed reads a page of the feed by any arguments, written as in GraphQL.
func (p person) readFeed(t testing.TB, args string) listed {
	t.Helper()
	return readList(t, p.OK(t, `{ followFeed`+args+` {
		edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`, nil).Get("followFeed")).checkEnds(t)
}

func readList(t testing.TB, l gjson.Result) listed {
	t.Helper()
	r := listed{
		next: l.Get("pageInfo.hasNextPage").Bool(), info: l.Get("pageInfo"),
		total: l.Get("totalCount").Int(), edges: l.Get("edges").Array(),
	}
	nodes := l.Get("nodes.#.id").Array()
	if len(nodes) != len(r.edges) {
		t.Errorf("%d nodes beside %d edges", len(nodes), len(r.edges))
	}
	for i, e := range r.edges {
		id := e.Get("node.id").String()
		if id != nodes[i].String() {
			t.Errorf("node %d differs from its edge", i)
		}
		r.ids, r.cursors = append(r.ids, id), append(r.cursors, e.Get("cursor").String())
	}
	return r
}

// checkEnds holds the page's cursors against its edges. Where people of a list are gone
// they are those of the rows that were read.
func (l listed) checkEnds(t testing.TB) listed {
	t.Helper()
	if n := len(l.edges); n > 0 && (l.info.Get("startCursor").String() != l.cursors[0] || l.info.Get("endCursor").String() != l.cursors[n-1]) {
		t.Errorf("the page's cursors are not those of its ends: %s", l.info)
	}
	return l
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// wantError checks that the first error is of this code, about this field ("" for none),
// and no fault of the server.
func wantError(t testing.TB, a socialtest.Answer, code social.Code, field string) {
	t.Helper()
	if a.Status >= 500 || a.Code() != string(code) || a.Field() != field {
		t.Errorf("want %s about %q, answered %d: %.300s", code, field, a.Status, a.Body)
	}
}

// post sends a body as it is.
func post(c socialtest.Client, body string) socialtest.Answer {
	return c.Send(httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body)), "application/json")
}

// quoted is s as a JSON string, which is a GraphQL string too.
func quoted(s string) string {
	b, _ := json.Marshal(s) // strings always marshal
	return string(b)
}

// rowCounts counts the rows of everything that requests write.
func (w *world) rowCounts(t testing.TB) string {
	t.Helper()
	var counts string
	query := "SELECT ''"
	if w.IsMySQL() {
		query = "SELECT CONCAT_WS(' '"
		for _, table := range written {
			query += ", '" + table + "', (SELECT COUNT(*) FROM " + table + ")"
		}
		query += ")"
	} else {
		for _, table := range written {
			query += " || ' " + table + " ' || (SELECT COUNT(*) FROM " + table + ")"
		}
	}
	if err := w.SQL.Get(&counts, query); err != nil {
		t.Fatal(err)
	}
	return counts
}

var written = []string{"user", "actor", "user_count", "following", "follower", "blog", "publish_key", "outbox"}

// takeEvents reads the bodies of all events of a kind and removes them.
func (w *world) takeEvents(t testing.TB, kind social.EventKind) []gjson.Result {
	t.Helper()
	var bodies []string
	if err := w.SQL.Select(&bodies, "SELECT body FROM outbox WHERE kind = ?", kind); err != nil {
		t.Fatal(err)
	}
	w.Exec(t, "DELETE FROM outbox WHERE kind = ?", kind)
	var events []gjson.Result
	for _, b := range bodies {
		events = append(events, gjson.Parse(b))
	}
	return events
}

// counts reads followerCount, followingCount and blogCount of somebody.
func counts(t testing.TB, c socialtest.Client, of string) [3]int64 {
	t.Helper()
	u := c.OK(t, `query($id: ID!) { node(id: $id) { ... on User { followerCount followingCount blogCount } } }`,
		map[string]any{"id": of}).Get("node")
	return [3]int64{u.Get("followerCount").Int(), u.Get("followingCount").Int(), u.Get("blogCount").Int()}
}
