package rdb

import (
	"context"
	_ "embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/limit.lua
var limitSource string

var limitScript = redis.NewScript(limitSource)

// run runs a script by its hash, and by its text where the server does not know it: after
// a start, a failover, SCRIPT FLUSH. Refused as unknown, it has done nothing, so that
// running it anew does nothing twice.
func (r *Redis) run(ctx context.Context, s *redis.Script, keys []string, args ...any) *redis.Cmd {
	return s.Run(ctx, r.client, keys, args...)
}
