package ops

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"kith/db"
	"kith/social"
)

// walk looks at all edges, or likes, of the owners after one, up to another, and has those mended
// that are wrong; with mirrors it reads from the other side, from where nothing is new but what
// has no row at its owner. It tells how many rows it has seen.
func walk[S ~int8](ctx context.Context, mirrors bool, from, upTo social.ID,
	read func(context.Context, social.Pair, social.ID, int) ([]db.Sides[S], error),
	judge func(db.Sides[S]) (Drift, *db.Side[S]), mend func(context.Context, []social.Pair) error,
) (seen int, err error) {
	after := social.Pair{UserID: from, TargetID: math.MaxInt64}
	if mirrors {
		after = after.Reversed()
	}
	for {
		piece, err := read(ctx, after, upTo, sidesPiece)
		if err != nil {
			return seen, err
		}
		var doubtful []social.Pair
		for _, e := range piece {
			if kind, _ := judge(e); kind != "" && (e.Own == nil || !mirrors) {
				doubtful = append(doubtful, e.Pair)
			}
		}
		for chunk := range slices.Chunk(doubtful, sidesAtOnce) {
			if err := mend(ctx, chunk); err != nil {
				return seen, err
			}
		}
		if seen += len(piece); len(piece) < sidesPiece {
			return seen, nil
		}
		after = piece[len(piece)-1].Pair
	}
}

// judgeSides is which of the kinds is wrong with what has two sides, empty for nothing, and how
// both should have it; nil for ended now.
func judgeSides[S ~int8](e db.Sides[S], noOwn, noMirror, otherMirror Drift) (Drift, *db.Side[S]) {
	switch {
	case e.Own == nil && e.Mirror == nil:
		return "", nil
	case e.Own == nil:
		return noOwn, nil
	case e.Mirror == nil:
		return noMirror, e.Own
	case *e.Mirror != *e.Own:
		return otherMirror, e.Own
	}
	return "", e.Own
}

// lockOwners locks the actors of the owners of edges or likes; those who do not exist are absent.
func lockOwners(ctx context.Context, tx *db.Tx, pairs []social.Pair) (map[social.ID]*db.Actor, error) {
	owners := make([]social.ID, len(pairs))
	for i, p := range pairs {
		owners[i] = p.UserID
	}
	slices.Sort(owners)
	return tx.LockActors(ctx, slices.Compact(owners))
}

// ascending are the values in the order of their ids.
func ascending[V any](by map[social.ID]V) (values []V) {
	for _, id := range slices.Sorted(maps.Keys(by)) {
		values = append(values, by[id])
	}
	return values
}

// stateOf is the state of a side, that of what never was where there is no row.
func stateOf[S ~int8](s *db.Side[S]) S {
	if s == nil {
		return 0
	}
	return s.State
}

// sidesText tells what is stored in both tables.
func sidesText[S ~int8](e db.Sides[S], own, mirror string, state func(S) string) string {
	text := func(s *db.Side[S]) string {
		if s == nil {
			return "no row"
		}
		return fmt.Sprintf("%s since %d", state(s.State), s.Since)
	}
	return fmt.Sprintf("%s: %s; %s: %s", own, text(e.Own), mirror, text(e.Mirror))
}
