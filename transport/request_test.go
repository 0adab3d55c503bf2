package transport

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

const (
	nameQuery      = `{ __typename }`
	followMutation = `mutation { follow(input: {userId: "VXNlcjoy"}) { userId } }`
)

func getRequest(values ...string) *http.Request {
	q := url.Values{}
	for i := 0; i < len(values); i += 2 {
		q.Set(values[i], values[i+1])
	}
	return httptest.NewRequest(http.MethodGet, "/graphql?"+q.Encode(), nil)
}

func inJSON(query string) string {
	b, _ := json.Marshal(map[string]string{"query": query})
	return string(b)
}

// SEC-1.
func TestNoMutationReachesAResolverByGetOrFromAForm(t *testing.T) {
	form := url.Values{"query": {followMutation}}.Encode()
	typed := func(contentType, body string) *http.Request {
		r := postRequest(body)
		r.Header.Set("Content-Type", contentType)
		return r
	}
	for name, test := range map[string]struct {
		request *http.Request
		status  int
		allow   string
	}{
		"mutation by GET":              {getRequest("query", followMutation), 405, "POST"},
		"one of two operations by GET": {getRequest("query", "query q {__typename} mutation m {follow(input: {userId: \"x\"}) {userId}}", "operationName", "m"), 405, "POST"},
		"text/plain":                   {typed("text/plain", inJSON(followMutation)), 415, ""},
		"a form":                       {typed("application/x-www-form-urlencoded", form), 415, ""},
		"a multipart form":             {typed("multipart/form-data; boundary=x", "--x--"), 415, ""},
		"no type":                      {typed("", inJSON(followMutation)), 415, ""},
		"two types":                    {typed("text/plain, application/json", inJSON(followMutation)), 415, ""},
		"another charset":              {typed("application/json; charset=latin1", inJSON(followMutation)), 415, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			test.request.Header.Set("Authorization", "Bearer good")
			r := e.do(t, test.request)
			if r.status != test.status || r.header.Get("Allow") != test.allow || r.code() != "BAD_USER_INPUT" {
				t.Errorf("%d %q %s", r.status, r.header.Get("Allow"), r.raw)
			}
			if e.fake.follows.Load() != 0 {
				t.Error("it followed")
			}
		})
	}
}

func TestQueriesByGetAreAnswered(t *testing.T) {
	e := newEdge(&fake{})
	for name, r := range map[string]*http.Request{
		"plain":         getRequest("query", nameQuery),
		"variables":     getRequest("query", `query q($h: String!) {user(handle: $h) {id}}`, "variables", `{"h":"ada"}`, "operationName", "q"),
		"null":          getRequest("query", nameQuery, "variables", "null", "extensions", "{}"),
		"beside others": getRequest("query", "query q {__typename} mutation m {signIn(input: {handle: \"\", password: \"\"}) {token}}", "operationName", "q"),
	} {
		if a := e.do(t, r); a.status != 200 || len(a.Errors) > 0 || a.Data == nil {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
}

// DAT-3 on this level, and all else that is not a request.
func TestMalformedRequestsAre400AndNotEchoed(t *testing.T) {
	const secret = "hunter2"
	for name, r := range map[string]*http.Request{
		"no body":                            postRequest(""),
		"broken JSON":                        postRequest(`{"query": "` + secret),
		"a batch":                            postRequest(`[` + inJSON(nameQuery) + `]`),
		"null":                               postRequest(`null`),
		"a string":                           postRequest(`"` + secret + `"`),
		"something after":                    postRequest(inJSON(nameQuery) + secret),
		"a byte order mark":                  postRequest("\uFEFF" + inJSON(nameQuery)),
		"no query":                           postRequest(`{"notquery": "` + secret + `"}`),
		"an empty query":                     postRequest(`{"query": ""}`),
		"a query twice":                      postRequest(`{"query": "{viewer{id}}", "query": "{__typename}"}`),
		"a variable twice":                   postRequest(`{"query": "{__typename}", "variables": {"a": 1, "a": 2}}`),
		"variables of a list":                postRequest(`{"query": "{__typename}", "variables": ["` + secret + `"]}`),
		"variables in a string":              postRequest(`{"query": "{__typename}", "variables": "{}"}`),
		"extensions of a number":             postRequest(`{"query": "{__typename}", "extensions": 7}`),
		"operationName of a number":          postRequest(`{"query": "{__typename}", "operationName": 7}`),
		"a number out of range":              postRequest(`{"query": "{__typename}", "variables": {"a": 1e999}}`),
		"bytes that are no UTF-8":            postRequest("{\"query\": \"{user(handle: \\\"\xc3\x28\\\") {id}}\"}"),
		"such bytes in a variable":           postRequest("{\"query\": \"{__typename}\", \"variables\": {\"a\": \"\xc3\x28\"}}"),
		"such bytes in a key":                postRequest("{\"query\": \"{__typename}\", \"\xc3\x28\": 1}"),
		"half a pair in a variable":          postRequest(`{"query": "{__typename}", "variables": {"a": "\ud800"}}`),
		"half a pair in the query":           postRequest(`{"query": "{user(handle: \"\ud800\") {id}}"}`),
		"half a pair in a literal":           postRequest(inJSON(`{user(handle: "\ud800") {id}}`)),
		"the latter half":                    postRequest(inJSON(`{user(handle: "\uDC00\uD800") {id}}`)),
		"half a pair after a whole":          postRequest(inJSON(`{user(handle: "\ud83c\udfca\ud83c") {id}}`)),
		"GET without a query":                getRequest("operationName", secret),
		"GET with bytes that are no UTF-8":   httptest.NewRequest("GET", "/graphql?query=%7B__typename%7D%23%C3%28", nil),
		"GET with such a name":               httptest.NewRequest("GET", "/graphql?query=%7B__typename%7D&operationName=%C3%28", nil),
		"GET with such variables":            httptest.NewRequest("GET", "/graphql?query=%7B__typename%7D&variables=%7B%22a%22:%22%C3%28%22%7D", nil),
		"GET with a broken escape":           httptest.NewRequest("GET", "/graphql?query=%7B__typename%7D&a=%ZZ", nil),
		"GET with variables that are a list": getRequest("query", nameQuery, "variables", "[]"),
		"GET with two queries":               httptest.NewRequest("GET", "/graphql?query=%7B__typename%7D&query=%7Bviewer%7Bid%7D%7D", nil),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			a := e.do(t, r)
			if a.status != 400 || a.code() != "BAD_USER_INPUT" || a.Data != nil {
				t.Errorf("%d %s", a.status, a.raw)
			}
			if strings.Contains(a.raw, secret) || e.fake.calls.Load() != 0 {
				t.Errorf("%d calls, %s", e.fake.calls.Load(), a.raw)
			}
		})
	}
}

