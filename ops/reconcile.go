package ops

import (
	"context"
	"math"
	"slices"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// ReconcileConfig says what [Reconcile] does. The zero Config only looks, at everybody.
type ReconcileConfig struct {
	// Repair mends what is found.
	Repair bool
	// From is the person or blog to begin with, in the order of ids; 0 is the first.
	From social.ID
	// Redis is that of the servers; nil where it cannot be seen.
	Redis *rdb.Redis
	// Progress is told how many people and blogs are done, and of how many; nil for nobody.
	Progress func(done, of int64)
}

const (
	// peoplePiece and blogsPiece are how many people and blogs are looked at together at the
	// most, and sidesPiece how many rows of edges or likes.
	peoplePiece, blogsPiece, sidesPiece = 100, db.MaxIn, 1000
	// sidesAtOnce is how many edges or likes are looked at again under one transaction's locks,
	// and blogsAtOnce of how many blogs the likes are counted at once.
	sidesAtOnce, blogsAtOnce = 100, 100
)

// Reconcile holds the stores against themselves: both sides of every edge and every like, edges
// against blocks, counts against rows, and, of the people and blogs for whom Redis holds keys
// that servers believe, those against the rows. It goes through everybody, and every blog that
// was ever liked, by id, beside running servers: what looks wrong is looked at again, rows under
// their owner's lock, caches once everything committed has been brought to them, before it is
// told or mended. Of an edge or a like the owner's row is the truth, and a block stronger than
// an edge. What is mended is told to others by events; a cache is mended by its deletion.
//
// The report is there with an error too, of what was done before it; it goes on from Next.
func Reconcile(ctx context.Context, d *db.DB, clock social.Clock, cfg ReconcileConfig) (*Reconciled, error) {
	r := &reconciler{db: d, clock: clock, cfg: cfg, report: newReconciled(max(1, cfg.From)), lagging: map[string]bool{}}
	err := r.run(ctx)
	return r.report, err
}

// reconciler is one run.
type reconciler struct {
	db     *db.DB
	clock  social.Clock
	cfg    ReconcileConfig
	report *Reconciled
	// lagging are the consumers that were waited for in vain, and are not waited for again.
	lagging map[string]bool
}

func (r *reconciler) run(ctx context.Context) error {
	left, err := r.left(ctx)
	if err != nil {
		return err
	}
	for {
		after := r.report.Next - 1
		s, err := r.nextStretch(ctx, after)
		if err != nil {
			return err
		}
		if err := r.piece(ctx, s); err != nil {
			return err
		}
		r.report.People += len(s.people)
		r.report.Blogs += len(s.blogs)
		if done := int64(r.report.People + r.report.Blogs); r.cfg.Progress != nil {
			r.cfg.Progress(done, max(left, done))
		}
		if s.upTo == math.MaxInt64 {
			return nil
		}
		r.report.Next = s.upTo + 1
	}
}

// left is how many people and blogs there are to look at.
func (r *reconciler) left(ctx context.Context) (int64, error) {
	people, err := r.db.CountUsersAfter(ctx, r.report.Next-1)
	if err != nil {
		return 0, err
	}
	blogs, err := r.db.CountEverLikedAfter(ctx, r.report.Next-1)
	return people + blogs, err
}

// stretch is ids after one, up to another, and who and what has one of them. People and blogs
// share their ids, so one number says how far a run has come. The last stretch has no end: there
// are rows of people and blogs that do not exist any more too.
type stretch struct {
	after, upTo   social.ID
	people, blogs []social.ID
}

func (r *reconciler) nextStretch(ctx context.Context, after social.ID) (s stretch, err error) {
	s = stretch{after: after, upTo: math.MaxInt64}
	if s.people, err = r.db.UsersAfter(ctx, after, peoplePiece); err != nil {
		return s, err
	}
	if s.blogs, err = r.db.EverLikedAfter(ctx, after, blogsPiece); err != nil {
		return s, err
	}
	if len(s.people) == peoplePiece {
		s.upTo = s.people[peoplePiece-1]
	}
	if len(s.blogs) == blogsPiece {
		s.upTo = min(s.upTo, s.blogs[blogsPiece-1])
	}
	beyond := func(id social.ID) bool { return id > s.upTo }
	s.people, s.blogs = slices.DeleteFunc(s.people, beyond), slices.DeleteFunc(s.blogs, beyond)
	return s, nil
}

// piece looks at a stretch: at its people and blogs, and at all edges and likes of those. Counts
// come first: an actor that is missing must be there for its edges and likes.
func (r *reconciler) piece(ctx context.Context, s stretch) error {
	if err := r.counts(ctx, s.people); err != nil {
		return err
	}
	if err := r.likeCounts(ctx, s.blogs); err != nil {
		return err
	}
	for _, mirrors := range []bool{false, true} {
		if err := r.edges(ctx, mirrors, s.after, s.upTo); err != nil {
			return err
		}
		if err := r.likes(ctx, mirrors, s.after, s.upTo); err != nil {
			return err
		}
	}
	return r.caches(ctx, s)
}

// mend looks again, in a transaction, at what looked wrong, and tells what was found once it is
// committed.
func (r *reconciler) mend(ctx context.Context, look func(*db.Tx) ([]Found, error)) error {
	var found []Found
	err := r.db.Transact(ctx, func(tx *db.Tx) (err error) {
		found, err = look(tx)
		return err
	})
	if err == nil {
		r.report.add(found, r.cfg.Repair)
	}
	return err
}
