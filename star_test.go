package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/cache"
	"kith/social"
	"kith/socialtest"
)

// starPage is what a profile shows of somebody, by handle.
const starPage = `{ user(handle: "star") { id followerCount followers(first: 20) { totalCount nodes { handle } pageInfo { endCursor hasNextPage } } } }`

// star makes a person whom fans follow.
func (w *world) star(t testing.TB, fans int) social.ID {
	t.Helper()
	s, err := w.accounts.SignUp(t.Context(), "star", "Star", "password")
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Advance(time.Second)
	id := s.User.ID
	var users, follower, actors, counts []string
	for i := range fans {
		fan := id + 1 + social.ID(i)
		users = append(users, fmt.Sprintf("(%d,'fan%d','Fan','','x')", fan, i))
		follower = append(follower, fmt.Sprintf("(%d,%d,1,%d)", id, fan, 1_700_000_000_000+i/3))
		actors = append(actors, fmt.Sprintf("(%d,0,1)", fan))
		counts = append(counts, fmt.Sprintf("(%d,0,0,0)", fan))
	}
	w.Exec(t, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES "+strings.Join(users, ","))
	w.Exec(t, "INSERT INTO follower (user_id, follower_id, state, since) VALUES "+strings.Join(follower, ","))
	w.Exec(t, "INSERT INTO actor (user_id, graph_version, following) VALUES "+strings.Join(actors, ","))
	w.Exec(t, "INSERT INTO user_count (user_id, followers, blogs, version) VALUES "+strings.Join(counts, ","))
	w.Exec(t, "UPDATE user_count SET followers = ? WHERE user_id = ?", fans, id)
	return id
}

// readsMany reads n times, 4 at once, and tells the round trips and the seconds begun.
func readsMany(t *testing.T, s *server, n int64, read func() error) (trips, int64) {
	t.Helper()
	began := time.Now()
	var asked atomic.Int64
	var clients sync.WaitGroup
	took := counting(s, func() {
		for range 4 {
			clients.Go(func() {
				for asked.Add(1) <= n {
					if err := read(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		clients.Wait()
	})
	elapsed := time.Since(began)
	t.Logf("%d reads in %v: %+v", n, elapsed, took)
	return took, int64(elapsed/time.Second) + 1
}

// asks is a request that must be answered so.
func asks(t *testing.T, c socialtest.Client, query string, good func(data gjson.Result) bool) func() error {
	return func() error {
		if a := c.Do(t, query, nil); a.Status != 200 || !good(a.Data()) {
			return fmt.Errorf("answered %d: %.300s", a.Status, a.Body)
		}
		return nil
	}
}

// profile reads what starPage shows, below GraphQL, as one request of nobody.
func profile(ctx context.Context, s *server, fans int64) error {
	ctx = cache.With(ctx)
	ids, err := s.caches.Handles(ctx, []string{"star"})
	if err != nil {
		return err
	}
	star := ids["star"]
	l := social.Listing{Owner: star, Page: social.Page{Limit: 20}}
	parts, err := s.graph.Followers(ctx, []social.Listing{l})
	if err != nil {
		return err
	}
	people := []social.ID{star}
	for _, p := range parts[l].Items {
		people = append(people, p.ID)
	}
	users, err := s.caches.Users(ctx, people)
	if err != nil {
		return err
	}
	counts, err := s.caches.Counts(ctx, []social.ID{star})
	if err == nil && (len(users) != 21 || counts[star].Followers != fans || !parts[l].HasNext) {
		err = fmt.Errorf("%d people, %+v", len(users), counts)
	}
	return err
}

// 10,000 reads of a star's profile, with the first page of those who follow, reach the
// stores a few times in a second: what is in process is read anew each second. So do
// requests, and those of the signed in, but that each asks Redis when its viewer last wrote,
// and by primary keys whom the viewer may see: the star, and then those on the page.
func TestTenThousandReadsOfAStarReachTheStoresAFewTimes(t *testing.T) {
	const fans, requests = 1500, 300
	eachCached(t, 2, quietly, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		s := w.still(t)
		w.star(t, fans)
		me := w.person(t)
		good := func(d gjson.Result) bool {
			return d.Get("user.followerCount").Int() == fans && d.Get("user.followers.totalCount").Int() == fans &&
				d.Get("user.followers.nodes.0.handle").String() == "fan1499" && len(d.Get("user.followers.nodes").Array()) == 20
		}
		// In a second: the handle, the person, those on the page, the counts, the head; and
		// once more what came too late on a busy machine. Before the head is worth it, 10
		// pages.
		bound := func(seconds int64) int64 { return 2*5*(seconds+1) + 10 }
		n, seconds := readsMany(t, s, 10_000, func() error { return profile(t.Context(), s, fans) })
		if n.sql > bound(seconds) || n.redis > bound(seconds) {
			t.Errorf("%+v in %d s", n, seconds)
		}
		n, seconds = readsMany(t, s, requests, asks(t, w.nobodyAt(s), starPage, good))
		if n.sql > bound(seconds) || n.redis > bound(seconds) {
			t.Errorf("requests: %+v in %d s", n, seconds)
		}
		me.Handler = s.handler
		me.OK(t, `{ user(handle: "star") { id } }`, nil) // who is not known to have written may have
		w.calm(t)
		n, seconds = readsMany(t, s, requests, asks(t, me.Client, starPage, good))
		if n.sql > bound(seconds)+2*requests || n.redis > bound(seconds)+requests {
			t.Errorf("signed in: %+v in %d s", n, seconds)
		}
	})
}

// Nor do requests for somebody who is not there, or for the followers of somebody who has
// none.
func TestReadsOfNobodyReachTheStoresAFewTimes(t *testing.T) {
	eachCached(t, 2, quietly, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		s := w.still(t)
		w.star(t, 1)
		w.Exec(t, "DELETE FROM follower")
		w.Exec(t, "UPDATE user_count SET followers = 0")
		for query, want := range map[string]string{
			`{ user(handle: "nobody") { id } node(id: "` + social.GlobalID(social.UserNode, unknownID) + `") { id } }`: `{"user":null,"node":null}`,
			`{ user(handle: "star") { followers { totalCount nodes { id } } } }`:                                       `{"user":{"followers":{"totalCount":0,"nodes":[]}}}`,
		} {
			n, seconds := readsMany(t, s, 500, asks(t, w.nobodyAt(s), query, func(d gjson.Result) bool { return d.Raw == want }))
			if bound := 2*4*(seconds+1) + 10; n.sql > bound || n.redis > bound {
				t.Errorf("%s: %+v in %d s", query, n, seconds)
			}
		}
	})
}

// nobodyAt is a client of a server that is not signed in.
func (w *world) nobodyAt(s *server) socialtest.Client { return socialtest.Client{Handler: s.handler} }

// Who follows a star sees it at once, in the list and in the count, however often others
// read it from process.
func TestWhoFollowsAStarSeesItAtOnce(t *testing.T) {
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star := w.star(t, 30)
		s := w.servers[len(w.servers)-1]
		hot := func() { w.nobodyAt(s).OK(t, starPage, nil) }
		for range 50 {
			hot()
		}
		for i := range 5 {
			fan := w.person(t)
			w.Clock.Advance(time.Millisecond)
			hot()
			there, elsewhere := fan, fan
			there.Handler, elsewhere.Handler = w.handler, s.handler
			there.follow(t, person{gid: social.GlobalID(social.UserNode, star)})
			for _, c := range []person{there, elsewhere} {
				d := c.OK(t, starPage, nil).Get("user")
				if d.Get("followerCount").Int() != int64(31+i) || d.Get("followers.nodes.0.handle").String() != fmt.Sprintf("u%d_test", w.people) {
					t.Errorf("after follow %d: %s", i, d)
				}
			}
		}
		// Everybody else within a second.
		for deadline := time.Now().Add(20 * time.Second); w.nobodyAt(s).OK(t, starPage, nil).Get("user.followerCount").Int() != 35; pause(nil, time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("others do not see it")
			}
		}
		same(t, "the first follower that nobody sees", w.nobodyAt(s).OK(t, starPage, nil).Get("user.followers.nodes.0.handle").String(), fmt.Sprintf("u%d_test", w.people))
	})
}
