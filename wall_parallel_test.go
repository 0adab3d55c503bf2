package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"kith/account"
	"kith/follow"
	"kith/social"
)

// contest is something that is done at once with a's block of b, by another server.
type contest struct {
	isPrivate bool // everybody
	before    func(ctx context.Context, g *follow.Graph, a, b social.ID) error
	against   func(ctx context.Context, g *follow.Graph, a, b social.ID) error
	refusals  []social.Code // of what came too late
}

func nothing(context.Context, *follow.Graph, social.ID, social.ID) error { return nil }

func followOf(ctx context.Context, g *follow.Graph, viewer, target social.ID) error {
	_, err := g.Follow(ctx, viewer, target)
	return err
}

func theyFollow(ctx context.Context, g *follow.Graph, a, b social.ID) error {
	return followOf(ctx, g, b, a)
}

func eachFollows(ctx context.Context, g *follow.Graph, a, b social.ID) error {
	if err := followOf(ctx, g, a, b); err != nil {
		return err
	}
	return followOf(ctx, g, b, a)
}

// A block and whatever would make or keep a follow, at once through two servers: whoever is
// first, nobody follows, or has asked to follow, whom they block or who blocks them, hidden
// or not; and all counts are those of the rows.
func TestNobodyFollowsAcrossABlockWhateverHappensAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]contest{
		"the blocked follows": {false, nothing, theyFollow, []social.Code{social.NotFound}},
		"the blocker follows": {false, nothing, followOf, []social.Code{social.Forbidden}},
		"the blocked follows many": {false, nothing, func(ctx context.Context, g *follow.Graph, a, b social.ID) error {
			got, err := g.FollowMany(ctx, b, []social.ID{a, b})
			if err != nil {
				return err
			}
			return got[0].Err
		}, []social.Code{social.NotFound}},
		"the blocker accepts": {true, theyFollow, func(ctx context.Context, g *follow.Graph, a, b social.ID) error {
			return g.Accept(ctx, a, b)
		}, []social.Code{social.NotFound}},
		"each blocks the other": {false, eachFollows, func(ctx context.Context, g *follow.Graph, a, b social.ID) error {
			return g.Block(ctx, b, a)
		}, []social.Code{social.NotFound}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 15 // people: 105 pairs
			if name == "the blocked follows" {
				n = 46 // 1,035
			}
			eachWorld(t, func(t *testing.T, w *world) { w.contend(t, c, n) })
		})
	}
}

// contend holds the contest among all pairs of some people, four at a time.
func (w *world) contend(t *testing.T, c contest, n int) {
	here, there := w.server.graph, w.server.graph
	if w.IsMySQL() {
		there = wiredServer(t, w.Store, 3).graph
	} else {
		n = 10
	}
	people := w.persons(t, n)
	if c.isPrivate {
		w.Exec(t, "UPDATE user SET is_private = 1")
	}
	pairs := make(chan social.Pair)
	var all sync.WaitGroup
	var first, late, neither atomic.Int64
	for range 4 {
		all.Go(func() {
			for p := range pairs {
				a, b := p.UserID, p.TargetID
				if err := c.before(t.Context(), here, a, b); err != nil {
					t.Error(err)
				}
				errs := atOnce(2, func(i int) error {
					if i == 0 {
						w.handicap(t)
						return here.Block(t.Context(), a, b)
					}
					return c.against(t.Context(), there, a, b)
				})
				switch {
				case errs[0] == nil && errs[1] == nil:
					first.Add(1)
				case errs[0] == nil && isOneOf(errs[1], c.refusals):
					late.Add(1)
				case errs[1] == nil && isOneOf(errs[0], c.refusals):
					neither.Add(1) // of a's; b's stands
				default:
					t.Errorf("block: %v, beside it: %v", errs[0], errs[1])
				}
			}
		})
	}
	for i := range people {
		for k := range i {
			pairs <- social.Pair{UserID: people[i].id, TargetID: people[k].id}
		}
	}
	close(pairs)
	all.Wait()
	t.Logf("before the block: %d, after it: %d; refused blocks: %d", first.Load(), late.Load(), neither.Load())
	w.checkWalls(t)
	if got, want := w.Int(t, "SELECT COUNT(*) FROM block"), int64(n*(n-1)/2); got != want {
		t.Errorf("%d blocks, want %d", got, want)
	}
}

