package transport

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInputErrorsNameTheirField(t *testing.T) {
	const signUp = `mutation($input: SignUpInput!){signUp(input: $input){token}}`
	const nodes = `query($ids: [ID!]!){nodes(ids: $ids){id}}`
	input := func(members ...any) map[string]any {
		in := map[string]any{"handle": "ada", "name": "Ada", "password": "12345678"}
		for i := 0; i < len(members); i += 2 {
			in[members[i].(string)] = members[i+1]
		}
		return map[string]any{"input": in}
	}
	for name, test := range map[string]struct {
		query     string
		variables map[string]any
		field     any
	}{
		"a missing variable":                {signUp, nil, "input"},
		"a null variable":                   {signUp, map[string]any{"input": nil}, "input"},
		"a variable of the wrong type":      {signUp, map[string]any{"input": 7}, "input"},
		"a missing input field":             {signUp, map[string]any{"input": map[string]any{"name": "a", "password": "b"}}, "handle"},
		"a null input field":                {signUp, input("password", nil), "password"},
		"an input field of the wrong type":  {signUp, input("handle", 7), "handle"},
		"a list for an input field":         {signUp, input("handle", []any{"a"}), "handle"},
		"an unknown input field":            {signUp, input("email", "x"), "email"},
		"a key that is no name":             {signUp, input("e mail\x00", "x"), nil},
		"a key that is too long":            {signUp, input(strings.Repeat("x", 101), "x"), nil},
		"null within a list":                {nodes, map[string]any{"ids": []any{"a", nil}}, "ids"},
		"a fraction within a list":          {nodes, map[string]any{"ids": []any{1.5}}, "ids"},
		"a fraction for a whole number":     {`query($n: Int){followFeed(first: $n){nodes{id}}}`, map[string]any{"n": 1.5}, "first"},
		"text for a whole number":           {`query($n: Int){followFeed(first: $n){nodes{id}}}`, map[string]any{"n": "5"}, "first"},
		"a literal of the wrong type":       {`{user(handle: 5){id}}`, nil, "handle"},
		"an enum for a string":              {`{user(handle: ada){id}}`, nil, "handle"},
		"a fraction for a page":             {`{followFeed(first: 1.5){nodes{id}}}`, nil, "first"},
		"a number out of range":             {`{followFeed(first: 99999999999999999999){nodes{id}}}`, nil, "first"},
		"an id out of range":                {`{node(id: 99999999999999999999){id}}`, nil, "id"},
		"a literal within an input":         {`mutation{signUp(input: {handle: 5, name: "a", password: "b"}){token}}`, nil, "handle"},
		"a literal within a list":           {`{nodes(ids: ["a", 1.5]){id}}`, nil, "ids"},
		"null for a required argument":      {`{user(handle: null){id}}`, nil, "handle"},
		"a missing argument":                {`{user{id}}`, nil, "handle"},
		"an input without a required field": {`mutation{signIn(input: {handle: "a"}){token}}`, nil, "password"},
		"an unknown argument":               {`{user(handle: "a", foo: 1){id}}`, nil, "foo"},
		"an unknown field of an input":      {`mutation{signIn(input: {handle: "a", password: "b", foo: 1}){token}}`, nil, "foo"},
		"an argument twice":                 {`{user(handle: "a", handle: "b"){id}}`, nil, "handle"},
		"an undefined variable":             {`{user(handle: $h){id}}`, nil, "handle"},
		"a variable of another type":        {`query($h: Int!){user(handle: $h){id}}`, map[string]any{"h": 1}, "handle"},
		"a nullable variable":               {`query($h: String){user(handle: $h){id}}`, nil, "handle"},
		"a bad default":                     {`query($n: Int = "x"){followFeed(first: $n){nodes{id}}}`, nil, "n"},
		"null over a default":               {`query($h: String = "a"){user(handle: $h){id}}`, map[string]any{"h": nil}, "handle"},
		"null over it within an input":      {`mutation($p: String = "a"){signIn(input: {handle: "a", password: $p}){token}}`, map[string]any{"p": nil}, "password"},
		"null over it within a list":        {`query($i: ID = "a"){nodes(ids: ["b", $i]){id}}`, map[string]any{"i": nil}, "ids"},
		"null over it in a directive":       {`query($b: Boolean = true){viewer @include(if: $b){id}}`, map[string]any{"b": nil}, "if"},
		"null over it in a fragment":        {`query($b: Boolean = true){viewer{...f}} fragment f on User{id ...@skip(if: $b){name}}`, map[string]any{"b": nil}, "if"},
		"a directive of the wrong type":     {`{viewer @include(if: "x"){id}}`, nil, "if"},
		"a directive without its argument":  {`{viewer @include{id}}`, nil, "if"},
		"an unknown field":                  {`{nothing}`, nil, nil},
		"a syntax error":                    {`{user(handle: "a"`, nil, nil},
		"an unknown type":                   {`query($x: Nothing){viewer{id}}`, nil, nil},
		"no selection":                      {`{viewer}`, nil, nil},
		"a subscription":                    {`subscription{viewer{id}}`, nil, nil},
		"no operation":                      {`fragment f on User{id}`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{})
			a := e.post(t, test.query, test.variables)
			if a.status != 400 || len(a.Errors) == 0 || a.Data != nil || e.fake.calls.Load() != 0 {
				t.Fatalf("%d %s", a.status, a.raw)
			}
			extensions := a.Errors[0].Extensions
			if extensions["code"] != "BAD_USER_INPUT" || extensions["field"] != test.field {
				t.Errorf("want %v: %s", test.field, a.raw)
			}
			if len(a.Errors[0].Message) < 5 || len(a.Errors[0].Path) > 0 {
				t.Errorf("message or path: %s", a.raw)
			}
		})
	}
}

