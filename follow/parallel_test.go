package follow_test

import (
	"errors"
	"testing"

	"kith/db"
	"kith/follow"
	"kith/social"
	"kith/socialtest"
)

// FOL-2 of the cases: one of ten identical calls changes something, none fails.
func TestIdenticalFollowsAtOnceChangeOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const rounds, calls = 10, 10
		people(t, s, upTo(2*rounds)...)
		servers := []*follow.Graph{
			follow.New(s.DB, s.Clock.Now, follow.Config{}), follow.New(s.OpenServer(t), s.Clock.Now, follow.Config{})}
		for round := range social.ID(rounds) {
			pair := social.Pair{UserID: 2*round + 1, TargetID: 2*round + 2}
			changed := make(chan bool, calls)
			all(calls, func(i int) {
				r, err := servers[i%2].Follow(t.Context(), pair.UserID, pair.TargetID)
				if err != nil || r.State != social.Following {
					t.Errorf("got %+v, %v", r, err)
				}
				changed <- r.Changed
			})
			n := 0
			for range calls {
				if <-changed {
					n++
				}
			}
			equal(t, "calls that changed something", n, 1)
			equal(t, "followers", followers(t, s, pair.TargetID), 1)
			equal(t, "events", len(changes(t, s)[pair]), 1)
		}
		equal(t, "edges", s.Int(t, "SELECT COUNT(*) FROM following"), rounds)
		consistent(t, s)
	})
}

// Whatever order fifty calls of one pair take, rows, counts and events agree: the true
// changes alternate, and their versions rise by one.
func TestFollowAndUnfollowOfOnePairAtOnceAgree(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2)
		servers := []*follow.Graph{
			follow.New(s.DB, s.Clock.Now, follow.Config{}), follow.New(s.OpenServer(t), s.Clock.Now, follow.Config{})}
		all(50, func(i int) {
			do := servers[i/2%2].Follow
			if i%2 == 1 {
				do = servers[i/2%2].Unfollow
			}
			if _, err := do(t.Context(), 1, 2); err != nil {
				t.Error(err)
			}
		})
		consistent(t, s)
		told := map[int64]social.FollowState{}
		for _, c := range changes(t, s)[social.Pair{UserID: 1, TargetID: 2}] {
			told[c.Version] = c.State
		}
		equal(t, "version", s.Int(t, "SELECT graph_version FROM actor WHERE user_id = 1"), int64(len(told)))
		for v := range int64(len(told)) {
			equal(t, "states alternate", told[v+1], social.FollowState(1-v%2))
		}
		equal(t, "state is that told last", s.Int(t, "SELECT state FROM following"), int64(told[int64(len(told))]))
	})
}

func TestTwoHundredFollowOneAtOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, upTo(201)...)
		servers := []*follow.Graph{
			follow.New(s.DB, s.Clock.Now, follow.Config{}), follow.New(s.OpenServer(t), s.Clock.Now, follow.Config{})}
		all(200, func(i int) {
			if _, err := servers[i%2].Follow(t.Context(), social.ID(i+2), 1); err != nil {
				t.Error(err)
			}
		})
		equal(t, "followers", followers(t, s, 1), 200)
		equal(t, "events", len(changes(t, s)), 200)
		consistent(t, s)
	})
}

// Two servers, people who follow and leave each other in all directions.
func TestManyPairsAtOnceStayConsistent(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const n = 8
		people(t, s, upTo(n)...)
		servers := []*follow.Graph{
			follow.New(s.DB, s.Clock.Now, follow.Config{}), follow.New(s.OpenServer(t), s.Clock.Now, follow.Config{})}
		all(2*n, func(i int) {
			me := social.ID(i%n + 1)
			for step := range 2 * n {
				target := (me+social.ID(step*(1+i/n)))%n + 1
				if target == me {
					continue
				}
				do := servers[i%2].Follow
				if (step+i)%3 == 0 {
					do = servers[i%2].Unfollow
				}
				if _, err := do(t.Context(), me, target); err != nil {
					t.Error(err)
				}
			}
		})
		consistent(t, s)
	})
}

func TestFollowingCapIsNeverExceeded(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const limit, targets = 5, 30
		people(t, s, upTo(targets+1)...)
		cfg := follow.Config{MaxFollowing: limit}
		servers := []*follow.Graph{follow.New(s.DB, s.Clock.Now, cfg), follow.New(s.OpenServer(t), s.Clock.Now, cfg)}
		followed := make(chan bool, targets)
		all(targets, func(i int) {
			_, err := servers[i%2].Follow(t.Context(), 1, social.ID(i+2))
			if err != nil && !social.HasCode(err, social.LimitExceeded) {
				t.Error(err)
			}
			followed <- err == nil
		})
		n := 0
		for range targets {
			if <-followed {
				n++
			}
		}
		equal(t, "followed", n, limit)
		equal(t, "edges", s.Int(t, "SELECT COUNT(*) FROM following WHERE state = 1"), limit)
		consistent(t, s)
	})
}

func TestFiveThousandIsTheCapUnlessSaid(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2, 3)
		s.Exec(t, "UPDATE actor SET following = 4999 WHERE user_id = 1")
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		_, err := g.Follow(t.Context(), 1, 2)
		noError(t, err)
		if _, err := g.Follow(t.Context(), 1, 3); !social.HasCode(err, social.LimitExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// A store that fails once in a batch leaves nothing half done.
func TestFollowsAreAllOrNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people(t, s, 1, 2)
		g := follow.New(s.DB, s.Clock.Now, follow.Config{})
		s.Exec(t, "ALTER TABLE outbox RENAME TO outbox_away") // the last step fails
		if _, err := g.Follow(t.Context(), 1, 2); err == nil {
			t.Error("followed without an event")
		}
		equal(t, "edges", s.Int(t, "SELECT COUNT(*) FROM following")+s.Int(t, "SELECT COUNT(*) FROM follower"), 0)
		equal(t, "followers", followers(t, s, 2), 0)
		s.Exec(t, "ALTER TABLE outbox_away RENAME TO outbox")
		_, err := g.Follow(t.Context(), 1, 2)
		noError(t, err)
		consistent(t, s)
	})
}

func TestClosedStoreAnswersAnError(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		d, err := db.Open(t.Context(), s.Config)
		noError(t, err)
		noError(t, errors.Join(d.CheckSchema(t.Context()), d.Close()))
		if _, err := follow.New(d, s.Clock.Now, follow.Config{}).Follow(t.Context(), 1, 2); err == nil {
			t.Error("followed in a closed store")
		}
	})
}
