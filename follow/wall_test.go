package follow_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"kith/db"
	"kith/follow"
	"kith/social"
	"kith/socialtest"
)

// rows is what lies between the people, in the order of their ids.
func rows(t testing.TB, s *socialtest.Store) string {
	t.Helper()
	var found []struct {
		Kind, A, B, State int64
	}
	noError(t, s.SQL.Select(&found, `
		SELECT 0 AS kind, user_id AS a, target_id AS b, state FROM following WHERE state <> 0
		UNION ALL SELECT 1, user_id, target_id, 0 FROM block
		UNION ALL SELECT 2, user_id, target_id, 0 FROM mute ORDER BY kind, a, b`))
	text := ""
	for _, r := range found {
		text += fmt.Sprintf("%d%s%d ", r.A, [][]string{{"", ">", "?", "#"}, {" blocks "}, {" mutes "}}[r.Kind][r.State], r.B)
	}
	return text
}

// sizes are what the store counts of somebody, all by one text.
func sizes(t testing.TB, s *socialtest.Store, id social.ID) string {
	t.Helper()
	return fmt.Sprintf("follows %d, pending %d, blocks %d, mutes %d, followers %d, requests %d",
		s.Int(t, "SELECT following FROM actor WHERE user_id = ?", id), s.Int(t, "SELECT pending FROM actor WHERE user_id = ?", id),
		s.Int(t, "SELECT blocking FROM actor WHERE user_id = ?", id), s.Int(t, "SELECT muting FROM actor WHERE user_id = ?", id),
		s.Int(t, "SELECT followers FROM user_count WHERE user_id = ?", id), s.Int(t, "SELECT requests FROM user_count WHERE user_id = ?", id))
}

// counted holds all counts against their rows.
func counted(t testing.TB, s *socialtest.Store) {
	t.Helper()
	consistent(t, s)
	for what, query := range map[string]string{
		"pending":  `SELECT COUNT(*) FROM actor a WHERE pending <> (SELECT COUNT(*) FROM following f WHERE f.user_id = a.user_id AND f.state IN (2, 3))`,
		"blocking": `SELECT COUNT(*) FROM actor a WHERE blocking <> (SELECT COUNT(*) FROM block b WHERE b.user_id = a.user_id)`,
		"muting":   `SELECT COUNT(*) FROM actor a WHERE muting <> (SELECT COUNT(*) FROM mute m WHERE m.user_id = a.user_id)`,
		"requests": `SELECT COUNT(*) FROM user_count c WHERE requests <> (SELECT COUNT(*) FROM follower f WHERE f.user_id = c.user_id AND f.state = 2)`,
	} {
		if n := s.Int(t, query); n != 0 {
			t.Errorf("%s: %d are wrong", what, n)
		}
	}
}

// step is one call and what lies between the people after it.
type step struct {
	what string
	do   func(context.Context) error
	code social.Code // of the refusal; empty for none
	then string
}

func steps(t *testing.T, s *socialtest.Store, all []step) {
	t.Helper()
	for i, c := range all {
		s.Clock.Advance(1e6)
		err := c.do(t.Context())
		if c.code == "" && err != nil || c.code != "" && !social.HasCode(err, c.code) {
			t.Errorf("%d, %s: got %v, want %q", i, c.what, err, c.code)
		}
		equal(t, fmt.Sprintf("%d, %s", i, c.what), rows(t, s), c.then)
		counted(t, s)
	}
}

func do(call func(context.Context, social.ID, social.ID) error, viewer, other social.ID) func(context.Context) error {
	return func(ctx context.Context) error { return call(ctx, viewer, other) }
}

func result(call func(context.Context, social.ID, social.ID) (follow.Result, error)) func(context.Context, social.ID, social.ID) error {
	return func(ctx context.Context, viewer, other social.ID) error {
		_, err := call(ctx, viewer, other)
		return err
	}
}

