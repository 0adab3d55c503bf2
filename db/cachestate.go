package db

import (
	"context"
	"fmt"
	"strings"
)

// CachePart says whether the caches of a partition may be used, and in which epoch.
type CachePart struct {
	Part  int   `db:"part"`
	Epoch int64 `db:"epoch"`
	On    bool  `db:"is_on"`
}

// CacheParts reads all partitions, in their order.
func (q *queries) CacheParts(ctx context.Context) ([]CachePart, error) {
	var parts []CachePart
	err := q.all(ctx, "read the state of the caches", &parts, `SELECT part, epoch, is_on FROM cache_state ORDER BY part`)
	return parts, err
}

// SwitchCachesOff switches these partitions off, those that are still in the given epoch.
func (d *DB) SwitchCachesOff(ctx context.Context, parts []CachePart) error {
	return d.switchCaches(ctx, "switch caches off", `SET is_on = 0 WHERE is_on = 1`, parts)
}

// SwitchCachesOn switches these partitions on with their next epoch, those that are off
// and still in the given one.
func (d *DB) SwitchCachesOn(ctx context.Context, parts []CachePart) error {
	return d.switchCaches(ctx, "switch caches on", `SET is_on = 1, epoch = epoch + 1 WHERE is_on = 0`, parts)
}

func (d *DB) switchCaches(ctx context.Context, doing, set string, parts []CachePart) error {
	if len(parts) == 0 {
		return nil
	}
	are := make([]string, len(parts))
	for i, p := range parts {
		are[i] = fmt.Sprintf("part = %d AND epoch = %d", p.Part, p.Epoch)
	}
	return d.Transact(ctx, func(tx *Tx) error {
		return tx.exec(ctx, doing, `UPDATE cache_state `+set+` AND (`+strings.Join(are, " OR ")+`)`)
	})
}
