package transport

import (
	"regexp"
	"testing"
)

// goWords are names that only Go has for types of values. (A variable may be a string.)
var goWords = regexp.MustCompile(`\b(float(32|64)|int(32|64)|slice|map|bool|interface|reflect|strconv|json)\b|\[\]`)

func TestValuesThatDoNotFitAreToldInGraphQLsWords(t *testing.T) {
	values := map[string]any{
		"a list": []any{[]any{"a"}}, "an object": map[string]any{"a": 1}, "a boolean": true, "text": "a",
		"a number": 5, "a fraction": 1.5, "a large number": 1e20, "a huge number": 1e300, "nothing": nil,
	}
	fits := 0
	for name, query := range map[string]string{
		"Int":          `query($v: Int){followFeed(first: $v){nodes{id}}}`,
		"String":       `query($v: String!){user(handle: $v){id}}`,
		"Boolean":      `query($v: Boolean!){viewer @include(if: $v){id}}`,
		"ID":           `query($v: ID!){node(id: $v){id}}`,
		"IDs":          `query($v: [ID!]!){nodes(ids: $v){id}}`,
		"an ID of two": `query($v: ID!){nodes(ids: ["a", $v]){id}}`,
		"an input":     `mutation($v: UserIdInput!){follow(input: $v){userId}}`,
		"its field":    `mutation($v: ID!){follow(input: {userId: $v}){userId}}`,
		"its texts":    `mutation($v: [String!]){publishBlog(input: {title: "a", content: "b", imageUrls: $v}){blog{id}}}`,
	} {
		for kind, value := range values {
			a := newEdge(&fake{}).post(t, query, map[string]any{"v": value})
			if len(a.Errors) == 0 {
				fits++
				continue
			}
			if a.code() != "BAD_USER_INPUT" || a.field() == nil || goWords.MatchString(a.Errors[0].Message) {
				t.Errorf("%s for %s: %s", kind, name, a.raw)
			}
		}
	}
	if fits == 0 || fits > 25 {
		t.Errorf("%d fit", fits)
	}
}

func TestMessagesOfLibrariesAreTranslated(t *testing.T) {
	for message, want := range map[string]string{
		"cannot use float64 as Int":                    "cannot use a number with a fraction as Int",
		"cannot use float64 as ID":                     "cannot use a number with a fraction as ID",
		"cannot use float64 as String":                 "cannot use a number as String",
		"cannot use slice as ID":                       "cannot use a list as ID",
		"cannot use map as String":                     "cannot use an object as String",
		"cannot use bool as Int":                       "cannot use a boolean as Int",
		"cannot use chan as Int":                       "cannot use this value as Int",
		"must be a SignUpInput, not a slice":           "must be an object (SignUpInput), not a list",
		"float64 is not an int":                        "cannot use a number out of range as Int",
		"map[string]interface {} is not a string":      "cannot use an object as String",
		"[]interface {} is not a bool":                 "cannot use a list as Boolean",
		"*graph.Thing is not a uuid":                   "cannot use this value as the type of this argument",
		"cannot be null":                               "cannot be null",
		"must be defined":                              "must be defined",
		"unknown field":                                "unknown field",
		"a client wrote: cannot use slice as ID":       "a client wrote: cannot use slice as ID",
		"cannot use 1e+20 as ID: integers beyond 2^53": "cannot use 1e+20 as ID: a whole number this large may have been rounded; send it as text",
	} {
		if got := inWords(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestWholeNumbersInAnyFormAreInts(t *testing.T) {
	for number, nodes := range map[string]int{"1.0": 1, "1e1": 10, "0.3E1": 3, "100.00": 100, "-0.0": 1, "1.5": 0, "1e-1": 0} {
		body := `{"query":"query($n: Int){viewer{followers(first: $n){totalCount}}}","variables":{"n":` + number + `}}`
		a := newEdge(&fake{}).do(t, postRequest(body))
		if nodes == 0 {
			if a.code() != "BAD_USER_INPUT" || a.field() != "first" {
				t.Errorf("%s: %s", number, a.raw)
			}
		} else if len(a.Errors) > 0 || a.Extensions.Cost.Nodes != nodes {
			t.Errorf("%s: %s", number, a.raw)
		}
	}
	for text, want := range map[string]any{
		"9007199254740991.0": int64(9007199254740991), "9007199254740992.0": 9007199254740992.0,
		"9223372036854775807": int64(9223372036854775807), "1e300": 1e300, "-1e2": int64(-100),
	} {
		if got, err := number(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
