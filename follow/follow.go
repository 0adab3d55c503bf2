package follow

import (
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// MaxFollowing is how many people one person may follow; 0 is 5,000.
	MaxFollowing int64
	// Limit refuses a follow that comes too soon; nil lets all through.
	Limit func(ctx context.Context, viewer social.ID) error
	// Moved brings what a call left behind to where others keep it, before the answer;
	// nil for nowhere.
	Moved func(ctx context.Context, call social.FollowCall) error
	// Followers reads lists of followers, each up to one more than its page has; nil reads
	// them in SQL.
	Followers func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error)
}

// Graph is the follow graph. Safe for parallel use.
type Graph struct {
	db    *db.DB
	clock social.Clock
	max   int64
	limit func(ctx context.Context, viewer social.ID) error
	moved func(ctx context.Context, call social.FollowCall) error
	group *db.Group[*change]

	followers func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error)
}

// New makes the graph over the store.
func New(d *db.DB, clock social.Clock, cfg Config) *Graph {
	g := &Graph{db: d, clock: clock, max: cfg.MaxFollowing, limit: cfg.Limit, moved: cfg.Moved, followers: cfg.Followers}
	if g.max == 0 {
		g.max = 5000
	}
	if g.followers == nil {
		g.followers = d.Followers
	}
	g.group = db.NewGroup(g.commit)
	return g
}

// Result is what a call left behind.
type Result struct {
	State social.FollowState
	// Changed is false when the call found things as it would have left them.
	Changed bool
}

// Follow makes the viewer follow the target; idempotent. Oneself is BAD_USER_INPUT, a
// target that does not exist NOT_FOUND, one too many LIMIT_EXCEEDED, one too soon
// RATE_LIMITED. When it returns nil the change is committed.
func (g *Graph) Follow(ctx context.Context, viewer, target social.ID) (Result, error) {
	return g.move(ctx, viewer, target, social.Following)
}

// Unfollow ends that the viewer follows the target; idempotent, and also for people who
// no longer exist. Oneself is BAD_USER_INPUT; whoever neither exists nor was ever
// followed is NOT_FOUND.
func (g *Graph) Unfollow(ctx context.Context, viewer, target social.ID) (Result, error) {
	return g.move(ctx, viewer, target, social.NotFollowing)
}

func (g *Graph) move(ctx context.Context, viewer, target social.ID, to social.FollowState) (Result, error) {
	if viewer == target {
		return Result{}, social.Invalid("userId", "nobody follows themself")
	}
	if to == social.Following && g.limit != nil {
		if err := g.limit(ctx, viewer); err != nil {
			return Result{}, err
		}
	}
	c := &change{pair: social.Pair{UserID: viewer, TargetID: target}, to: to}
	if err := g.group.Do(ctx, c); err != nil {
		return Result{}, err
	}
	if c.err != nil || g.moved == nil {
		return c.result, c.err
	}
	return c.result, g.moved(ctx, c.call())
}

// commit brings a batch of changes into one transaction.
func (g *Graph) commit(ctx context.Context, changes []*change) error {
	return g.db.Transact(ctx, func(tx *db.Tx) error {
		before, err := readState(ctx, tx, changes)
		if err != nil {
			return err
		}
		return write(ctx, tx, decide(changes, before, g.clock.NowMS(), g.max))
	})
}

// readState locks the owners and reads what the decision needs, plainly: under the
// owners' locks nobody else changes these edges.
func readState(ctx context.Context, tx *db.Tx, changes []*change) (state, error) {
	var owners, targets []social.ID
	var pairs []social.Pair
	for _, c := range changes {
		owners = append(owners, c.pair.UserID)
		targets = append(targets, c.pair.TargetID)
		pairs = append(pairs, c.pair)
	}
	var s state
	var err error
	if s.actors, err = tx.LockActors(ctx, distinct(owners)); err != nil {
		return s, err
	}
	if s.follows, err = tx.FollowStates(ctx, pairs); err != nil {
		return s, err
	}
	s.people = map[social.ID]bool{}
	for chunk := range slices.Chunk(distinct(slices.Concat(owners, targets)), db.MaxIn) {
		found, err := tx.ExistingUsers(ctx, chunk)
		if err != nil {
			return s, err
		}
		for _, id := range found {
			s.people[id] = true
		}
	}
	return s, nil
}

// write stores what was decided, in the one order of locks.
func write(ctx context.Context, tx *db.Tx, o outcome) error {
	if len(o.events) == 0 {
		return nil
	}
	if err := tx.PutActors(ctx, o.actors); err != nil {
		return err
	}
	if err := tx.PutFollowing(ctx, o.edges); err != nil {
		return err
	}
	slices.SortFunc(o.edges, byTarget)
	if err := tx.PutFollower(ctx, o.edges); err != nil {
		return err
	}
	if err := tx.AddCounts(ctx, o.counts); err != nil {
		return err
	}
	return tx.Publish(ctx, social.Event{Kind: social.FollowEvent, Body: social.FollowBody{Changes: o.events}})
}

// distinct sorts ids and leaves each once.
func distinct(ids []social.ID) []social.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