// handicap lets a block begin up to some statements later than what is done at once with it,
// which takes longer: so either may be first.
func (w *world) handicap(t *testing.T) {
	for range rand.IntN(8) {
		w.Int(t, "SELECT COUNT(*) FROM lane")
	}
}

func isOneOf(err error, codes []social.Code) bool {
	for _, c := range codes {
		if social.HasCode(err, c) {
			return true
		}
	}
	return false
}

// checkWalls holds the rows against each other: edges, walls, and every count.
func (w *world) checkWalls(t *testing.T) {
	t.Helper()
	w.CheckInvariants(t)
	for what, query := range map[string]string{
		"edges beside a block": `SELECT COUNT(*) FROM block b JOIN following f ON f.user_id = b.user_id AND f.target_id = b.target_id
			OR f.user_id = b.target_id AND f.target_id = b.user_id WHERE f.state <> 0`,
		"counts of the pending": `SELECT COUNT(*) FROM actor a WHERE pending <> (SELECT COUNT(*) FROM following f WHERE f.user_id = a.user_id AND f.state IN (2, 3))`,
		"counts of the blocked": `SELECT COUNT(*) FROM actor a WHERE blocking <> (SELECT COUNT(*) FROM block b WHERE b.user_id = a.user_id)`,
		"counts of the muted":   `SELECT COUNT(*) FROM actor a WHERE muting <> (SELECT COUNT(*) FROM mute m WHERE m.user_id = a.user_id)`,
		"counts of requests":    `SELECT COUNT(*) FROM user_count c WHERE requests <> (SELECT COUNT(*) FROM follower f WHERE f.user_id = c.user_id AND f.state = 2)`,
	} {
		if n := w.Int(t, query); n != 0 {
			t.Errorf("%s: %d are wrong", what, n)
		}
	}
}

// The same for a block while one of the two is suspended, and while they are restored, each
// with all that settles their edges: what a block ended does not come back with them.
func TestNoFollowComesBackAcrossABlockWithARestoredPerson(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		servers, couples, rounds := []*server{w.server, w.server}, 2, 20
		if w.IsMySQL() {
			servers[1], couples, rounds = wiredServer(t, w.Store, 3), 8, 125
		}
		var all sync.WaitGroup
		var blocked [3]atomic.Int64
		for range couples {
			two := w.persons(t, 2)
			handles := []string{fmt.Sprintf("u%d_test", w.people-1), fmt.Sprintf("u%d_test", w.people)}
			all.Go(func() {
				for round := range rounds {
					if t.Failed() {
						return
					}
					blocked[w.suspendBeside(t, servers, two, handles[round%2])].Add(1)
				}
			})
		}
		all.Wait()
		t.Logf("blocked beside the suspension: %d, beside the restoration: %d, after both: %d", blocked[0].Load(), blocked[1].Load(), blocked[2].Load())
		w.checkWalls(t)
	})
}

// suspendBeside is one round, which leaves the first blocking the second. It tells at which
// of three tries the block went through.
func (w *world) suspendBeside(t *testing.T, servers []*server, two []person, handle string) (try int) {
	ctx, a, b := t.Context(), two[0].id, two[1].id
	must := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	settle := func(to social.UserStatus) {
		_, err := account.SetStatus(ctx, w.DB, w.Clock.Now, handle, to)
		must("set the status", err)
		must("settle", follow.NewSettler(servers[1].graph, servers[1].log, servers[1].settle).Settle(ctx))
	}
	must("unblock", servers[0].graph.Unblock(ctx, a, b))
	must("follow", eachFollows(ctx, servers[0].graph, a, b))
	try = 2
	for i, to := range []social.UserStatus{social.Suspended, social.Active} {
		errs := atOnce(2, func(k int) error {
			if k == 0 {
				w.handicap(t)
				return servers[0].graph.Block(ctx, a, b)
			}
			settle(to)
			return nil
		})
		switch {
		case errs[0] == nil:
			try = min(try, i)
		case !isOneOf(errs[0], []social.Code{social.NotFound, social.Unauthenticated}):
			t.Errorf("block: %v", errs[0])
		}
	}
	settle(social.Active)
	must("block", servers[1].graph.Block(ctx, a, b))
	w.Exec(t, "DELETE FROM settling WHERE user_id IN (?, ?)", a, b) // or the others settle them again and again
	return try
}
