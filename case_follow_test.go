package main

import (
	"slices"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kith/social"
	"kith/socialtest"
)

const (
	followDoc = `mutation($u: ID!) { follow(input: {userId: $u}) { userId state changed
		user { id viewerIsFollowing isMutual followerCount } viewer { id followingCount } } }`
	unfollowDoc = `mutation($u: ID!) { unfollow(input: {userId: $u}) { userId state changed
		user { id viewerIsFollowing isMutual followerCount } viewer { id followingCount } } }`
)

// FOL-1
func TestSelfFollowIsRefusedAndWritesNothing(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		before := w.rowCounts(t)
		for _, doc := range []string{followDoc, unfollowDoc} {
			a := u[0].Do(t, doc, map[string]any{"u": u[0].gid})
			wantError(t, a, social.BadUserInput, "userId")
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
		u[0].follow(t, u[1])
		if got := counts(t, u[0].Client, u[0].gid); got != [3]int64{0, 1, 0} {
			t.Errorf("followers, following and blogs are %v", got)
		}
		if l := list(t, u[0].Client, u[0].gid, "followers", 10, ""); len(l.ids) != 0 {
			t.Errorf("followers: %v", l.ids)
		}
		if l := list(t, u[0].Client, u[0].gid, "following", 10, ""); !slices.Equal(l.ids, []string{u[1].gid}) {
			t.Errorf("following: %v", l.ids)
		}
	})
}

// FOL-2
func TestTenEqualFollowsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	const rounds, copies = 30, 10
	eachWorld(t, func(t *testing.T, w *world) {
		servers := []*server{w.server}
		if w.IsMySQL() {
			servers = append(servers, wiredServer(t, w.Store, 3))
		}
		u := w.persons(t, rounds+1)
		for round := range rounds {
			me, target := u[round], u[round+1]
			w.takeEvents(t, social.FollowEvent)
			answers := atOnce(copies, func(i int) socialtest.Answer {
				return me.at(servers[i%len(servers)]).Do(t, followDoc, map[string]any{"u": target.gid})
			})
			changed := 0
			for _, a := range answers {
				f := a.Data().Get("follow")
				if a.Code() != "" || !f.Get("user.viewerIsFollowing").Bool() || f.Get("state").String() != "FOLLOWING" {
					t.Errorf("round %d answered %s", round, a.Body)
				}
				if f.Get("changed").Bool() {
					changed++
				}
			}
			events := w.takeEvents(t, social.FollowEvent)
			rows := w.Int(t, "SELECT COUNT(*) FROM following WHERE user_id = ? AND target_id = ? AND state = 1", me.id, target.id)
			if changed != 1 || rows != 1 || len(events) != 1 || events[0].Get("changes.#").Int() != 1 {
				t.Errorf("round %d: %d changed something, %d rows, events %v", round, changed, rows, events)
			}
			if got := counts(t, target.Client, target.gid); got[0] != 1 {
				t.Errorf("round %d: %d followers", round, got[0])
			}
		}
	})
}

func TestNobodyFollowsMoreThanFiveThousand(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		u[0].follow(t, u[1])
		w.Exec(t, "UPDATE actor SET following = 5000 WHERE user_id = ?", u[0].id)
		before := w.rowCounts(t)
		wantError(t, u[0].Do(t, followDoc, map[string]any{"u": u[2].gid}), social.LimitExceeded, "")
		if f := u[0].follow(t, u[1]); f.Get("changed").Bool() || f.Get("state").String() != "FOLLOWING" {
			t.Errorf("whom one follows already: %s", f)
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
		// A place that becomes free is free at once, in one request.
		d := u[0].OK(t, `mutation($a: ID!, $b: ID!) { unfollow(input: {userId: $a}) { changed } follow(input: {userId: $b}) { changed } }`,
			map[string]any{"a": u[1].gid, "b": u[2].gid})
		if d.Raw != `{"unfollow":{"changed":true},"follow":{"changed":true}}` {
			t.Errorf("in the place of another: %s", d)
		}
	})
}

func TestUnfollowingWhomOneNeverFollowedChangesNothing(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		before := w.rowCounts(t)
		if f := u[0].unfollow(t, u[1]); f.Get("changed").Bool() || f.Get("state").String() != "NONE" || f.Get("viewer.followingCount").Int() != 0 {
			t.Errorf("unfollow answered %s", f)
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
	})
}

// atOnce runs n copies behind one start barrier.
func atOnce[T any](n int, do func(i int) T) []T {
	results := make([]T, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			results[i] = do(i)
		})
	}
	close(start)
	wg.Wait()
	return results
}

// CNT-5
func TestWhatChangedIsDecidedByRowsNotByAffectedRows(t *testing.T) {
	t.Parallel()
	for _, foundRows := range []bool{false, true} {
		name := "mysql"
		if foundRows {
			name = "mysql with clientFoundRows"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := socialtest.NewMySQL(t)
			cfg, err := mysql.ParseDSN(s.Config.MySQL)
			if err != nil {
				t.Fatal(err)
			}
			cfg.ClientFoundRows = foundRows
			s.Config.MySQL = cfg.FormatDSN()
			countsFollowRows(t, newWorld(t, s))
		})
	}
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); countsFollowRows(t, newWorld(t, socialtest.NewSQLite(t))) })
}

func countsFollowRows(t *testing.T, w *world) {
	u := w.persons(t, 2)
	for i, step := range []struct {
		doc     string
		count   int64
		changed bool
		state   social.FollowState
	}{
		{followDoc, 1, true, social.Following},
		{followDoc, 1, false, social.Following},
		{unfollowDoc, 0, true, social.NotFollowing},
		{unfollowDoc, 0, false, social.NotFollowing},
		{followDoc, 1, true, social.Following},
	} {
		payload := u[0].OK(t, step.doc, map[string]any{"u": u[1].gid})
		if got := payload.Get("*.changed").Bool(); got != step.changed {
			t.Errorf("step %d: changed is %v", i, got)
		}
		if got := counts(t, u[1].Client, u[1].gid); got[0] != step.count {
			t.Errorf("step %d: %d followers, want %d", i, got[0], step.count)
		}
		if got := counts(t, u[0].Client, u[0].gid); got[1] != step.count {
			t.Errorf("step %d: %d followed, want %d", i, got[1], step.count)
		}
		events := w.takeEvents(t, social.FollowEvent)
		switch {
		case !step.changed && len(events) != 0, step.changed && len(events) != 1:
			t.Errorf("step %d: events %v", i, events)
		case step.changed:
			c := events[0].Get("changes.0")
			if c.Get("user").String() != u[0].id.String() || c.Get("target").String() != u[1].id.String() || c.Get("state").Int() != int64(step.state) {
				t.Errorf("step %d: event %s", i, c)
			}
		}
	}
}
