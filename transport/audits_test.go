package transport

import (
	"net/http"
	"strings"
	"testing"
)

// The checks of npm graphql-http 1.23, serverAudits: a body or a GET, the form accepted,
// and the status. "" accepts nothing in particular.
func TestGraphQLOverHTTPAudits(t *testing.T) {
	const (
		typed  = `"query":"query Type($name: String!) { __type(name: $name) { name } }"`
		asked  = `"query":"{ __typename }"`
		absent = `{"query":"{ 8f31403dfe404bccbb0e835f2629c6a7 }"}`
		coerce = `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`
	)
	for _, test := range []struct {
		id, body, accept string
		status           int
	}{
		{"22EB", `{` + asked + `}`, mediaGraphQL, 200},
		{"4655", `{` + asked + `}`, mediaJSON, 200},
		{"47DE", `{` + asked + `}`, "*/*", 200},
		{"80D8 82A3 78D5 2C94 03D4", `{` + asked + `}`, "", 200},
		{"BF61", `{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}`, "", 200},
		{"A5BF", "", "", 400},
		{"423L", `{"notquery":"{ __typename }"}`, mediaGraphQL, 400},
		{"LKJ0", `{"query":{"obj":"x"}}`, "", 400},
		{"LKJ1", `{"query":0}`, "", 400},
		{"LKJ2", `{"query":false}`, "", 400},
		{"LKJ3", `{"query":["array"]}`, "", 400},
		{"34A2 13EE", `{` + asked + `}`, "both", 200},
		{"6C00", `{` + asked + `,"operationName":{"obj":"x"}}`, "", 400},
		{"6C01", `{` + asked + `,"operationName":0}`, "", 400},
		{"6C02", `{` + asked + `,"operationName":false}`, "", 400},
		{"6C03", `{` + asked + `,"operationName":["array"]}`, "", 400},
		{"8161 B8B3", `{"query":"query Query { __typename }","operationName":"Query"}`, "both", 200},
		{"94B0 0220", `{` + asked + `,"variables":null}`, "both", 200},
		{"94B1 0221", `{` + asked + `,"operationName":null}`, "both", 200},
		{"94B2 0222", `{` + asked + `,"extensions":null}`, "both", 200},
		{"4760", `{` + asked + `,"variables":"string"}`, "", 400},
		{"4761", `{` + asked + `,"variables":0}`, "", 400},
		{"4762", `{` + asked + `,"variables":false}`, "", 400},
		{"4763", `{` + asked + `,"variables":["array"]}`, "", 400},
		{"2EA1 28B9", `{` + typed + `,"variables":{"name":"sometype"}}`, "both", 200},
		{"58B0", `{` + asked + `,"extensions":"string"}`, "", 400},
		{"58B1", `{` + asked + `,"extensions":0}`, "", 400},
		{"58B2", `{` + asked + `,"extensions":false}`, "", 400},
		{"58B3", `{` + asked + `,"extensions":["array"]}`, "", 400},
		{"428F 1B7A", `{` + asked + `,"extensions":{"some":"value"}}`, "both", 200},
		{"B6DC BCF8 B7N8", `{ "not a JSON`, "both", 400},
		{"8764 3E3A", `{"qeury":"{ __typename }"}`, "", 400},
		{"572B", `{"query":"{"}`, mediaJSON, 200},
		{"FDE2", absent, mediaJSON, 200},
		{"7B9B", coerce, mediaJSON, 200},
		{"865D 556A D586", `{"query":"{"}`, mediaGraphQL, 400},
		{"51FE 74FF 5E5B", absent, mediaGraphQL, 400},
		{"86EE", coerce, mediaGraphQL, 400},
	} {
		accepts := []string{test.accept}
		if test.accept == "both" {
			accepts = []string{mediaJSON, mediaGraphQL}
		}
		for _, accept := range accepts {
			r := postRequest(test.body)
			r.Header.Set("Accept", accept)
			checkAudit(t, test.id, r, accept, test.status)
		}
	}
	mutation := getRequest("query", "mutation { __typename }")
	mutation.Header.Set("Accept", mediaGraphQL)
	checkAudit(t, "9C48", mutation, mediaGraphQL, 405)
	checkAudit(t, "5A70", getRequest("query", "{ __typename }"), "", 200)
	untyped := postRequest(`{` + asked + `}`)
	untyped.Header.Set("Content-Type", "text/plain;charset=UTF-8") // what fetch sends
	checkAudit(t, "9ABE", untyped, "", 415)
}

func checkAudit(t *testing.T, id string, r *http.Request, accept string, status int) {
	t.Helper()
	a := newEdge(&fake{}).do(t, r)
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %s", id, a.status, status, a.raw)
	}
	media := mediaJSON
	if accept == mediaGraphQL {
		media = mediaGraphQL
	}
	if got := a.header.Get("Content-Type"); got != media+"; charset=utf-8" {
		t.Errorf("%s: %s", id, got)
	}
	executed := strings.Contains(a.raw, `"data"`)
	if failed := len(a.Errors) > 0; failed == executed {
		t.Errorf("%s: either errors or data: %s", id, a.raw)
	}
}

func TestTheFormOfAnswersIsNegotiated(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                    mediaJSON,
		"*/*":                                 mediaJSON,
		"text/html, */*;q=0.1":                mediaJSON,
		"text/html":                           mediaJSON,
		"application/*":                       mediaJSON,
		mediaGraphQL:                          mediaGraphQL,
		mediaGraphQL + ", " + mediaJSON:       mediaGraphQL,
		mediaJSON + ", " + mediaGraphQL:       mediaJSON,
		mediaJSON + ";q=0.9," + mediaGraphQL:  mediaGraphQL,
		mediaGraphQL + ";q=0.5, " + mediaJSON: mediaJSON,
		mediaGraphQL + ";q=0":                 mediaJSON,
		mediaGraphQL + ";charset=utf-8":       mediaGraphQL,
		"; ,=,q=":                             mediaJSON,
	} {
		if got := acceptedMedia(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
}
