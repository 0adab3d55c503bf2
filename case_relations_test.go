package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
)

const followManyDoc = `mutation($u: [ID!]!) { followMany(input: {userIds: $u}) { results { userId state changed errorCode user { viewerIsFollowing } } viewer { followingCount } } }`

// about does a mutation about another person.
func (p person) about(t testing.TB, verb string, other person) {
	t.Helper()
	p.OK(t, `mutation($u: ID!) { `+verb+`(input: {userId: $u}) { userId } }`, map[string]any{"u": other.gid})
}

func (p person) followMany(t testing.TB, others ...person) gjson.Result {
	t.Helper()
	var ids []string
	for _, o := range others {
		ids = append(ids, o.gid)
	}
	return p.OK(t, followManyDoc, map[string]any{"u": ids}).Get("followMany")
}

// verdicts are what became of each of many, shortly.
func verdicts(of gjson.Result, people []person) (short []string) {
	for _, r := range of.Get("results").Array() {
		i := slices.IndexFunc(people, func(p person) bool { return p.gid == r.Get("userId").String() })
		short = append(short, fmt.Sprintf("u%d %s %t %s", i+1, r.Get("state"), r.Get("changed").Bool(), r.Get("errorCode")))
	}
	return short
}

// FOL-1, step 2
func TestOneOfManyMayBeOneselfAndAloneIsRefused(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		got := u[0].followMany(t, u[0], u[1])
		same(t, "verdicts", fmt.Sprint(verdicts(got, u)), "[u1 NONE false BAD_USER_INPUT u2 FOLLOWING true ]")
		same(t, "counts", counts(t, u[0].Client, u[0].gid), [3]int64{0, 1, 0})
		same(t, "followers", len(list(t, u[0].Client, u[0].gid, "followers", 10, "").ids), 0)
		same(t, "following", fmt.Sprint(list(t, u[0].Client, u[0].gid, "following", 10, "").ids), fmt.Sprint([]string{u[1].gid}))
		w.checkWalls(t)
	})
}

// FOL-6
func TestIdsNamedTwiceInOneBatchAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		u[0].follow(t, u[3])
		w.takeEvents(t, social.FollowEvent)
		got := u[0].followMany(t, u[1], u[2], u[1], u[3], u[2])
		same(t, "verdicts", fmt.Sprint(verdicts(got, u)), "[u2 FOLLOWING true  u3 FOLLOWING true  u4 FOLLOWING false ]")
		same(t, "followed", got.Get("viewer.followingCount").Int(), 3)
		told := 0
		for _, e := range w.takeEvents(t, social.FollowEvent) {
			told += int(e.Get("changes.#").Int())
		}
		same(t, "changes told", told, 2)
		for _, p := range u[1:] {
			same(t, "followers", counts(t, p.Client, p.gid)[0], 1)
		}
	})
}

// BLK-1, but for what is told of it
func TestABlockEndsBothFollowsAndStaysShut(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		u[0].follow(t, u[1])
		u[1].follow(t, u[0])
		noRelation := func(what string) {
			t.Helper()
			for _, p := range u {
				same(t, what+": counts", counts(t, p.Client, p.gid), [3]int64{})
				for _, name := range []string{"followers", "following"} {
					l := list(t, p.Client, p.gid, name, 10, "")
					same(t, what+": "+name, fmt.Sprint(len(l.ids), l.total), "0 0")
				}
			}
		}
		u[0].about(t, "block", u[1])
		noRelation("blocked")
		const relation = `query($u: ID!) { node(id: $u) { ... on User { viewerIsFollowing isFollowingViewer viewerIsBlocking viewerCanFollow followerCount followingCount } } }`
		same(t, "the blocked to the blocker", u[0].OK(t, relation, map[string]any{"u": u[1].gid}).Raw,
			`{"node":{"viewerIsFollowing":false,"isFollowingViewer":false,"viewerIsBlocking":true,"viewerCanFollow":false,"followerCount":0,"followingCount":0}}`)
		same(t, "the blocker to the blocked", u[1].OK(t, relation, map[string]any{"u": u[0].gid}).Raw, `{"node":null}`)
		wantError(t, u[1].Do(t, followDoc, map[string]any{"u": u[0].gid}), social.NotFound, "userId")
		wantError(t, u[0].Do(t, followDoc, map[string]any{"u": u[1].gid}), social.Forbidden, "userId")
		noRelation("after the follows that were refused")
		u[0].about(t, "unblock", u[1])
		noRelation("unblocked")
		f := u[1].follow(t, u[0])
		same(t, "followed anew", fmt.Sprint(f.Get("changed").Bool(), f.Get("state"), f.Get("user.followerCount")), "true FOLLOWING 1")
		same(t, "counts", counts(t, u[0].Client, u[0].gid), [3]int64{1, 0, 0})
		w.checkWalls(t)
	})
}

// CNT-3: a count is right after its key was lost, and after some followers were blocked.
func TestBlocksTakeTheirFollowersOffTheCount(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		u1, others := w.person(t), w.persons(t, 12)
		for i, o := range others {
			if i == 10 {
				w.redis.DropKeys(t, "count:*")
			}
			o.follow(t, u1)
		}
		read := func(s *server) (count, paged int64) {
			me := u1.at(s)
			for after, more := "", true; more; {
				l := list(t, me.Client, u1.gid, "followers", 5, after)
				paged += int64(len(l.ids))
				after, more = l.info.Get("endCursor").String(), l.next
			}
			return counts(t, me.Client, u1.gid)[0], paged
		}
		count, _ := read(w.server)
		same(t, "after the follows", count, 12)
		for i, o := range others[:4] {
			s := w.servers[i%len(w.servers)]
			u1.at(s).about(t, "block", o)
			count, paged := read(w.servers[(i+1)%len(w.servers)])
			same(t, "counted", count, int64(11-i))
			same(t, "paged", paged, int64(11-i))
		}
	})
}

// INF-5: many people follow the same hundred at once, some in ascending and some in
// descending order, through two servers, and go on to follow and unfollow them one by one.
func TestManyWhoFollowTheSameHundredMeetNoDeadlock(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		servers, workers := []*server{w.server}, 10
		if w.IsMySQL() {
			servers, workers = append(servers, wiredServer(t, w.Store, 3)), 50
		}
		u := w.persons(t, 100+workers)
		ascending := u[:100]
		descending := slices.Clone(ascending)
		slices.Reverse(descending)
		var all sync.WaitGroup
		for i, me := range u[100:] {
			all.Go(func() {
				me := me.at(servers[i%len(servers)])
				order := [][]person{ascending, descending}[i/2%2]
				for range 3 {
					for _, r := range me.followMany(t, order...).Get("results").Array() {
						if r.Get("state").String() != "FOLLOWING" || r.Get("errorCode").String() != "" || !r.Get("user.viewerIsFollowing").Bool() {
							t.Errorf("one of many: %s", r)
						}
					}
					for range 10 {
						me.unfollow(t, ascending[rand.IntN(100)])
						me.follow(t, u[100+(i+1+rand.IntN(workers-1))%workers]) // also whom others follow who are at it
					}
				}
			})
		}
		all.Wait()
		for i, s := range servers {
			t.Logf("server %d ran %d transactions again after deadlocks", i, s.store.db.Deadlocks())
		}
		w.checkWalls(t)
		for _, p := range u[100:] {
			rows := w.Int(t, "SELECT COUNT(*) FROM following WHERE user_id = ? AND state = 1", p.id)
			same(t, "followed", counts(t, p.Client, p.gid)[1], rows)
		}
	})
}
