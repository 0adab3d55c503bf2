package transport

import (
	"strings"
	"testing"
)

func TestVariablesAreBounded(t *testing.T) {
	lists := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, test := range map[string]struct {
		variables string
		status    int
	}{
		"10,000 values":   {`{"a":[` + strings.Repeat("1,", 9997) + `1]}`, 200},
		"10,001 values":   {`{"a":[` + strings.Repeat("1,", 9998) + `1]}`, 400},
		"32 levels":       {`{"a":` + lists(32) + `}`, 200},
		"33 levels":       {`{"a":` + lists(33) + `}`, 400},
		"9,000 levels":    {`{"a":` + lists(9000) + `}`, 400},
		"300,000 objects": {`{"a":[` + strings.Repeat("{},", 300000) + `1]}`, 400},
		"an open list":    {`{"a":[1}`, 400},
		"an open object":  {`{"a":{"b":1`, 400},
	} {
		body := `{"query":"{__typename}","variables":` + test.variables + `}`
		if a := newEdge(&fake{}).do(t, postRequest(body)); a.status != test.status {
			t.Errorf("%s: %d %.300s", name, a.status, a.raw)
		}
	}
}

func TestNumbersStayWholeAndApartFromStrings(t *testing.T) {
	e := newEdge(&fake{})
	const query = `query($id: ID!){node(id: $id){id}}`
	for id, status := range map[any]int{int64(9223372036854775807): 200, "x": 200, 1.5: 400, true: 400} {
		if a := e.post(t, query, map[string]any{"id": id}); a.status != status {
			t.Errorf("%v: %d %s", id, a.status, a.raw)
		}
	}
	if a := e.post(t, `query($h: String!){user(handle: $h){id}}`, map[string]any{"h": 7}); a.field() != "handle" {
		t.Errorf("a number for a String: %s", a.raw)
	}
}
