package rdb

import (
	"context"
	"errors"
	"sync"

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
	epoch  func(part int) int64 // instead of that of the others; see [Redis.Along]
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
// each server; those of one partition run in their order, others may run between them,
// unless a server has lost its scripts: then those that it refused run last. It takes half
// a second at most, and as much again where that is so. Every call has its own error.
func (r *Redis) Run(ctx context.Context, epoch func(part int) int64, calls ...*Call) {
	calls = withAlong(ctx, calls)
	if len(calls) == 0 {
		return
	}
	r.send(ctx, epoch, calls, func(p redis.Pipeliner, c *Call, keys []string) *redis.Cmd {
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
	if len(refused) > 0 { // with patience of its own: another server may have used up that of all
		r.send(ctx, epoch, refused, func(p redis.Pipeliner, c *Call, keys []string) *redis.Cmd {
			return c.script.Eval(ctx, p, keys, c.args...)
		})
	}
}

// eval adds the script of a call to a pipeline.
type eval func(redis.Pipeliner, *Call, []string) *redis.Cmd

// send sends the calls of each server apart: when one server does not answer in time, the
// driver tells all calls of the pipeline so, also those that others have answered.
func (r *Redis) send(ctx context.Context, epoch func(int) int64, calls []*Call, how eval) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var wg sync.WaitGroup
	servers := r.byServer(ctx, calls)
	r.commands.Add(int64(1 - len(servers))) // they are asked at the same time: one trip
	for _, calls := range servers {
		wg.Go(func() { r.pipeline(ctx, epoch, calls, how) })
	}
	wg.Wait()
}

func (r *Redis) byServer(ctx context.Context, calls []*Call) map[*redis.Client][]*Call {
	cluster, many := r.client.(*redis.ClusterClient)
	if !many {
		return map[*redis.Client][]*Call{nil: calls}
	}
	servers := map[*redis.Client][]*Call{}
	for _, c := range calls {
		server, _ := cluster.MasterForKey(ctx, epochKey(c.Part)) // what is wrong the call will tell
		servers[server] = append(servers[server], c)
	}
	return servers
}

func (r *Redis) pipeline(ctx context.Context, epoch func(int) int64, calls []*Call, how eval) {
	p := r.client.Pipeline()
	for _, c := range calls {
		of := epoch
		if c.epoch != nil {
			of = c.epoch
		}
		keys := c.keys(of(c.Part))
		if c.script != nil {
			c.cmd = how(p, c, keys)
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