func TestWhatAScalarDoesNotTakeNamesItsArgument(t *testing.T) {
	// 1e20 passes the check of variables and fails in gqlgen, beside fields that work.
	a := newEdge(&fake{}).post(t, `query($n: Int){viewer{handle} user(handle: "a"){followers(first: $n){totalCount}}}`, map[string]any{"n": 1e20})
	if a.status != 200 || a.code() != "BAD_USER_INPUT" || a.field() != "first" || a.Data["viewer"] == nil {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if got := a.Errors[0].Path; len(got) != 2 || got[1] != "followers" {
		t.Errorf("path %v", got)
	}
}

func TestTheOperationIsChosenByName(t *testing.T) {
	const two = `query a {viewer{id}} query b {viewer{handle}}`
	e := newEdge(&fake{})
	for name, status := range map[string]int{"": 400, "c": 400, "a": 200, "b": 200} {
		r := getRequest("query", two, "operationName", name)
		r.Header.Set("Accept", mediaGraphQL)
		if a := e.do(t, r); a.status != status || status == 400 && a.code() != "BAD_USER_INPUT" {
			t.Errorf("%q: %d %s", name, a.status, a.raw)
		}
	}
}

func TestMessagesAreShortAndValid(t *testing.T) {
	e := newEdge(&fake{})
	for _, query := range []string{
		`{viewer{id}} "` + strings.Repeat("é", 5000) + `"`,
		`{user(handle: ` + strings.Repeat("x", 5000) + `){id}}`,
		`{` + strings.Repeat("x", 5000) + `}`,
		`{user(handle: "é` + strings.Repeat("🏊", 5000) + `" "b`,
		`é{`,
	} {
		a := e.post(t, query, nil)
		if a.status != 400 || len(a.Errors[0].Message) > 300 || !utf8.ValidString(a.Errors[0].Message) {
			t.Errorf("%d %d bytes: %.400s", a.status, len(a.Errors[0].Message), a.raw)
		}
	}
	for n := 290; n < 310; n++ {
		if got := clip(strings.Repeat("x", n) + "🏊🏊"); len(got) > 300 || !utf8.ValidString(got) {
			t.Errorf("%d: %d bytes, %q", n, len(got), got)
		}
	}
}
