package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
)

// graphOracle is a plain map of who follows whom, since when.
type graphOracle map[social.Pair]social.Millis

// list is whom a list should hold, latest first; since is the edge that the list shows.
func (o graphOracle) list(people []person, holds func(p person) (since social.Pair, in bool)) []social.Peer {
	var peers []social.Peer
	for _, p := range people {
		if edge, in := holds(p); in {
			if since, follows := o[edge]; follows {
				peers = append(peers, social.Peer{ID: p.id, Since: since})
			}
		}
	}
	slices.SortFunc(peers, func(a, b social.Peer) int {
		if a.Since != b.Since {
			return int(b.Since - a.Since)
		}
		return int(b.ID - a.ID)
	})
	return peers
}

func (o graphOracle) follows(from, to person) bool {
	_, follows := o[social.Pair{UserID: from.id, TargetID: to.id}]
	return follows
}

// lists are all lists of people of one, as another sees them.
func (o graphOracle) lists(people []person, viewer, of person) map[string][]social.Peer {
	mine := func(p person) social.Pair { return social.Pair{UserID: viewer.id, TargetID: p.id} }
	return map[string][]social.Peer{
		"followers":        o.list(people, func(p person) (social.Pair, bool) { return social.Pair{UserID: p.id, TargetID: of.id}, true }),
		"following":        o.list(people, func(p person) (social.Pair, bool) { return social.Pair{UserID: of.id, TargetID: p.id}, true }),
		"mutualFollows":    o.list(people, func(p person) (social.Pair, bool) { return mine(p), o.follows(of, p) }),
		"followersYouKnow": o.list(people, func(p person) (social.Pair, bool) { return mine(p), o.follows(p, of) }),
	}
}

// 500 random follows and unfollows among 12 people, with ties: then every list of every
// person as every other sees it, in pages of 1 to 7, is what the oracle says, and totalCount
// is its length. mutualFollows of Query is that of the person.
func TestListsOfPeopleEqualTheOracle(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		people := w.persons(t, 12)
		oracle := graphOracle{}
		rng := rand.New(rand.NewPCG(4, 4))
		for range 500 {
			from, to := people[rng.IntN(12)], people[rng.IntN(12)]
			if from.id == to.id {
				continue
			}
			pair := social.Pair{UserID: from.id, TargetID: to.id}
			if rng.IntN(3) == 0 {
				if _, err := w.graph.Unfollow(t.Context(), from.id, to.id); err != nil {
					t.Fatal(err)
				}
				delete(oracle, pair)
			} else {
				if _, err := w.graph.Follow(t.Context(), from.id, to.id); err != nil {
					t.Fatal(err)
				}
				if _, already := oracle[pair]; !already {
					oracle[pair] = social.Millis(w.Clock.Now().UnixMilli())
				}
			}
			if rng.IntN(4) == 0 {
				w.Clock.Advance(time.Millisecond)
			}
		}
		pages := 0
		for i, viewer := range people {
			for k, of := range people {
				for name, want := range oracle.lists(people, viewer, of) {
					pages += readsAll(t, viewer, name, of, 1+(i+k)%7, want)
				}
			}
		}
		t.Logf("%d follow, %d pages", len(oracle), pages)
	})
}

// readsAll pages a list to its end, and holds it against what it should be.
func readsAll(t *testing.T, viewer person, name string, of person, size int, want []social.Peer) (pages int) {
	t.Helper()
	var got []social.Peer
	after := ""
	for {
		l := list(t, viewer.Client, of.gid, name, size, after).checkEnds(t)
		pages++
		if l.total != int64(len(want)) || l.info.Get("hasPreviousPage").Bool() != (after != "") {
			t.Fatalf("%s of %d: total %d, want %d; %s", name, of.id, l.total, len(want), l.info)
		}
		if name == "mutualFollows" {
			sameAtTheRoot(t, viewer, of, size, after, l)
		}
		for i, e := range l.edges {
			_, id, err := social.ParseGlobalID("", l.ids[i])
			since, err2 := time.Parse(time.RFC3339, e.Get("since").String())
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			got = append(got, social.Peer{ID: id, Since: social.Millis(since.UnixMilli())})
		}
		if !l.next {
			break
		}
		if len(l.ids) != size {
			t.Fatalf("%s of %d by %d: a page of %d before the end", name, of.id, size, len(l.ids))
		}
		after = l.info.Get("endCursor").String()
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s of %d to %d by %d: %v, want %v", name, of.id, viewer.id, size, got, want)
	}
	return pages
}

