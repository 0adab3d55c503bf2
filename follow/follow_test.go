package follow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"kith/db"
	"kith/follow"
	"kith/social"
	"kith/socialtest"
)

func people(t testing.TB, s *socialtest.Store, ids ...social.ID) {
	t.Helper()
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		for _, id := range ids {
			if err := tx.InsertUser(t.Context(), &social.User{ID: id, Handle: "user" + id.String(), Name: "x"}, "hash"); err != nil {
				return err
			}
		}
		return nil
	}))
}

func upTo(n social.ID) (ids []social.ID) {
	for id := social.ID(1); id <= n; id++ {
		ids = append(ids, id)
	}
	return ids
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func followers(t testing.TB, s *socialtest.Store, id social.ID) int64 {
	t.Helper()
	counts, err := s.DB.CountsByID(t.Context(), []social.ID{id})
	noError(t, err)
	return counts[id].Followers
}

// consistent asks that both sides of every edge and all counts agree with the rows.
func consistent(t testing.TB, s *socialtest.Store) {
	t.Helper()
	for what, query := range map[string]string{
		"edges without their other side": `SELECT COUNT(*) FROM following f LEFT JOIN follower g
			ON g.user_id = f.target_id AND g.follower_id = f.user_id AND g.state = f.state AND g.since = f.since WHERE g.user_id IS NULL`,
		"sides more than edges": `SELECT (SELECT COUNT(*) FROM follower) - (SELECT COUNT(*) FROM following)`,
		"actors whose following is wrong": `SELECT COUNT(*) FROM actor a
			WHERE following <> (SELECT COUNT(*) FROM following f WHERE f.user_id = a.user_id AND f.state = 1)`,
		"counts of followers that are wrong": `SELECT COUNT(*) FROM user_count c
			WHERE followers <> (SELECT COUNT(*) FROM follower f WHERE f.user_id = c.user_id AND f.state = 1)`,
	} {
		if n := s.Int(t, query); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// changes are all changes told in the outbox, in the order of their versions.
func changes(t testing.TB, s *socialtest.Store) map[social.Pair][]social.FollowChange {
	t.Helper()
	var bodies []string
	noError(t, s.SQL.Select(&bodies, "SELECT body FROM outbox WHERE kind = 'follow'"))
	told := map[social.Pair][]social.FollowChange{}
	for _, b := range bodies {
		var body social.FollowBody
		noError(t, json.Unmarshal([]byte(b), &body))
		for _, c := range body.Changes {
			p := social.Pair{UserID: c.UserID, TargetID: c.TargetID}
			told[p] = append(told[p], c)
		}
	}
	return told
}

// CNT-5 of the cases: what the driver calls affected rows decides nothing.
func TestFollowSequenceCountsAndTellsTrueChangesAlone(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"clientFoundRows=true", "clientFoundRows=false"} {
		t.Run("mysql "+flag, func(t *testing.T) {
			t.Parallel()
			s := socialtest.NewMySQL(t)
			separator := "?"
			if strings.Contains(s.Config.MySQL, "?") {
				separator = "&"
			}
			s.Config.MySQL += separator + flag
			s.DB = s.OpenServer(t)
			followSequence(t, s)
		})
	}
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); followSequence(t, socialtest.NewSQLite(t)) })
}

func followSequence(t *testing.T, s *socialtest.Store) {
	people(t, s, 1, 2)
	g := follow.New(s.DB, s.Clock.Now, follow.Config{})
	pair := social.Pair{UserID: 1, TargetID: 2}
	told := 0
	for i, c := range []struct {
		do     func(context.Context, social.ID, social.ID) (follow.Result, error)
		result follow.Result
		count  int64
	}{
		{g.Follow, follow.Result{State: social.Following, Changed: true}, 1},
		{g.Follow, follow.Result{State: social.Following}, 1},
		{g.Unfollow, follow.Result{State: social.NotFollowing, Changed: true}, 0},
		{g.Unfollow, follow.Result{State: social.NotFollowing}, 0},
		{g.Follow, follow.Result{State: social.Following, Changed: true}, 1},
	} {
		s.Clock.Advance(1e6)
		got, err := c.do(t.Context(), 1, 2)
		noError(t, err)
		equal(t, fmt.Sprintf("result %d", i), got, c.result)
		equal(t, fmt.Sprintf("followers after %d", i), followers(t, s, 2), c.count)
		if c.result.Changed {
			told++
		}
		equal(t, fmt.Sprintf("events after %d", i), len(changes(t, s)[pair]), told)
		consistent(t, s)
	}
	equal(t, "rows of the outbox", s.Int(t, "SELECT COUNT(*) FROM outbox"), 3)
	equal(t, "since is that of the last follow", s.Int(t, "SELECT since FROM following"), int64(s.Clock.NowMS()))
}