func TestBlockEndsBothFollowsAndStaysShut(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		follows := result(g.Follow)
		steps(t, s, []step{
			{"follow", do(follows, 1, 2), "", "1>2 "},
			{"back", do(follows, 2, 1), "", "1>2 2>1 "},
			{"block", do(g.Block, 1, 2), "", "1 blocks 2 "},
			{"again", do(g.Block, 1, 2), "", "1 blocks 2 "},
			{"follow the blocker", do(follows, 2, 1), social.NotFound, "1 blocks 2 "},
			{"follow the blocked", do(follows, 1, 2), social.Forbidden, "1 blocks 2 "},
			{"unfollow", do(result(g.Unfollow), 1, 2), "", "1 blocks 2 "},
			{"mute the blocker", do(g.Mute, 2, 1), social.NotFound, "1 blocks 2 "},
			{"block the blocker", do(g.Block, 2, 1), social.NotFound, "1 blocks 2 "},
			{"block oneself", do(g.Block, 1, 1), social.BadUserInput, "1 blocks 2 "},
			{"block nobody", do(g.Block, 1, 99), social.NotFound, "1 blocks 2 "},
			{"by nobody", do(g.Block, 99, 1), social.Unauthenticated, "1 blocks 2 "},
			{"unblock another", do(g.Unblock, 1, 3), "", "1 blocks 2 "},
			{"unblock nobody", do(g.Unblock, 1, 99), social.NotFound, "1 blocks 2 "},
			{"unblock the blocker", do(g.Unblock, 2, 1), social.NotFound, "1 blocks 2 "},
			{"unblock", do(g.Unblock, 1, 2), "", ""},
			{"again", do(g.Unblock, 1, 2), "", ""},
			{"follow", do(follows, 2, 1), "", "2>1 "},
		})
		equal(t, "blocker", sizes(t, s, 1), "follows 0, pending 0, blocks 0, mutes 0, followers 1, requests 0")
	})
}

func TestAPrivatePersonIsAsked(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		follows, unfollows := result(g.Follow), result(g.Unfollow)
		public := func(is int) func(context.Context) error {
			return func(context.Context) error {
				s.Exec(t, "UPDATE user SET is_private = ? WHERE id = 2", 1-is)
				return nil
			}
		}
		steps(t, s, []step{
			{"a follower from before", do(follows, 3, 2), "", "3>2 "},
			{"private", public(0), "", "3>2 "},
			{"who follows goes on", do(follows, 3, 2), "", "3>2 "},
			{"ask", do(follows, 1, 2), "", "1?2 3>2 "},
			{"again", do(follows, 1, 2), "", "1?2 3>2 "},
			{"take back", do(unfollows, 1, 2), "", "3>2 "},
			{"accept what is taken back", do(g.Accept, 2, 1), social.NotFound, "3>2 "},
			{"ask", do(follows, 1, 2), "", "1?2 3>2 "},
			{"reject", do(g.Reject, 2, 1), "", "3>2 "},
			{"again", do(g.Reject, 2, 1), "", "3>2 "},
			{"reject a follower", do(g.Reject, 2, 3), "", "3>2 "},
			{"reject nobody", do(g.Reject, 2, 99), social.NotFound, "3>2 "},
			{"ask", do(follows, 1, 2), "", "1?2 3>2 "},
			{"remove who asks", do(g.RemoveFollower, 2, 1), "", "1?2 3>2 "},
			{"accept as the asker", do(g.Accept, 1, 2), social.NotFound, "1?2 3>2 "},
			{"accept", do(g.Accept, 2, 1), "", "1>2 3>2 "},
			{"again", do(g.Accept, 2, 1), "", "1>2 3>2 "},
			{"remove", do(g.RemoveFollower, 2, 1), "", "3>2 "},
			{"again", do(g.RemoveFollower, 2, 1), "", "3>2 "},
			{"remove nobody", do(g.RemoveFollower, 2, 99), social.NotFound, "3>2 "},
			{"remove oneself", do(g.RemoveFollower, 2, 2), social.BadUserInput, "3>2 "},
			{"ask", do(follows, 1, 2), "", "1?2 3>2 "},
			{"public, and it waits on", public(1), "", "1?2 3>2 "},
			{"ask again", do(follows, 1, 2), "", "1>2 3>2 "},
			{"private", public(0), "", "1>2 3>2 "},
			{"block ends requests too", func(ctx context.Context) error {
				_, err := g.Unfollow(ctx, 1, 2)
				noError(t, err)
				_, err = g.Follow(ctx, 1, 2)
				noError(t, err)
				return g.Block(ctx, 2, 1)
			}, "", "3>2 2 blocks 1 "},
		})
		equal(t, "asked", sizes(t, s, 2), "follows 0, pending 0, blocks 1, mutes 0, followers 1, requests 0")
	})
}