func sameAtTheRoot(t *testing.T, viewer, of person, size int, after string, want listed) {
	t.Helper()
	l := readList(t, viewer.OK(t, `query($id: ID!, $n: Int, $a: String) { mutualFollows(userId: $id, first: $n, after: $a) { totalCount
		edges { cursor since node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
		map[string]any{"id": of.gid, "n": size, "a": orNull(after)}).Get("mutualFollows"))
	if fmt.Sprint(l.edges, l.info, l.total) != fmt.Sprint(want.edges, want.info, want.total) {
		t.Fatalf("at the root %v, of the person %v", l, want)
	}
}

// search reads a page of people by the beginning of their handle.
func search(t testing.TB, c person, prefix string, first int, after string) (handles []string, l gjson.Result) {
	t.Helper()
	l = c.OK(t, `query($p: String!, $n: Int, $a: String) { searchUsers(handlePrefix: $p, first: $n, after: $a) { totalCount
		edges { cursor since node { handle followerCount } } nodes { handle } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
		map[string]any{"p": prefix, "n": first, "a": orNull(after)}).Get("searchUsers")
	for i, e := range l.Get("edges").Array() {
		h := e.Get("node.handle").String()
		if e.Get("since").Type != gjson.Null || l.Get(fmt.Sprintf("nodes.%d.handle", i)).String() != h {
			t.Errorf("%s", e)
		}
		handles = append(handles, h)
	}
	return handles, l
}

// Random handles of few letters: every beginning finds whom it should, by handle, in pages
// of 1 to 7, in any case of letters, signed in or not.
func TestSearchEqualsTheOracle(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		rng := rand.New(rand.NewPCG(5, 5))
		taken := map[string]bool{}
		for len(taken) < 60 {
			h := ""
			for range 3 + rng.IntN(3) {
				h += string("a_0z"[rng.IntN(4)])
			}
			if taken[h] {
				continue
			}
			taken[h] = true
			if _, err := w.accounts.SignUp(t.Context(), h, "x", "password"); err != nil {
				t.Fatal(err)
			}
		}
		me := w.person(t)
		clients := []person{me, {Client: w.nobody()}}
		size := 0
		for _, a := range "a_0zA" {
			for _, b := range "a_0zZ" {
				for _, c := range []string{"", "a", "_"} {
					prefix := string(a) + string(b) + c
					var want, got []string
					for h := range taken {
						if strings.HasPrefix(h, strings.ToLower(prefix)) {
							want = append(want, h)
						}
					}
					slices.Sort(want)
					after := ""
					for more := true; more; {
						handles, l := search(t, clients[size%2], prefix, 1+size%7, after)
						if l.Get("totalCount").Int() != int64(len(want)) || l.Get("pageInfo.hasPreviousPage").Bool() != (after != "") {
							t.Errorf("%q: %s, want %d", prefix, l, len(want))
						}
						got = append(got, handles...)
						more, after = l.Get("pageInfo.hasNextPage").Bool(), l.Get("pageInfo.endCursor").String()
					}
					size++
					if !slices.Equal(got, want) {
						t.Errorf("%q: %v, want %v", prefix, got, want)
					}
				}
			}
		}
	})
}

// Whoever a cursor of a search stands on may be gone.
func TestSearchGoesOnAfterSomebodyWhoIsGone(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.persons(t, 4)[0] // u1_test to u4_test
		_, l := search(t, me, "u2", 1, "")
		if got := l.Get("nodes.0.handle").String(); got != "u2_test" {
			t.Fatal(got)
		}
		for _, h := range []string{"u2_a", "u2_z"} {
			if _, err := w.accounts.SignUp(t.Context(), h, "x", "password"); err != nil {
				t.Fatal(err)
			}
		}
		w.Exec(t, "DELETE FROM user WHERE handle = 'u2_test'")
		rest, _ := search(t, me, "u2", 5, l.Get("edges.0.cursor").String())
		if fmt.Sprint(rest) != "[u2_z]" {
			t.Errorf("the rest: %v", rest)
		}
	})
}

