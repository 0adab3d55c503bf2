package socialtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Client sends GraphQL requests to a handler, as one person.
type Client struct {
	Handler http.Handler
	// Token is sent as bearer token; empty for nobody.
	Token string
}

// Answer is what came back.
type Answer struct {
	Status int
	Body   string
}

// Do sends an operation. variables may be nil.
func (c Client) Do(t testing.TB, query string, variables map[string]any) Answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	must(t, err)
	return c.Send(httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body)), "application/json")
}

// Send sends a request of any form with the client's token.
func (c Client) Send(r *http.Request, contentType string) Answer {
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	w := httptest.NewRecorder()
	c.Handler.ServeHTTP(w, r)
	return Answer{Status: w.Code, Body: w.Body.String()}
}

// OK sends an operation that must succeed and gives its data.
func (c Client) OK(t testing.TB, query string, variables map[string]any) gjson.Result {
	t.Helper()
	a := c.Do(t, query, variables)
	if a.Status != http.StatusOK || gjson.Get(a.Body, "errors").Exists() {
		t.Fatalf("%s\nanswered %d: %s", strings.TrimSpace(query), a.Status, a.Body)
	}
	return gjson.Get(a.Body, "data")
}

// Data is the data of the answer.
func (a Answer) Data() gjson.Result { return gjson.Get(a.Body, "data") }

// Code is the code of the first error; empty without one.
func (a Answer) Code() string { return gjson.Get(a.Body, "errors.0.extensions.code").String() }

// Field is the field of the first error; empty without one.
func (a Answer) Field() string { return gjson.Get(a.Body, "errors.0.extensions.field").String() }