func TestRequestsAndHiddenFollowsCountForTheCap(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3, 4)
		s.Exec(t, "UPDATE user SET is_private = 1 WHERE id = 2")
		g := follow.New(s.DB, s.Clock.Now, follow.Config{MaxFollowing: 2, MaxBlocking: 1, MaxMuting: 1})
		steps(t, s, []step{
			{"ask", do(result(g.Follow), 1, 2), "", "1?2 "},
			{"follow", do(result(g.Follow), 1, 3), "", "1?2 1>3 "},
			{"too many", do(result(g.Follow), 1, 4), social.LimitExceeded, "1?2 1>3 "},
			{"accept", do(g.Accept, 2, 1), "", "1>2 1>3 "},
			{"mute", do(g.Mute, 1, 4), "", "1>2 1>3 1 mutes 4 "},
			{"again", do(g.Mute, 1, 4), "", "1>2 1>3 1 mutes 4 "},
			{"mute too many", do(g.Mute, 1, 3), social.LimitExceeded, "1>2 1>3 1 mutes 4 "},
			{"unmute", do(g.Unmute, 1, 4), "", "1>2 1>3 "},
			{"unmute nobody", do(g.Unmute, 1, 99), social.NotFound, "1>2 1>3 "},
			{"block", do(g.Block, 1, 4), "", "1>2 1>3 1 blocks 4 "},
			{"block too many", do(g.Block, 1, 3), social.LimitExceeded, "1>2 1>3 1 blocks 4 "},
		})
	})
}

// A mute is a version of its owner's edges: caches tell by it whose blogs a feed has.
func TestMutesAreToldLikeFollows(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2)
		var told []social.FollowCall
		g := follow.New(s.DB, s.Clock.Now, follow.Config{Moved: func(_ context.Context, viewer social.ID, calls ...social.FollowCall) error {
			told = append(told, calls...)
			return nil
		}})
		for _, call := range []func(context.Context, social.ID, social.ID) error{result(g.Follow), g.Mute, g.Mute, result(g.Unfollow), result(g.Follow), g.Unmute, g.Unmute} {
			noError(t, call(t.Context(), 1, 2))
		}
		got := ""
		for _, c := range told {
			got += fmt.Sprintf("%d %t %t, ", c.Version, c.Changed, c.IsShown())
		}
		equal(t, "told", got, "1 true true, 2 true false, 2 false false, 3 true false, 4 true false, 5 true true, 5 false true, ")
		equal(t, "events", len(changes(t, s)[social.Pair{UserID: 1, TargetID: 2}]), 5)
	})
}