// Cursors are of one list: of one viewer and one person, or of one beginning of handles.
func TestCursorsOfSharedListsAreOfOneViewerAndOnePerson(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		for _, from := range u {
			for _, to := range u {
				if from.id != to.id {
					from.follow(t, to)
				}
			}
		}
		read := func(viewer person, name string, of person, after string) string {
			return viewer.Do(t, `query($id: ID!, $a: String) { node(id: $id) { ... on User { `+name+`(first: 1, after: $a) { nodes { id } } } } }`,
				map[string]any{"id": of.gid, "a": after}).Field()
		}
		for _, name := range []string{"mutualFollows", "followersYouKnow"} {
			cursor := list(t, u[0].Client, u[1].gid, name, 1, "").cursors[0]
			for _, other := range []string{"mutualFollows", "followersYouKnow", "followers", "following"} {
				for i, viewer := range u {
					for k, of := range u {
						want := "after"
						if i == 0 && k == 1 && other == name {
							want = ""
						}
						if field := read(viewer, other, of, cursor); field != want {
							t.Errorf("a cursor of %s of 0 and 1, at %s of %d and %d: about %q", name, other, i, k, field)
						}
					}
				}
			}
			if field := read(person{Client: w.nobody()}, name, u[1], cursor); field != "after" {
				t.Errorf("%s to nobody: about %q", name, field)
			}
		}
	})
}

// P8: the shared lists within a list, and their counts, are a statement each, not one for
// each person: 300 one by one. (Batches gather for a millisecond, which a busy machine stretches.)
func TestSharedListsWithinAListShareStatements(t *testing.T) {
	const people, bound = 60, 48
	eachWorld(t, func(t *testing.T, w *world) {
		reader := w.person(t)
		w.Clock.Advance(time.Second)
		authors := w.crowd(t, reader, people)
		var following, follower []string
		for i, a := range authors { // each follows the next
			next := authors[(i+1)%people]
			following = append(following, fmt.Sprintf("(%d,%d,1,5)", a, next))
			follower = append(follower, fmt.Sprintf("(%d,%d,1,5)", next, a))
		}
		w.Exec(t, "INSERT INTO following (user_id, target_id, state, since) VALUES "+strings.Join(following, ","))
		w.Exec(t, "INSERT INTO follower (user_id, follower_id, state, since) VALUES "+strings.Join(follower, ","))
		before := w.server.store.db.Statements()
		got := reader.OK(t, `query { viewer { following(first: 100) { nodes {
			mutualFollows(first: 3) { totalCount nodes { handle } }
			followersYouKnow(first: 3) { totalCount nodes { handle } }
		} } } }`, nil)
		if n := w.server.store.db.Statements() - before; n > bound {
			t.Errorf("%d statements for %d people, want at most %d", n, people, bound)
		}
		for i, n := range got.Get("viewer.following.nodes").Array() {
			at := people - 1 - i // latest first
			want := fmt.Sprintf(`{"mutualFollows":{"totalCount":1,"nodes":[{"handle":"a%d"}]},"followersYouKnow":{"totalCount":1,"nodes":[{"handle":"a%d"}]}}`,
				(at+1)%people, (at+people-1)%people)
			if n.Raw != want {
				t.Fatalf("%d: %s, want %s", i, n.Raw, want)
			}
		}
	})
}

func TestMutualFollowsOfAnUnknownPersonAreNotFound(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		a := w.person(t).Do(t, `query($id: ID!) { mutualFollows(userId: $id) { totalCount } viewer { handle } }`,
			map[string]any{"id": social.GlobalID(social.UserNode, unknownID)})
		wantError(t, a, social.NotFound, "userId")
		if a.Data().Get("mutualFollows").Type != gjson.Null || a.Data().Get("viewer.handle").String() != "u1_test" {
			t.Errorf("%s", a.Body)
		}
	})
}
