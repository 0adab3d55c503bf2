package main

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/social"
	"kith/socialtest"
)

// relationOperations is how many random operations there are, 1,000 in all: each is followed by
// reading everything there is.
func relationOperations(t *testing.T) int {
	switch path.Base(t.Name()) {
	case "mysql_and_redis":
		return 500
	case "mysql_and_cluster":
		return 250
	}
	return 250
}

// The model test of relations: random people do random mutations about each other through
// servers that share their stores, one of them with its caches off, while keys are dropped,
// Redis is emptied, killed and started, workers stop, and operators suspend, restore and
// delete people; the oracle is plain maps. Held against it is all that there is to see, by
// every path: lists, counts, how the viewer stands to people, feed, blogs, search.
//
// Whoever wrote last reads at once what is exactly so, through any server: their own
// mutation, and all that others were answered before. To others the wall, the lists but
// those of followers, and how they stand to people are exact at once as well, since they are
// read from rows; what servers keep in process may be a second old, and is exact when that
// has passed.
func TestRelationsEqualTheOracle(t *testing.T) {
	rapidly(t)
	t.Parallel()
	eachCached(t, 3, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		if len(w.servers) > 1 {
			w.halt(2) // all its reads pass the caches by
		}
		operations, checks := 0, 0
		check := func(r *rapid.T) {
			if operations >= relationOperations(t) {
				return
			}
			checks++
			m := &relationsModel{stage: stage{t: t, world: w}, bonds: newBonds(), prefix: fmt.Sprintf("c%d_", checks)}
			for i := range 6 {
				m.join(i)
			}
			actions := map[string]func(*rapid.T){
				"privacy": m.setPrivacy, "follow many": m.followMany, "page": m.page,
				"another looks": m.anotherLooks, "nobody looks": m.nobodyLooks, "clock": m.tick, "fault": m.fault, "status": m.setStatus,
			}
			for _, again := range []string{"", " again", " once more", " and on", " and on again"} {
				actions["mutate"+again] = m.mutate
			}
			for name, act := range actions {
				actions[name] = func(r *rapid.T) { act(r); operations++ } // but for one that is skipped
			}
			r.Repeat(actions)
			m.mend()
		}
		for operations < relationOperations(t) && !t.Failed() {
			checkApart(t, check)
		}
		t.Logf("%d operations", operations)
	})
}

// relationsModel is the oracle of relations beside the servers that it is held against.
type relationsModel struct {
	stage
	*bonds
	players []player
	prefix  string    // of their handles
	last    social.ID // who wrote last
	// changed is when an operator changed somebody's status last.
	changed time.Time
}

// join signs somebody up, who publishes a blog.
func (m *relationsModel) join(i int) {
	m.world.Clock.Advance(time.Millisecond)
	handle := fmt.Sprint(m.prefix, i)
	s, err := m.world.accounts.SignUp(m.t.Context(), handle, "Somebody", "password")
	if err != nil {
		m.t.Fatal(err)
	}
	p := player{handle: handle, person: person{id: s.User.ID, gid: s.User.GlobalID(), Client: socialtest.Client{Handler: m.world.handler, Token: s.Token}}}
	p.blog = p.publish(m.t, "a blog")
	m.players, m.ids = append(m.players, p), append(m.ids, p.id)
}

func (m *relationsModel) player(id social.ID) player {
	return m.players[slices.IndexFunc(m.players, func(p player) bool { return p.id == id })]
}

func (m *relationsModel) tick(r *rapid.T) {
	m.world.Clock.Advance(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute}).Draw(r, "step"))
}

// send does a mutation as somebody, who then looks through another server.
func (m *relationsModel) send(r *rapid.T, who social.ID, doc string, vars object) (answer socialtest.Answer, look func()) {
	i := rapid.IntRange(0, len(m.world.servers)-1).Draw(r, "writer")
	reader := m.world.servers[(i+rapid.IntRange(1, 2).Draw(r, "reader"))%len(m.world.servers)]
	answer = m.player(who).at(m.world.servers[i]).Do(m.t, doc, vars)
	return answer, func() {
		m.last = who
		n := rapid.IntRange(1, 6).Draw(r, "first")
		if d := difference("data", m.see(r, reader, who, n), m.view(m.players, who, n)); d != "" {
			r.Fatalf("%d, who did %s of %v: %s", who, doc, vars, d)
		}
	}
}