func TestManyAreFollowedEachByItself(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3, 4, 5)
		var asked []int
		g := follow.New(s.DB, s.Clock.Now, follow.Config{LimitMany: func(_ context.Context, _ social.ID, n int) error {
			asked = append(asked, n)
			return nil
		}})
		noError(t, g.Block(t.Context(), 1, 5))
		s.Exec(t, "UPDATE user SET is_private = 1 WHERE id = 4")
		_, err := g.Follow(t.Context(), 1, 2)
		noError(t, err)
		many, err := g.FollowMany(t.Context(), 1, []social.ID{3, 2, 3, 1, 99, 4, 5, 2})
		noError(t, err)
		got := ""
		for _, m := range many {
			got += fmt.Sprintf("%d: %d %t %v; ", m.Target, m.State, m.Changed, m.Err)
		}
		equal(t, "results", got, "3: 1 true <nil>; 2: 1 false <nil>; 1: 0 false BAD_USER_INPUT (userId): nobody follows themself; "+
			"99: 0 false NOT_FOUND (userId): there is no such user; 4: 2 true <nil>; "+
			"5: 0 false FORBIDDEN (userId): whom one blocks one does not follow; unblock first; ")
		equal(t, "people that the limit was asked for", asked, []int{6})
		equal(t, "rows", rows(t, s), "1>2 1>3 1?4 1 blocks 5 ")
		counted(t, s)
		many, err = g.FollowMany(t.Context(), 1, nil)
		noError(t, err)
		equal(t, "of none", len(many), 0)
		tooMany := make([]social.ID, follow.MaxMany+1)
		for i := range tooMany {
			tooMany[i] = social.ID(1000 + i)
		}
		if _, err := g.FollowMany(t.Context(), 1, tooMany); !social.HasCode(err, social.BadUserInput) {
			t.Errorf("too many: %v", err)
		}
	})
}

// Where the list has no room for all of them it is full of those named first.
func TestOfTooManyTheFirstAreFollowed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const n = 40
		people(t, s, upTo(n+1)...)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{MaxFollowing: n / 2})
		many, err := g.FollowMany(t.Context(), n+1, upTo(n))
		noError(t, err)
		for i, m := range many {
			if is := m.State == social.Following; is != (i < n/2) || is == social.HasCode(m.Err, social.LimitExceeded) {
				t.Errorf("number %d: %+v", i, m)
			}
		}
		counted(t, s)
	})
}

func setStatus(t testing.TB, s *socialtest.Store, id social.ID, to social.UserStatus) {
	t.Helper()
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error { return tx.UpdateStatus(t.Context(), id, to) }))
}

// settled lets the settler do all that there is.
func settled(t testing.TB, s *socialtest.Store, g *follow.Graph) {
	t.Helper()
	settler := follow.NewSettler(g, slog.New(slog.DiscardHandler), func(context.Context, social.ID, social.UserStatus) (bool, error) { return false, nil })
	noError(t, settler.Settle(t.Context()))
}

func TestEdgesOfTheSuspendedAreHiddenAndComeBack(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3, 4)
		s.Exec(t, "UPDATE user SET is_private = 1 WHERE id = 4")
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		status := func(id social.ID, to social.UserStatus) func(context.Context) error {
			return func(context.Context) error {
				setStatus(t, s, id, to)
				settled(t, s, g)
				return nil
			}
		}
		follows := result(g.Follow)
		for _, pair := range [][2]social.ID{{1, 2}, {2, 1}, {2, 3}, {3, 2}, {2, 4}, {1, 3}} {
			s.Clock.Advance(1e6)
			noError(t, follows(t.Context(), pair[0], pair[1]))
		}
		since := s.Int(t, "SELECT since FROM following WHERE user_id = 1 AND target_id = 2")
		steps(t, s, []step{
			{"suspend", status(2, social.Suspended), "", "1#2 1>3 2#1 2#3 2?4 3#2 "},
			{"follow the suspended", do(follows, 1, 2), social.NotFound, "1#2 1>3 2#1 2#3 2?4 3#2 "},
			{"suspend another", status(3, social.Suspended), "", "1#2 1#3 2#1 2#3 2?4 3#2 "},
			{"restore the first", status(2, social.Active), "", "1>2 1#3 2>1 2#3 2?4 3#2 "},
			{"unfollow the suspended", do(result(g.Unfollow), 1, 3), "", "1>2 2>1 2#3 2?4 3#2 "},
			{"restore the other", status(3, social.Active), "", "1>2 2>1 2>3 2?4 3>2 "},
		})
		equal(t, "since", s.Int(t, "SELECT since FROM following WHERE user_id = 1 AND target_id = 2"), since)
		steps(t, s, []step{
			{"mute", do(g.Mute, 2, 1), "", "1>2 2>1 2>3 2?4 3>2 2 mutes 1 "},
			{"block", do(g.Block, 4, 2), "", "1>2 2>1 2>3 3>2 4 blocks 2 2 mutes 1 "},
			{"suspend", status(2, social.Suspended), "", "1#2 2#1 2#3 3#2 4 blocks 2 2 mutes 1 "},
			{"block the suspended", do(g.Block, 3, 2), social.NotFound, "1#2 2#1 2#3 3#2 4 blocks 2 2 mutes 1 "},
			{"delete", status(2, social.Deleted), "", ""},
		})
		for _, id := range []social.ID{1, 2, 3, 4} {
			equal(t, "counts", sizes(t, s, id), "follows 0, pending 0, blocks 0, mutes 0, followers 0, requests 0")
		}
	})
}

