package rdb

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// counter is a hook that counts round trips.
type counter struct{ n *atomic.Int64 }

// DialHook changes nothing.
func (counter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts a command.
func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() != "hello" && cmd.Name() != "auth" {
			c.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook counts a pipeline.
func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 0 {
			c.n.Add(1)
		}
		return next(ctx, cmds)
	}
}