// see is the whole answer to somebody, 0 for nobody, by a server.
func (m *relationsModel) see(r *rapid.T, s *server, viewer social.ID, n int) any {
	c := socialtest.Client{Handler: s.handler}
	if viewer != 0 {
		c = m.player(viewer).at(s).Client
	}
	var ids, blogs []string
	for _, p := range m.players {
		ids, blogs = append(ids, p.gid), append(blogs, p.blog)
	}
	got := c.Do(m.t, question(m.players, viewer != 0), object{"n": n, "ids": append(ids, blogs...), "prefix": m.prefix})
	if got.Status != 200 || got.Code() != "" {
		r.Fatalf("%d looks: %d %s", viewer, got.Status, got.Body)
	}
	return dataOf(r, got)
}

func dataOf(r *rapid.T, a socialtest.Answer) (data any) {
	if err := json.Unmarshal([]byte(a.Data().Raw), &data); err != nil {
		r.Fatalf("%v: %s", err, a.Body)
	}
	return data
}

// mutate does one of the mutations about another person.
func (m *relationsModel) mutate(r *rapid.T) {
	verb := rapid.SampledFrom(verbs).Draw(r, "verb")
	p := m.pairFor(r, verb, m.ids)
	if !m.isActive(p.UserID) {
		r.Skip("who is suspended has no token")
	}
	isMove := isOf(verb, "follow", "unfollow")
	fields := "userId user { id } viewer { followingCount }"
	if isMove {
		fields += " state changed"
	}
	got, look := m.send(r, p.UserID, `mutation($u: ID!) { `+verb+`(input: {userId: $u}) { `+fields+` } }`, object{"u": social.GlobalID(social.UserNode, p.TargetID)})
	changed, refused := m.do(verb, p.UserID, p.TargetID, social.Millis(m.world.Clock.Now().UnixMilli()))
	var want any
	if refused == "" {
		payload := object{"userId": social.GlobalID(social.UserNode, p.TargetID), "viewer": object{"followingCount": len(m.list("following", 0, p.UserID))}, "user": nil}
		if m.bonds.see(p.UserID, p.TargetID) > social.Nothing {
			payload["user"] = object{"id": payload["userId"]}
		}
		if isMove {
			payload["state"], payload["changed"] = shownState(m.edges[p].State), changed
		}
		want = payload
	}
	if d := difference("data", dataOf(r, got), object{verb: want}); d != "" || got.Code() != string(refused) || refused != "" && got.Field() != "userId" {
		r.Fatalf("%s %v: %s; %s, want %q", verb, p, d, got.Body, refused)
	}
	look()
}

func shownState(s social.FollowState) string {
	return []string{"NONE", "FOLLOWING", "REQUESTED"}[s]
}

func (m *relationsModel) followMany(r *rapid.T) {
	viewer := m.active(r, "viewer", m.ids)
	var ids []string
	results := []any{}
	seen := map[social.ID]bool{}
	now := social.Millis(m.world.Clock.Now().UnixMilli())
	for _, target := range rapid.SliceOfN(rapid.SampledFrom(m.ids), 1, 8).Draw(r, "targets") {
		gid := social.GlobalID(social.UserNode, target)
		ids = append(ids, gid)
		if seen[target] {
			continue
		}
		seen[target] = true
		changed, refused := m.do("follow", viewer, target, now)
		one := object{"userId": gid, "changed": changed, "errorCode": nil}
		if refused != "" {
			one["errorCode"] = refused
		} else {
			one["state"] = shownState(m.edges[social.Pair{UserID: viewer, TargetID: target}].State)
		}
		results = append(results, one)
	}
	got, look := m.send(r, viewer, `mutation($u: [ID!]!) { followMany(input: {userIds: $u}) { results { userId state changed errorCode } } }`, object{"u": ids})
	if d := difference("data", dataOf(r, got), object{"followMany": object{"results": results}}); d != "" {
		r.Fatalf("%d follows %v: %s; %s", viewer, ids, d, got.Body)
	}
	look()
}

func (m *relationsModel) setPrivacy(r *rapid.T) {
	who, to := m.active(r, "who", m.ids), rapid.IntRange(0, 2).Draw(r, "private") == 0
	m.private[who] = to
	got, look := m.send(r, who, `mutation($p: Boolean!) { updateProfile(input: {isPrivate: $p}) { user { isPrivate } } }`, object{"p": to})
	if want := fmt.Sprintf(`{"updateProfile":{"user":{"isPrivate":%t}}}`, to); got.Data().Raw != want {
		r.Fatalf("updateProfile answered %s", got.Body)
	}
	look()
}