// Who reads a status just before it changes may commit just after: so somebody is settled
// only once a pass that began later finds nothing.
func TestSettlingEndsOnceNobodyCanHaveReadTheOldStatus(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		setStatus(t, s, 2, social.Suspended)
		settled(t, s, g)
		equal(t, "still to settle", s.Int(t, "SELECT COUNT(*) FROM settling"), 1)
		late := social.Edge{Pair: social.Pair{UserID: 1, TargetID: 2}, State: social.Following, Since: 5}
		noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error { // by who read that 2 is active
			actor := &db.Actor{UserID: 1, GraphVersion: 1, Following: 1}
			for _, put := range []func() error{
				func() error { return tx.PutActors(t.Context(), []*db.Actor{actor}) },
				func() error { return tx.PutFollowing(t.Context(), []social.Edge{late}) },
				func() error { return tx.PutFollower(t.Context(), []social.Edge{late}) },
				func() error { return tx.AddCounts(t.Context(), []db.CountChange{{UserID: 2, Followers: 1}}) },
			} {
				if err := put(); err != nil {
					return err
				}
			}
			return nil
		}))
		s.Exec(t, "UPDATE settling SET since = since - 10000")
		settled(t, s, g)
		equal(t, "the late one", rows(t, s), "1#2 ")
		equal(t, "something was found", s.Int(t, "SELECT COUNT(*) FROM settling"), 1)
		settled(t, s, g)
		equal(t, "nothing was found", s.Int(t, "SELECT COUNT(*) FROM settling"), 0)
		counted(t, s)
	})
}

// However many have to wait until they are settled, who comes after them is looked at.
func TestSettlingReachesWhoeverWaits(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const n = 203
		people(t, s, upTo(n)...)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		_, err := g.Follow(t.Context(), 1, n)
		noError(t, err)
		setStatus(t, s, 2, social.Suspended)
		s.Exec(t, "UPDATE user SET status = ? WHERE id > 2", social.Suspended)
		s.Exec(t, "INSERT INTO settling (user_id, since) SELECT u.id, s.since FROM user u JOIN settling s ON s.user_id = 2 WHERE u.id > 2")
		settled(t, s, g)
		equal(t, "the last", rows(t, s), fmt.Sprintf("1#%d ", n))
		equal(t, "still to settle", s.Int(t, "SELECT COUNT(*) FROM settling"), n-1)
	})
}

// Who cannot be settled holds up nobody behind them.
func TestSettlingGoesOnPastWhoFails(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		_, err := g.Follow(t.Context(), 1, 3)
		noError(t, err)
		setStatus(t, s, 2, social.Deleted)
		s.Exec(t, "UPDATE settling SET since = since - 20000")
		setStatus(t, s, 3, social.Suspended)
		broken := errors.New("broken")
		settler := follow.NewSettler(g, slog.New(slog.DiscardHandler), func(context.Context, social.ID, social.UserStatus) (bool, error) { return false, broken })
		if err := settler.Settle(t.Context()); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		equal(t, "behind", rows(t, s), "1#3 ")
		equal(t, "still to settle", s.Int(t, "SELECT COUNT(*) FROM settling"), 2)
	})
}
