package rdb

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"kith/social"
)

// Call is one command or script for keys of one partition. It is made by the functions of
// this package, sent by [Redis.Run], and has its answer then.
type Call struct {
	// Part is the partition.
	Part int

	script *redis.Script
	name   string // of the command, where there is no script
	keys   func(epoch int64) []string
	args   []any
	cmd    *redis.Cmd
}

var errNotSent = errors.New("not sent")

// Err is UNAVAILABLE where Redis did not answer the call: it may have been run or not.
func (c *Call) Err() error {
	if c.cmd == nil {
		return unavailable(errNotSent)
	}
	if err := c.cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
		return unavailable(err)
	}
	return nil
}

func unavailable(err error) error {
	return &social.Error{Code: social.Unavailable, Message: "the cache cannot answer now; try again", Cause: err}
}

// Run sends the calls, each to the keys of its partition's epoch, in one round trip to
// each server; those of one partition run in their order, others may run between them. It
// takes half a second at most. Every call has its own error.
func (r *Redis) Run(ctx context.Context, epoch func(part int) int64, calls ...*Call) {
	if len(calls) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	r.pipeline(ctx, epoch, calls, func(p redis.Pipeliner, c *Call, keys []string) *redis.Cmd {
		return p.EvalSha(ctx, c.script.Hash(), keys, c.args...)
	})
	// A server that has started or lost its scripts refuses their hashes, and has done
	// nothing: sending the text does nothing twice.
	var refused []*Call
	for _, c := range calls {
		if redis.HasErrorPrefix(c.cmd.Err(), "NOSCRIPT") {
			refused = append(refused, c)
		}
	}
	if len(refused) > 0 {
		r.pipeline(ctx, epoch, refused, func(p redis.Pipeliner, c *Call, keys []string) *redis.Cmd {
			return c.script.Eval(ctx, p, keys, c.args...)
		})
	}
}

func (r *Redis) pipeline(ctx context.Context, epoch func(int) int64, calls []*Call,
	eval func(redis.Pipeliner, *Call, []string) *redis.Cmd,
) {
	p := r.client.Pipeline()
	for _, c := range calls {
		keys := c.keys(epoch(c.Part))
		if c.script != nil {
			c.cmd = eval(p, c, keys)
			continue
		}
		args := make([]any, 0, 1+len(keys)+len(c.args))
		args = append(args, c.name)
		for _, k := range keys {
			args = append(args, k)
		}
		c.cmd = p.Do(ctx, append(args, c.args...)...)
	}
	_, _ = p.Exec(ctx) // each command has its own error
}
