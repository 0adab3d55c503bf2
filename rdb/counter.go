package rdb

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// counter is a hook that counts round trips.
type counter struct {
	n    *atomic.Int64
	step func() // nil for nothing
}

// DialHook changes nothing.
func (counter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts a command.
func (c counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "hello" || cmd.Name() == "auth" {
			return next(ctx, cmd)
		}
		return c.trip(func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook counts a pipeline.
func (c counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) == 0 {
			return next(ctx, cmds)
		}
		return c.trip(func() error { return next(ctx, cmds) })
	}
}

func (c counter) trip(send func() error) error {
	c.n.Add(1)
	if c.step == nil {
		return send()
	}
	c.step()
	defer c.step()
	return send()
}
