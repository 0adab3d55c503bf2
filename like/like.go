package like

import (
	"context"
	"slices"

	"kith/cache"
	"kith/db"
	"kith/rdb"
	"kith/social"
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// Kept is how many of a person's newest likes are kept in Redis; 0 is 1,000.
	Kept int
	// Settle brings what a call has left behind to the caches before the answer; nil for
	// that of the caches.
	Settle func(ctx context.Context, calls ...*rdb.Call) error
	// Limit refuses a like that comes too soon; nil lets all through.
	Limit func(ctx context.Context, viewer social.ID) error
}

// Likes are all likes. Safe for parallel use.
type Likes struct {
	db     *db.DB
	caches *cache.Caches
	clock  social.Clock
	kept   int
	settle func(ctx context.Context, calls ...*rdb.Call) error
	limit  func(ctx context.Context, viewer social.ID) error
	group  *db.Group[*change]
	hot    *cache.Local[social.Millis, db.HotList]
}

// New makes the likes over the store and its caches.
func New(d *db.DB, caches *cache.Caches, clock social.Clock, cfg Config) *Likes {
	l := &Likes{db: d, caches: caches, clock: clock, kept: cfg.Kept, settle: cfg.Settle, limit: cfg.Limit}
	if l.settle == nil {
		l.settle = caches.Settle
	}
	if l.kept == 0 {
		l.kept = 1000
	}
	l.group = db.NewGroup(l.commit)
	l.hot = cache.NewLocal(maxHotLists, l.hotLists)
	return l
}

// Like makes the viewer like a blog; idempotent. One that the viewer does not see, or that is
// deleted, is NOT_FOUND, one too soon RATE_LIMITED. When it returns nil the like is committed.
// Changed is false when the call found it as it would have left it.
func (l *Likes) Like(ctx context.Context, viewer, blog social.ID) (changed bool, err error) {
	if l.limit != nil {
		if err := l.limit(ctx, viewer); err != nil {
			return false, err
		}
	}
	return l.do(ctx, viewer, blog, toLike)
}

// Unlike ends that the viewer likes a blog; idempotent, and also for one that is deleted or
// not to be seen any more. One that the viewer neither sees nor ever liked is NOT_FOUND.
func (l *Likes) Unlike(ctx context.Context, viewer, blog social.ID) (changed bool, err error) {
	return l.do(ctx, viewer, blog, toUnlike)
}

// do commits one change of the viewer's, and brings it to the caches before the answer: also
// one that changed nothing, since what it found done may be the work of a server that died
// before it came to this.
func (l *Likes) do(ctx context.Context, viewer, blog social.ID, v verb) (changed bool, err error) {
	c := &change{pair: social.Pair{UserID: viewer, TargetID: blog}, verb: v}
	if err := l.group.Do(ctx, c); err != nil {
		return false, err
	}
	if c.err != nil {
		return false, c.err
	}
	return c.changed, l.settle(ctx, rdb.NewLike(c.call(), l.kept), rdb.RenewLikeCount(blog, c.count), rdb.MarkWrote(viewer))
}

// commit brings a batch of changes into one transaction.
func (l *Likes) commit(ctx context.Context, changes []*change) error {
	return l.db.Transact(ctx, func(tx *db.Tx) error {
		before, err := readState(ctx, tx, changes)
		if err != nil {
			return err
		}
		if err := write(ctx, tx, decide(changes, before, l.clock.NowMS())); err != nil {
			return err
		}
		return readCounts(ctx, tx, changes)
	})
}

// readState locks the people and reads what the decision needs, plainly: under the locks
// nobody else changes these likes, nobody blocks one of the two, and nobody is let in by, or
// put out of, a private account.
func readState(ctx context.Context, tx *db.Tx, changes []*change) (state, error) {
	var people, blogs []social.ID
	var pairs []social.Pair
	for _, c := range changes {
		people, blogs = append(people, c.pair.UserID), append(blogs, c.pair.TargetID)
		pairs = append(pairs, c.pair)
	}
	var s state
	var err error
	if s.actors, err = tx.LockActors(ctx, distinct(people)); err != nil {
		return s, err
	}
	if s.likes, err = tx.LikesOf(ctx, pairs); err != nil {
		return s, err
	}
	if s.blogs, err = tx.Authorships(ctx, distinct(blogs)); err != nil {
		return s, err
	}
	var authors []social.Pair // who likes, and whose
	for _, c := range changes {
		if b, ok := s.blogs[c.pair.TargetID]; ok {
			authors = append(authors, social.Pair{UserID: c.pair.UserID, TargetID: b.AuthorID})
			people = append(people, b.AuthorID)
		}
	}
	slices.SortFunc(authors, social.Pair.Compare)
	if err := s.readWalls(ctx, tx, slices.Compact(authors)); err != nil {
		return s, err
	}
	s.people = map[social.ID]bool{}
	for chunk := range slices.Chunk(distinct(people), db.MaxIn) {
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

// readWalls reads what stands between those who like and the authors.
func (s *state) readWalls(ctx context.Context, tx *db.Tx, authors []social.Pair) (err error) {
	if s.walls, err = tx.WallsOf(ctx, authors); err != nil {
		return err
	}
	private := slices.DeleteFunc(slices.Clone(authors), func(p social.Pair) bool { return !s.walls.Private[p.TargetID] })
	s.edges, err = tx.EdgesOf(ctx, private)
	return err
}

// write stores what was decided, in the one order of locks.
func write(ctx context.Context, tx *db.Tx, o outcome) error {
	if len(o.actors) == 0 {
		return nil
	}
	if err := tx.PutActors(ctx, o.actors); err != nil {
		return err
	}
	if err := tx.PutLikes(ctx, o.likes); err != nil {
		return err
	}
	slices.SortFunc(o.likes, byBlog)
	if err := tx.PutLikers(ctx, o.likes); err != nil {
		return err
	}
	if err := tx.AddLikeCounts(ctx, o.counts); err != nil {
		return err
	}
	if err := reheat(ctx, tx, o.counts); err != nil {
		return err
	}
	return tx.Publish(ctx, social.Event{Kind: social.LikeEvent, Body: social.LikeBody{Changes: o.events}})
}

// readCounts reads the counts that the changes leave behind, those moved under their locks.
func readCounts(ctx context.Context, tx *db.Tx, changes []*change) error {
	var blogs []social.ID
	for _, c := range changes {
		if c.err == nil {
			blogs = append(blogs, c.pair.TargetID)
		}
	}
	if len(blogs) == 0 {
		return nil
	}
	counts, err := tx.LikeCounts(ctx, distinct(blogs))
	for _, c := range changes {
		c.count = counts[c.pair.TargetID]
	}
	return err
}

// distinct sorts ids and leaves each once.
func distinct(ids []social.ID) []social.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func byBlog(a, b social.Like) int { return a.Reversed().Compare(b.Reversed()) }
