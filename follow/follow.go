package follow

import (
	"context"
	"slices"

	"kith/db"
	"kith/social"
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// MaxFollowing is how many people one person may follow or ask to; 0 is 5,000.
	MaxFollowing int64
	// MaxBlocking and MaxMuting bound those lists; 0 is 5,000.
	MaxBlocking, MaxMuting int64
	// Limit refuses a follow that comes too soon, LimitMany one of so many at once; nil
	// lets all through.
	Limit     func(ctx context.Context, viewer social.ID) error
	LimitMany func(ctx context.Context, viewer social.ID, n int) error
	// Moved brings what the viewer's calls left behind to where others keep it, before the
	// answer; nil for nowhere.
	Moved func(ctx context.Context, viewer social.ID, calls ...social.FollowCall) error
	// Followers reads lists of followers, each up to one more than its page has; nil reads
	// them in SQL.
	Followers func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error)
}

// Graph is the follow graph. Safe for parallel use.
type Graph struct {
	db    *db.DB
	clock social.Clock
	cfg   Config
	group *db.Group[*change]
}

// New makes the graph over the store.
func New(d *db.DB, clock social.Clock, cfg Config) *Graph {
	for _, most := range []*int64{&cfg.MaxFollowing, &cfg.MaxBlocking, &cfg.MaxMuting} {
		if *most == 0 {
			*most = 5000
		}
	}
	if cfg.Followers == nil {
		cfg.Followers = d.Followers
	}
	g := &Graph{db: d, clock: clock, cfg: cfg}
	g.group = db.NewGroup(g.commit)
	return g
}

// Result is what a call left behind.
type Result struct {
	State social.FollowState
	// Changed is false when the call found things as it would have left them.
	Changed bool
}

// Follow makes the viewer follow the target, or ask to if the target is private;
// idempotent. Oneself is BAD_USER_INPUT, a target that is not there for the viewer
// NOT_FOUND, one whom the viewer blocks FORBIDDEN, one too many LIMIT_EXCEEDED, one too
// soon RATE_LIMITED. When it returns nil the change is committed.
func (g *Graph) Follow(ctx context.Context, viewer, target social.ID) (Result, error) {
	if viewer != target && g.cfg.Limit != nil {
		if err := g.cfg.Limit(ctx, viewer); err != nil {
			return Result{}, err
		}
	}
	return g.do(ctx, viewer, &change{pair: social.Pair{UserID: viewer, TargetID: target}, verb: toFollow})
}

// Unfollow ends that the viewer follows the target, or has asked to; idempotent, and also
// for people who no longer exist. Oneself is BAD_USER_INPUT; whoever neither exists nor
// was ever followed is NOT_FOUND.
func (g *Graph) Unfollow(ctx context.Context, viewer, target social.ID) (Result, error) {
	return g.do(ctx, viewer, &change{pair: social.Pair{UserID: viewer, TargetID: target}, verb: toUnfollow})
}

// RemoveFollower ends that somebody follows the viewer; idempotent. Oneself is
// BAD_USER_INPUT; whoever neither exists nor ever followed is NOT_FOUND.
func (g *Graph) RemoveFollower(ctx context.Context, viewer, follower social.ID) error {
	return g.answer(ctx, viewer, follower, toRemove)
}

// Accept lets somebody follow the viewer who has asked to; idempotent. Oneself is
// BAD_USER_INPUT; whoever is not there or has not asked is NOT_FOUND.
func (g *Graph) Accept(ctx context.Context, viewer, asker social.ID) error {
	return g.answer(ctx, viewer, asker, toAccept)
}

// Reject ends that somebody asks to follow the viewer; idempotent. Oneself is
// BAD_USER_INPUT; whoever neither exists nor ever asked is NOT_FOUND.
func (g *Graph) Reject(ctx context.Context, viewer, asker social.ID) error {
	return g.answer(ctx, viewer, asker, toReject)
}

func (g *Graph) answer(ctx context.Context, viewer, other social.ID, v verb) error {
	_, err := g.do(ctx, viewer, &change{pair: social.Pair{UserID: other, TargetID: viewer}, verb: v})
	return err
}

// do commits one change of the viewer's.
func (g *Graph) do(ctx context.Context, viewer social.ID, c *change) (Result, error) {
	if err := g.commitAll(ctx, viewer, []*change{c}); err != nil {
		return Result{}, err
	}
	return c.result, c.err
}

// commitAll commits changes of the viewer's, each refused or not by itself.
func (g *Graph) commitAll(ctx context.Context, viewer social.ID, changes []*change) error {
	var asked []*change
	for _, c := range changes {
		if c.pair.UserID == c.pair.TargetID {
			c.err = social.Invalid("userId", "nobody follows themself")
			continue
		}
		asked = append(asked, c)
	}
	if err := g.group.Do(ctx, asked...); err != nil {
		return err
	}
	return g.moved(ctx, viewer, changes)
}

// moved brings the changes that were not refused to the caches.
func (g *Graph) moved(ctx context.Context, viewer social.ID, changes []*change) error {
	var calls []social.FollowCall
	for _, c := range changes {
		if c.err == nil {
			calls = append(calls, c.call())
		}
	}
	if g.cfg.Moved == nil || len(calls) == 0 {
		return nil
	}
	return g.cfg.Moved(ctx, viewer, calls...)
}

// commit brings a batch of changes into one transaction.
func (g *Graph) commit(ctx context.Context, changes []*change) error {
	return g.db.Transact(ctx, func(tx *db.Tx) error {
		before, err := readState(ctx, tx, changes)
		if err != nil {
			return err
		}
		return write(ctx, tx, decide(changes, before, g.clock.NowMS(), g.cfg.MaxFollowing))
	})
}

// readState locks the owners and reads what the decision needs, plainly: under the
// owners' locks nobody else changes these edges, and nobody blocks one of the two.
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
	edges, err := tx.EdgesOf(ctx, pairs)
	if err != nil {
		return s, err
	}
	s.follows, s.since, s.accepted = map[social.Pair]social.FollowState{}, map[social.Pair]social.Millis{}, map[social.Pair]bool{}
	for pair, e := range edges {
		s.follows[pair], s.since[pair], s.accepted[pair] = e.State, e.Since, e.Accepted
	}
	if s.walls, err = tx.WallsOf(ctx, pairs); err != nil {
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
	if len(o.actors) == 0 {
		return nil
	}
	if err := tx.PutActors(ctx, o.actors); err != nil {
		return err
	}
	if o.wall != nil {
		if err := o.wall(ctx, tx); err != nil {
			return err
		}
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
	if len(o.events) == 0 && len(o.walls) == 0 {
		return nil
	}
	return tx.Publish(ctx, social.Event{Kind: social.FollowEvent, Body: social.FollowBody{Changes: o.events, Walls: o.walls}})
}

// distinct sorts ids and leaves each once.
func distinct(ids []social.ID) []social.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
