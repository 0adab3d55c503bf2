package cache

import (
	"log/slog"

	"kith/db"
	"kith/rdb"
)

// Caches are the caches of one server.
type Caches struct {
	*State
	*Settler
	*Bodies
	// Redis holds them.
	Redis *rdb.Redis
}

// None are the caches of a process without a Redis, over a store whose caches nobody uses
// yet: everything comes from SQL.
func None(d *db.DB) *Caches { return New(d, nil, slog.New(slog.DiscardHandler), Config{}) }

// New knows of no cache that may be believed until its State runs.
func New(d *db.DB, r *rdb.Redis, log *slog.Logger, cfg Config) *Caches {
	s := NewState(d, r, log, cfg)
	return &Caches{State: s, Settler: NewSettler(s), Bodies: NewBodies(s), Redis: r}
}
