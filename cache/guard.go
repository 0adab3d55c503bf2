package cache

import (
	"context"
	"slices"
	"time"

	"kith/db"
	"kith/rdb"
)

// Guard watches the Redis of a [State]: it switches partitions off whose server is away or
// has another history than that of their epoch, and on again when it answers. It may run
// on any number of servers.
type Guard struct {
	state *State

	silent [rdb.Parts]int           // how often in a row a server has not answered
	off    [rdb.Parts]int64         // the last epoch that was seen off
	wait   [rdb.Parts]time.Duration // for how long a partition is to be off
	onAt   [rdb.Parts]time.Duration // when this guard switched it on
}

const (
	// maxSilent is how often a server may not answer before its partitions are off.
	maxSilent = 2
	// maxWait bounds for how long a partition is off that goes off again and again.
	maxWait = 16
	// calm is after how many times the trust a partition counts as well again.
	calm = 30
)

// NewGuard watches the caches of the state.
func NewGuard(s *State) *Guard { return &Guard{state: s} }

// Run watches until ctx ends.
func (g *Guard) Run(ctx context.Context) error {
	tick := time.NewTicker(g.state.trust / 2)
	defer tick.Stop()
	for {
		if err := g.look(ctx); err != nil && ctx.Err() == nil {
			g.state.log.Warn("the caches cannot be watched", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look compares once what SQL and Redis say.
func (g *Guard) look(ctx context.Context) error {
	now, err := g.state.read(ctx)
	if err != nil {
		return err
	}
	histories := g.state.redis.Histories(ctx)
	var off, on []db.CachePart
	var why error
	for i, p := range now.parts {
		h := histories[i]
		g.silent[i]++
		if h.Err == nil {
			g.silent[i] = 0
		}
		switch {
		case p.On && h.Err == nil && h.Epoch != p.Epoch, p.On && g.silent[i] >= maxSilent:
			off = append(off, p)
			why = h.Err
		case p.On:
		case p.Epoch != 0 && g.off[i] != p.Epoch:
			g.off[i] = p.Epoch
			g.wentOff(i)
		case h.Err == nil && (p.Epoch == 0 || g.state.offFor(i, p.Epoch) >= g.wait[i]):
			on = append(on, p)
		}
	}
	if err := g.state.switchOff(ctx, off, why); err != nil {
		return err
	}
	if on, err = g.stillOff(ctx, on); err != nil {
		return err
	}
	return g.switchOn(ctx, on, histories)
}

// stillOff leaves those partitions that are off since before their histories were read: an
// epoch that another guard has begun meanwhile must not be noted as of a later history.
func (g *Guard) stillOff(ctx context.Context, parts []db.CachePart) ([]db.CachePart, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	now, err := g.state.read(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(parts, func(p db.CachePart) bool { return now.parts[p.Part] != p }), nil
}

// wentOff sets for how long a partition is to be off: as long as the state is believed, and
// twice as long each time that it goes off soon after it was switched on.
func (g *Guard) wentOff(part int) {
	trust := g.state.trust
	if now := g.state.clock(); g.onAt[part] == 0 || now-g.onAt[part] > calm*trust {
		g.wait[part] = trust
		return
	}
	g.wait[part] = min(2*max(g.wait[part], trust/2), maxWait*trust)
}

// switchOn begins the next epoch of partitions: at their server first, so that whoever
// believes in it there can see whether it is still so.
func (g *Guard) switchOn(ctx context.Context, parts []db.CachePart, histories [rdb.Parts]rdb.History) error {
	begin := make([]*rdb.Call, len(parts))
	for i, p := range parts {
		begin[i] = rdb.BeginEpoch(p.Part, p.Epoch+1, histories[p.Part])
	}
	if len(begin) > 0 {
		g.state.redis.Load(ctx)
	}
	g.state.redis.Run(ctx, func(int) int64 { return 0 }, begin...)
	var on []db.CachePart
	for i, p := range parts {
		if begin[i].Err() == nil {
			on = append(on, p)
			g.onAt[p.Part] = g.state.clock()
		}
	}
	if len(on) == 0 {
		return nil
	}
	if err := g.state.db.SwitchCachesOn(ctx, on); err != nil {
		return err
	}
	g.state.log.Info("caches switched on", "partitions", len(on))
	_, err := g.state.read(ctx) // this server need not wait to know
	return err
}
