package ops

import (
	"context"
	"math"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// ReconcileConfig says what [Reconcile] does. The zero Config only looks, at everybody.
type ReconcileConfig struct {
	// Repair mends what is found.
	Repair bool
	// From is the person to begin with, in the order of ids; 0 is the first.
	From social.ID
	// Redis is that of the servers; nil where it cannot be seen.
	Redis *rdb.Redis
	// Progress is told how many people are done, and of how many; nil for nobody.
	Progress func(done, of int64)
}

const (
	// peoplePiece is how many people are looked at together, and edgePiece how many edges.
	peoplePiece, edgePiece = 100, 1000
	// edgesAtOnce is how many edges are looked at again under one transaction's locks.
	edgesAtOnce = 100
)

// Reconcile holds the stores against themselves: both sides of every edge, edges against
// blocks, counts against rows, and, of the people for whom Redis holds keys that servers
// believe, those against the rows. It goes through everybody by id, beside running servers:
// what looks wrong is looked at again, rows under their owner's lock, caches once everything
// committed has been brought to them, before it is told or mended. Of an edge the owner's
// row is the truth, and a block stronger than an edge. What is mended is told to others by
// events; a cache is mended by its deletion.
//
// The report is there with an error too, of what was done before it; it goes on from Next.
func Reconcile(ctx context.Context, d *db.DB, clock social.Clock, cfg ReconcileConfig) (*Reconciled, error) {
	r := &reconciler{db: d, clock: clock, cfg: cfg, report: newReconciled(max(1, cfg.From))}
	err := r.run(ctx)
	return r.report, err
}

// reconciler is one run.
type reconciler struct {
	db     *db.DB
	clock  social.Clock
	cfg    ReconcileConfig
	report *Reconciled
	// lagging says that the consumer was waited for in vain, and is not waited for again.
	lagging bool
}

func (r *reconciler) run(ctx context.Context) error {
	left, err := r.db.CountUsersAfter(ctx, r.report.Next-1)
	if err != nil {
		return err
	}
	for {
		after := r.report.Next - 1
		people, err := r.db.UsersAfter(ctx, after, peoplePiece)
		if err != nil {
			return err
		}
		upTo := social.ID(math.MaxInt64) // rows of people who do not exist any more too
		if len(people) == peoplePiece {
			upTo = people[peoplePiece-1]
		}
		if err := r.piece(ctx, people, after, upTo); err != nil {
			return err
		}
		r.report.People += len(people)
		if r.cfg.Progress != nil {
			r.cfg.Progress(int64(r.report.People), max(left, int64(r.report.People)))
		}
		if len(people) < peoplePiece {
			return nil
		}
		r.report.Next = upTo + 1
	}
}

// piece looks at these people, and at all edges of those after one up to another. Counts
// come first: an actor that is missing must be there for its edges.
func (r *reconciler) piece(ctx context.Context, people []social.ID, after, upTo social.ID) error {
	if err := r.counts(ctx, people); err != nil {
		return err
	}
	if err := r.edges(ctx, false, after, upTo); err != nil {
		return err
	}
	if err := r.edges(ctx, true, after, upTo); err != nil {
		return err
	}
	return r.caches(ctx, people)
}