// setStatus suspends, restores or deletes somebody, as an operator does, and waits until
// their edges match and all caches know: no answer tells anybody when that is.
func (m *relationsModel) setStatus(r *rapid.T) {
	who, to := m.otherStatus(r, m.ids)
	if !m.guarded() {
		m.beginWorker(r)
	}
	m.world.setStatusOf(r, who, to)
	m.world.settle(r, m.server(r))
	m.world.drained(m.t)
	m.bonds.setStatus(who, to, social.Millis(m.world.Clock.Now().UnixMilli()))
	m.last, m.changed = 0, time.Now()
	if to == social.Active {
		i := slices.Index(m.ids, who)
		s, err := m.server(r).accounts.SessionOf(m.t.Context(), m.players[i].handle)
		if err != nil {
			r.Fatal(err)
		}
		m.players[i].Token = s.Token
	}
}

// page reads a list to its end as who wrote last, each page through any server.
func (m *relationsModel) page(r *rapid.T) {
	if m.last == 0 {
		r.Skip("nobody wrote yet")
	}
	name := rapid.SampledFrom([]string{
		"followers", "following", "mutualFollows", "followersYouKnow", "mutualFollows of Query", "followRequests", "blockedUsers", "mutedUsers",
	}).Draw(r, "list")
	at, path, of, least := `node(id: $id) { ... on User { %s } }`, "node.", m.person(r, "of"), social.Profile
	call := name + "(first: $n, after: $a)"
	switch {
	case name == "mutualFollows of Query":
		name, call, at, path = "mutualFollows", "mutualFollows(userId: $id, first: $n, after: $a)", "%s node(id: $id) { id }", ""
	case name == "blockedUsers":
		at, path, of, least = "%s node(id: $id) { id }", "", m.last, social.Name
	case isOf(name, "followRequests", "mutedUsers"):
		at, path, of = "%s node(id: $id) { id }", "", m.last
	}
	doc := `query($id: ID!, $n: Int, $a: String) { ` + fmt.Sprintf(at, call+` { nodes { id } pageInfo { hasNextPage endCursor } }`) + ` }`
	rows, want, got := m.list(name, m.last, of), []string{}, []string{}
	sight := m.bonds.see(m.last, of)
	if sight < social.Everything {
		rows = nil
	}
	for _, p := range rows {
		if m.bonds.see(m.last, p.ID) >= least {
			want = append(want, social.GlobalID(social.UserNode, p.ID))
		}
	}
	after, left := "", len(rows)
	for more := true; more; {
		n := rapid.IntRange(1, 4).Draw(r, "size")
		answer := m.player(m.last).at(m.server(r)).Do(m.t, doc, object{"id": social.GlobalID(social.UserNode, of), "n": n, "a": orNull(after)})
		if sight == social.Nothing {
			if path == "" && answer.Code() != string(social.NotFound) || answer.Data().Get("node").IsObject() {
				r.Fatalf("%s of %d, whom %d does not see: %s", name, of, m.last, answer.Body)
			}
			return
		}
		l := answer.Data().Get(path + name)
		more, after, left = l.Get("pageInfo.hasNextPage").Bool(), l.Get("pageInfo.endCursor").String(), max(0, left-n)
		if more != (left > 0) {
			r.Fatalf("%s of %d to %d: %s with %d left", name, of, m.last, answer.Body, left)
		}
		for _, id := range l.Get("nodes.#.id").Array() {
			got = append(got, id.String())
		}
	}
	if !slices.Equal(got, want) {
		r.Fatalf("%s of %d to %d: %s, want %s", name, of, m.last, strings.Join(got, " "), strings.Join(want, " "))
	}
}

// anotherLooks is anybody, who may not have written lately.
func (m *relationsModel) anotherLooks(r *rapid.T) {
	who, s := m.active(r, "who", m.ids), m.server(r)
	// That somebody is not there is kept in process too.
	if d := difference("data", withoutKept(m.see(r, s, who, 4)), withoutKept(m.view(m.players, who, 4))); d != "" && time.Since(m.changed) > 2*time.Second {
		r.Fatalf("%d looks at rows: %s", who, d)
	}
	m.seesInTheEnd(r, s, who)
}

func (m *relationsModel) nobodyLooks(r *rapid.T) { m.seesInTheEnd(r, m.server(r), 0) }

// seesInTheEnd waits until what somebody sees is exact.
func (m *relationsModel) seesInTheEnd(r *rapid.T, s *server, who social.ID) {
	want := m.view(m.players, who, 6)
	for deadline := time.Now().Add(20 * time.Second); ; pause(nil, 5*time.Millisecond) {
		d := difference("data", m.see(r, s, who, 6), want)
		if d == "" {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("%d looks until all is calm: %s", who, d)
		}
	}
}
