package follow

import (
	"context"

	"kith/social"
)

// MaxMany is how many people one call of FollowMany may name.
const MaxMany = 100

// ManyResult is what became of one of many.
type ManyResult struct {
	Target social.ID
	Result
	// Err is why it was refused, as Follow would say.
	Err error
}

// FollowMany makes the viewer follow the targets, each or not by itself: one result for
// each distinct one, in the order of its first mention. More than [MaxMany] are
// BAD_USER_INPUT, too many of late RATE_LIMITED, and nobody is followed then.
func (g *Graph) FollowMany(ctx context.Context, viewer social.ID, targets []social.ID) ([]ManyResult, error) {
	var changes []*change
	seen := map[social.ID]bool{}
	for _, t := range targets {
		if !seen[t] {
			seen[t] = true
			changes = append(changes, &change{pair: social.Pair{UserID: viewer, TargetID: t}, verb: toFollow})
		}
	}
	switch {
	case len(changes) == 0:
		return nil, nil
	case len(changes) > MaxMany:
		return nil, social.Invalid("userIds", "at most %d people at once", MaxMany)
	}
	if g.cfg.LimitMany != nil {
		if err := g.cfg.LimitMany(ctx, viewer, len(changes)); err != nil {
			return nil, err
		}
	}
	if err := g.commitAll(ctx, viewer, changes); err != nil {
		return nil, err
	}
	results := make([]ManyResult, len(changes))
	for i, c := range changes {
		results[i] = ManyResult{Target: c.pair.TargetID, Result: c.result, Err: c.err}
	}
	return results, nil
}
