package main

import (
	"math/rand/v2"
	"sync"
	"testing"

	"kith/socialtest"
)

// INF-5
func TestRandomFollowsThroughTwoServersNeverFailAndAgree(t *testing.T) {
	t.Parallel()
	const people, workers, each = 200, 50, 200
	s := socialtest.NewMySQL(t)
	w := newWorld(t, s)
	servers := []*server{w.server, wiredServer(t, s, 3)}
	u := w.persons(t, people)

	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(i)))
			for step := range each {
				me, target := u[rng.IntN(people)], u[rng.IntN(people)]
				switch i % 5 { // some follow everybody in order, up or down: two orders of locks
				case 0:
					me, target = u[i], u[(i+1+step)%people]
				case 1:
					me, target = u[i], u[(i+2*people-1-step)%people]
				}
				doc := `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`
				if rng.IntN(3) == 0 {
					doc = `mutation($u: ID!) { unfollow(input: {userId: $u}) { changed } }`
				}
				a := me.at(servers[rng.IntN(2)]).Do(t, doc, map[string]any{"u": target.gid})
				allowed := ""
				if me.id == target.id {
					allowed = "BAD_USER_INPUT"
				}
				if a.Code() != allowed || a.Status != 200 {
					t.Errorf("answered %d: %s", a.Status, a.Body)
					return
				}
			}
		})
	}
	wg.Wait()
	s.CheckInvariants(t)
	for _, p := range u[:20] {
		got := counts(t, p.Client, p.gid)
		for i, name := range []string{"followers", "following"} {
			if n := wholeList(t, p, name); int64(len(n)) != got[i] {
				t.Errorf("%s of %d: %d listed, %d counted", name, p.id, len(n), got[i])
			}
		}
	}
}

// wholeList pages through a list to its end and gives its ids, each checked to come once.
func wholeList(t testing.TB, p person, name string) []string {
	t.Helper()
	var ids []string
	seen := map[string]bool{}
	for after := ""; ; {
		l := list(t, p.Client, p.gid, name, 50, after)
		for _, id := range l.ids {
			if seen[id] {
				t.Errorf("%s is listed twice", id)
			}
			seen[id] = true
		}
		ids = append(ids, l.ids...)
		if !l.next {
			return ids
		}
		after = l.info.Get("endCursor").String()
	}
}