func TestWhoCannotBeFollowed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		_, err := g.Follow(t.Context(), 1, 3)
		noError(t, err)
		s.Exec(t, "DELETE FROM user WHERE id = 3") // gone for good, as in FEED-4 of the cases
		before := s.DB.Statements()
		for name, c := range map[string]struct {
			do     func(context.Context, social.ID, social.ID) (follow.Result, error)
			viewer social.ID
			target social.ID
			code   social.Code
		}{
			"oneself":                 {g.Follow, 1, 1, social.BadUserInput},
			"unfollow oneself":        {g.Unfollow, 1, 1, social.BadUserInput},
			"nobody":                  {g.Follow, 1, 99, social.NotFound},
			"unfollow nobody":         {g.Unfollow, 1, 99, social.NotFound},
			"somebody who went":       {g.Follow, 1, 3, social.NotFound},
			"by nobody":               {g.Follow, 99, 2, social.Unauthenticated},
			"a neighbour beyond 2^53": {g.Follow, 1, 653247040368672768, social.NotFound},
		} {
			if _, err := c.do(t.Context(), c.viewer, c.target); !social.HasCode(err, c.code) {
				t.Errorf("%s: got %v, want %s", name, err, c.code)
			}
		}
		equal(t, "statements: four for each but oneself", s.DB.Statements()-before, 5*4)
		equal(t, "edges", s.Int(t, "SELECT COUNT(*) FROM following"), 1)

		got, err := g.Unfollow(t.Context(), 1, 3)
		noError(t, err)
		equal(t, "unfollow somebody who went", got, follow.Result{State: social.NotFollowing, Changed: true})
		consistent(t, s)
	})
}

// DAT-1 of the cases: of two ids that one double stands for, exactly one is followed.
func TestIDsBeyondDoublesAreFollowedExactly(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const target = 653247040368672769
		people(t, s, 1, target)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		_, err := g.Follow(t.Context(), 1, target)
		noError(t, err)
		part, err := page(t, g.Following, social.Page{Limit: 10})
		noError(t, err)
		equal(t, "following", part.Items, []social.Peer{{ID: target, Since: s.Clock.NowMS()}})
		equal(t, "events", len(changes(t, s)[social.Pair{UserID: 1, TargetID: target}]), 1)
	})
}

// PAG-1 and PAG-4 of the cases.
func TestFollowersOfOneInstantArePagedExactly(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, upTo(31)...)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		for id := social.ID(2); id <= 31; id++ {
			_, err := g.Follow(t.Context(), id, 1)
			noError(t, err)
		}
		p := social.Page{Limit: 10}
		var ids []social.ID
		for _, more := range []bool{true, true, false} {
			part, err := page(t, g.Followers, p)
			noError(t, err)
			equal(t, "entries", len(part.Items), 10)
			equal(t, "has next", part.HasNext, more)
			equal(t, "has previous", part.HasPrevious, !p.AtHead())
			for _, peer := range part.Items {
				ids = append(ids, peer.ID)
			}
			p.From = part.Items[9].Cursor()
		}
		for i, id := range ids {
			equal(t, "highest id first", id, social.ID(31-i))
		}
	})
}

// all runs n functions that start together.
func all(n int, do func(i int)) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			do(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
}

// page reads a page of a list of person 1.
func page(t *testing.T, list func(context.Context, []social.Listing) (map[social.Listing]social.Part[social.Peer], error), p social.Page) (social.Part[social.Peer], error) {
	l := social.Listing{Owner: 1, Page: p}
	parts, err := list(t.Context(), []social.Listing{l})
	return parts[l], err
}

// Edges of whose actor is lost are settled once it is mended, and hold up nothing until then.
func TestEdgesOfWhoseActorIsLostAreSettledOnceItIsMended(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		for _, p := range []social.Pair{{UserID: 1, TargetID: 3}, {UserID: 2, TargetID: 3}} {
			_, err := g.Follow(t.Context(), p.UserID, p.TargetID)
			noError(t, err)
		}
		setStatus(t, s, 3, social.Suspended)
		s.Exec(t, "UPDATE settling SET since = since - 20000")
		s.Exec(t, "UPDATE actor SET user_id = -user_id WHERE user_id = 1")
		calls := 0
		settler := follow.NewSettler(g, slog.New(slog.DiscardHandler), func(context.Context, social.ID, social.UserStatus) (bool, error) {
			calls++
			return false, nil
		})
		for range 2 {
			if err := settler.Settle(t.Context()); err == nil {
				t.Error("it is not told")
			}
		}
		equal(t, "calls for the rest", calls, 2)
		equal(t, "without an actor", rows(t, s), "1>3 2#3 ")
		s.Exec(t, "UPDATE actor SET user_id = -user_id WHERE user_id = -1")
		settled(t, s, g)
		equal(t, "with one", rows(t, s), "1#3 2#3 ")
		counted(t, s)
	})
}