func TestWholeCharactersPassThroughEscapes(t *testing.T) {
	for query, want := range map[string]string{
		`{user(handle: "\ud83c\udfca") {id}}`:        "🏊",
		`{user(handle: "\u0041\\ud800") {id}}`:       `A\ud800`,
		`{user(handle: """\ud800""") {id}}`:          `\ud800`,
		`{user(handle: "\u{1F3CA}") {id}} # "\ud800`: "🏊",
		`{user(handle: """a\"""\ud800"""") {id}}`:    `a"""\ud800"`,
		`{user(handle: "a\u0000b") {id}}`:            "a\x00b", // for the verb to refuse
	} {
		e := newEdge(&fake{})
		a := e.post(t, query, nil)
		if len(a.Errors) > 0 || len(e.fake.handles) != 1 || e.fake.handles[0] != want {
			t.Errorf("%s: %q, want %q: %s", query, e.fake.handles, want, a.raw)
		}
	}
}

func TestOtherMethodsAreToldWhatIsAllowed(t *testing.T) {
	e := newEdge(&fake{})
	for method, status := range map[string]int{"PUT": 405, "DELETE": 405, "PATCH": 405, "HEAD": 405, "OPTIONS": 204} {
		r := httptest.NewRequest(method, "/graphql", nil)
		r.Header.Set("Origin", "https://elsewhere.example")
		a := e.do(t, r)
		if a.status != status || a.header.Get("Allow") != "GET, POST, OPTIONS" {
			t.Errorf("%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
		}
		if a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows a foreign origin", method)
		}
	}
}

func TestBodyIsTakenUpToOneMebibyte(t *testing.T) {
	e := newEdge(&fake{})
	body := inJSON(nameQuery)
	fill := func(n int) string { return body + strings.Repeat(" ", n-len(body)) }
	if a := e.do(t, postRequest(fill(1<<20))); a.status != 200 {
		t.Errorf("at the limit: %d", a.status)
	}
	if a := e.do(t, postRequest(fill(1<<20+1))); a.status != 413 || a.code() != "BAD_USER_INPUT" {
		t.Errorf("above the limit: %d %s", a.status, a.raw)
	}
	unsized := postRequest(fill(1<<20 + 1))
	unsized.ContentLength = -1
	if a := e.do(t, unsized); a.status != 413 {
		t.Errorf("above the limit, of unknown length: %d", a.status)
	}
}

func TestAnswersAreBareJSONOfKnownLength(t *testing.T) {
	e := newEdge(&fake{bio: "bad \xff byte"})
	a := e.post(t, `{user(handle: "ada") {handle bio}}`, nil)
	want := `{"data":{"user":{"handle":"ada","bio":"bad ` + "\uFFFD" + ` byte"}},"extensions":{"cost":{"nodes":0,"values":3,"bytes":2113,"fields":3,"depth":2}}}`
	if a.raw != want {
		t.Errorf("got %s\nwant %s", a.raw, want)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/graphql-response+json; charset=utf-8", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff", "Content-Length": strconv.Itoa(len(want)),
	} {
		if got := a.header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}
