package transport

import (
	"strings"
	"testing"
)

func TestNodesAreEstimatedFromWhatListsAskFor(t *testing.T) {
	many := make([]string, 4990)
	for _, test := range []struct {
		query     string
		variables map[string]any
		want      int
	}{
		{`{viewer{id}}`, nil, 0},
		{`{followFeed{nodes{id}}}`, nil, 20},
		{`{followFeed(first: 3){nodes{id}}}`, nil, 3},
		{`{followFeed(first: 0){nodes{id}}}`, nil, 1},
		{`{followFeed(first: null){nodes{id}}}`, nil, 20},
		{`{followFeed(last: 7, before: "x"){nodes{id}}}`, nil, 7},
		{`{followFeed(first: 3){nodes{author{followers(first: 5){nodes{id}}}} edges{node{author{blogs(first: 2){nodes{id}}}}}}}`, nil, 3 * (1 + 5 + 2)},
		{`{viewer{followers{nodes{following{totalCount}}}}}`, nil, 20 * 21},
		{`query($n: Int){viewer{followers(first: $n){totalCount}}}`, map[string]any{"n": 9}, 9},
		{`query($n: Int){viewer{followers(first: $n){totalCount}}}`, map[string]any{}, 20},
		{`query($n: Int){viewer{followers(first: $n){totalCount}}}`, map[string]any{"n": nil}, 20},
		{`query($n: Int = 4){viewer{followers(first: $n){totalCount}}}`, nil, 4},
		{`query($n: Int = 4){viewer{...f} user(handle: "a"){...f}} fragment f on User{followers(first: $n){totalCount}}`, nil, 8},
		{`{viewer{followers(first: 2){nodes @skip(if: true){followers(first: 3){totalCount}}}}}`, nil, 2 * (1 + 3)},
		{`{nodes(ids: ["a", "b", "c"]){id ... on User{followers(first: 2){totalCount}}}}`, nil, 3 * (1 + 2)},
		{`{nodes(ids: "a"){id}}`, nil, 1},
		{`{nodes(ids: []){id}}`, nil, 1},
		{`query($n: Int){viewer{followers(first: $n){nodes{followers(first: $n){totalCount}}}}}`, map[string]any{"n": 0}, 2},
		{`query($ids: [ID!]!){nodes(ids: $ids){id}}`, map[string]any{"ids": many}, 4990},
		{`query($id: ID!){nodes(ids: [$id, $id]){id}}`, map[string]any{"id": "a"}, 2},
		// Behind these stand all whom the viewer follows.
		{`{viewer{mutualFollows(first: 3){nodes{id}}}}`, nil, 20 + 3},
		{`{mutualFollows(userId: "a"){totalCount}}`, nil, 20 + 20},
		{`{viewer{followers(first: 7){nodes{followersYouKnow(first: 2){nodes{id}}}}}}`, nil, 7 * (1 + 20 + 2)},
		{`{searchUsers(handlePrefix: "ab", first: 4){nodes{id}}}`, nil, 4},
		// What no resolver grants, granted as far as one would.
		{`{viewer{followers(first: -9){totalCount}}}`, nil, 1},
		{`{viewer{followers(first: 2147483647){totalCount}}}`, nil, 100},
		{`query($n: Int){viewer{followers(first: $n){nodes{followers(first: 3){totalCount}}}}}`, map[string]any{"n": int64(9223372036854775807)}, 400},
		{`query($n: Int){viewer{followers(first: $n){totalCount}}}`, map[string]any{"n": int64(-9223372036854775808)}, 1},
	} {
		a := newEdge(&fake{}).post(t, test.query, test.variables)
		if a.Extensions.Cost == nil || a.Extensions.Cost.Nodes != test.want {
			t.Errorf("%s: %+v, want %d: %.300s", test.query, a.Extensions.Cost, test.want, a.raw)
		}
	}
}

func TestTooManyNodesAreRefusedWithoutOverflow(t *testing.T) {
	deep := "{viewer{" + strings.Repeat("followers(first: 2147483647){nodes{", 5) + "id" + strings.Repeat("}}", 5) + "}}"
	huge := `query($n: Int){viewer{followers(first: $n){nodes{followers(first: $n){totalCount}}}}}`
	for query, variables := range map[string]map[string]any{
		deep: nil,
		huge: {"n": int64(9223372036854775807)},
		`query($ids: [ID!]!){nodes(ids: $ids){id}}`: {"ids": make([]string, 5001)},
	} {
		e := newEdge(&fake{})
		a := e.post(t, query, variables)
		if a.status != 400 || a.code() != "QUERY_TOO_COMPLEX" || e.fake.calls.Load() != 0 {
			t.Errorf("%s: %d %.300s", query, a.status, a.raw)
		}
	}
}

func TestPagesOutOfRangeAreForTheResolverToRefuse(t *testing.T) {
	for _, first := range []string{"-1", "101", "2147483647"} {
		a := newEdge(&fake{}).post(t, `{followFeed(first: `+first+`){nodes{id}}}`, nil)
		if a.status != 200 || a.code() != "BAD_USER_INPUT" || a.field() != "first" {
			t.Errorf("%s: %d %s", first, a.status, a.raw)
		}
	}
}

func TestCostIsToldInExecutedAnswersAlone(t *testing.T) {
	e := newEdge(&fake{})
	a := e.post(t, `{viewer{...f followers(first: 2){nodes{...f}}}} fragment f on User{id handle}`, nil)
	if got, want := *a.Extensions.Cost, (cost{Nodes: 2, Values: 10, Bytes: 6 + 106 + 9 + 2*(5+102+106) + 102, Fields: 7, Depth: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if a := e.post(t, `{nothing}`, nil); a.Extensions.Cost != nil || strings.Contains(a.raw, "data") {
		t.Errorf("%s", a.raw)
	}
}
