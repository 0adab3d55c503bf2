package like

import (
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// verb is what a call does to a like.
type verb int8

const (
	toLike verb = iota
	toUnlike
	// toSettle makes a like match the status of who likes.
	toSettle
)

// change is one call about a like, and what becomes of it.
type change struct {
	pair   social.Pair // who, and the blog
	verb   verb
	status social.UserStatus // for toSettle

	state   social.LikeState
	changed bool
	since   social.Millis // of the change, if it is one
	version int64         // the person's, after the call
	count   social.LikeCount
	err     error
}

// call is what the call left behind.
func (c *change) call() social.LikeCall {
	return social.LikeCall{Changed: c.changed, LikeChange: social.LikeChange{
		UserID: c.pair.UserID, BlogID: c.pair.TargetID, State: c.state, Since: c.since, Version: c.version,
	}}
}

// state is what the store holds of the people, blogs and likes of a batch.
type state struct {
	actors map[social.ID]*db.Actor
	likes  map[social.Pair]social.Like // absent: never was
	blogs  map[social.ID]db.Authorship
	people map[social.ID]bool          // who is active
	walls  db.Walls                    // between those who like and authors
	edges  map[social.Pair]social.Edge // of those who like, to private authors
}

// outcome is what a batch changes: only likes that truly moved, only counts that differ.
type outcome struct {
	actors []*db.Actor          // ascending
	likes  []social.Like        // by person, then blog
	counts []db.LikeCountChange // ascending
	events []social.LikeChange
}

// decide takes the changes in their order, each on what those before it left, answers each,
// and gathers what is to be written. It moves s.
func decide(changes []*change, s state, now social.Millis) outcome {
	var o outcome
	moved := map[social.Pair]social.Like{} // as before the batch
	for _, c := range changes {
		before := s.likes[c.pair]
		c.changed, c.since = false, before.Since
		if c.state, c.err = s.next(c, before.State); c.err != nil {
			continue
		}
		owner := s.actors[c.pair.UserID]
		c.version = owner.LikeVersion
		if before.State == c.state {
			continue
		}
		if _, again := moved[c.pair]; !again {
			moved[c.pair] = before
		}
		owner.LikeVersion++
		if !before.State.Stands() || !c.state.Stands() {
			c.since = max(now, c.pair.TargetID.Time())
		}
		c.changed, c.version = true, owner.LikeVersion
		s.likes[c.pair] = social.Like{Pair: c.pair, State: c.state, Since: c.since}
		o.events = append(o.events, c.call().LikeChange)
	}
	o.gather(moved, s)
	return o
}

// next is the state that a change brings a like to, or why it cannot be.
func (s *state) next(c *change, before social.LikeState) (social.LikeState, error) {
	owner := s.actors[c.pair.UserID]
	if c.verb == toSettle && owner != nil {
		return settled(before, c.status), nil
	}
	_, known := s.likes[c.pair]
	switch sees := s.sees(c.pair); {
	case owner == nil || !s.people[c.pair.UserID]:
		return before, social.Errorf(social.Unauthenticated, "this account does not exist any more")
	case !sees && (!known || c.verb == toLike):
		return before, noSuchBlog()
	case c.verb == toUnlike:
		return social.NotLiked, nil
	}
	return social.Liked, nil
}

// sees tells whether who likes sees the blog: see [social.See].
func (s *state) sees(p social.Pair) bool {
	blog, known := s.blogs[p.TargetID]
	if !known || blog.Deleted {
		return false
	}
	edge := social.Pair{UserID: p.UserID, TargetID: blog.AuthorID}
	return social.Everything == social.See(p.UserID, blog.AuthorID, social.Relation{
		IsThere:       s.people[blog.AuthorID],
		IsPrivate:     s.walls.Private[blog.AuthorID],
		ViewerFollows: s.edges[edge].State == social.Following,
		ViewerBlocks:  s.walls.Blocks[edge],
		BlocksViewer:  s.walls.Blocks[edge.Reversed()],
	})
}

func noSuchBlog() error {
	return &social.Error{Code: social.NotFound, Field: "blogId", Message: "there is no such blog"}
}

// gather sorts what moved into the order of writing.
func (o *outcome) gather(moved map[social.Pair]social.Like, s state) {
	owners := map[social.ID]*db.Actor{}
	counts := map[social.ID]*db.LikeCountChange{}
	for pair, before := range moved {
		after := s.likes[pair]
		owners[pair.UserID] = s.actors[pair.UserID]
		o.likes = append(o.likes, after)
		n := counts[pair.TargetID]
		if n == nil {
			n = &db.LikeCountChange{BlogID: pair.TargetID}
			counts[pair.TargetID] = n
		}
		if before.State == social.Liked {
			n.Likes--
			n.Warmth.Add(before.Since, -1)
		}
		if after.State == social.Liked {
			n.Likes++
			n.Warmth.Add(after.Since, 1)
		}
	}
	slices.SortFunc(o.likes, func(a, b social.Like) int { return a.Compare(b.Pair) })
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		o.actors = append(o.actors, owners[id])
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		o.counts = append(o.counts, *counts[id])
	}
}
