package socialtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis belongs to one test alone, which breaks it: a single server, or a cluster of three
// masters. What is done to it is done to every node; [Redis.Nodes] are for one. It keeps
// nothing through [Redis.Kill]. One goroutine at a time breaks it.
type Redis struct {
	cluster bool
	nodes   []*RedisNode
	client  redis.UniversalClient
	// ready tells whether a node does what is expected of it.
	ready func(context.Context, *redis.Client) bool
}

// NewRedis starts a single server that ends with the test.
func NewRedis(t testing.TB) *Redis {
	t.Helper()
	r := newRedis(t, false)
	r.Start(t)
	return r
}

func newRedis(t testing.TB, cluster bool) *Redis {
	t.Helper()
	logging.Disable() // the driver writes to standard error; what matters comes back as errors
	r := &Redis{cluster: cluster, ready: pongs}
	r.nodes = append(r.nodes, newNode(t, r))
	for cluster && len(r.nodes) < masters {
		r.nodes = append(r.nodes, newNode(t, r))
	}
	r.client = connectRedis(t, r.addrs()...)
	return r
}

func pongs(ctx context.Context, c *redis.Client) bool { return c.Ping(ctx).Err() == nil }

// URL is how rdb.Config names it.
func (r *Redis) URL() string {
	if r.cluster {
		return strings.Join(r.addrs(), ",")
	}
	return "redis://" + r.Addr()
}

// Addr is the host:port of the first node.
func (r *Redis) Addr() string { return r.nodes[0].addr }

func (r *Redis) addrs() []string {
	addrs := make([]string, len(r.nodes))
	for i, n := range r.nodes {
		addrs[i] = n.addr
	}
	return addrs
}

// Nodes are the servers: one, or three.
func (r *Redis) Nodes() []*RedisNode { return r.nodes }

// Client looks and breaks behind the back of what is tested.
func (r *Redis) Client() redis.UniversalClient { return r.client }

// Kill kills by SIGKILL: all that it knew is lost, but for what [Redis.Restore] brings back.
func (r *Redis) Kill(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { n.kill(t) })
}

// Start starts the nodes that were killed, where they were, and returns once all answer.
func (r *Redis) Start(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { n.launch(t) })
	r.await(t)
}

// Freeze stops it by SIGSTOP. It takes connections and requests, and answers none of them
// before [Redis.Thaw]; then it does what was asked of it, however late.
func (r *Redis) Freeze(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { n.freeze(t) })
}

// Thaw ends [Redis.Freeze], and returns once all answer.
func (r *Redis) Thaw(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { n.thaw(t) })
	r.await(t)
}

// Snapshot keeps what is there for [Redis.Restore], in place of an earlier snapshot.
func (r *Redis) Snapshot(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { n.snapshot(t) })
}

// Restore kills it and starts it again with what it knew at [Redis.Snapshot]: history goes
// back, as with a replica that lagged behind. It can be repeated.
func (r *Redis) Restore(t testing.TB) {
	t.Helper()
	r.Kill(t)
	r.each(func(n *RedisNode) { n.putBack(t) })
	r.Start(t)
	r.each(func(n *RedisNode) { n.forget(t) }) // what was read is in memory
}

// Flush empties it. Scripts stay.
func (r *Redis) Flush(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { must(t, n.client.FlushAll(context.Background()).Err()) })
}

// ScriptFlush forgets every script: the next EVALSHA of each is answered NOSCRIPT.
func (r *Redis) ScriptFlush(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) { must(t, n.client.ScriptFlush(context.Background()).Err()) })
}

// DropKeys deletes the keys that match a pattern of SCAN, as eviction may, and gives their
// number.
func (r *Redis) DropKeys(t testing.TB, pattern string) (n int) {
	t.Helper()
	r.scan(t, pattern, func(ctx context.Context, c redis.UniversalClient, key string) error {
		gone, err := c.Del(ctx, key).Result() // in a cluster, one key at a time
		n += int(gone)
		return err
	})
	return n
}

// ExpireIn makes the keys that match a pattern of SCAN end after that long.
func (r *Redis) ExpireIn(t testing.TB, pattern string, left time.Duration) {
	t.Helper()
	r.scan(t, pattern, func(ctx context.Context, c redis.UniversalClient, key string) error {
		return c.PExpire(ctx, key, left).Err()
	})
}

func (r *Redis) scan(t testing.TB, pattern string, do func(ctx context.Context, c redis.UniversalClient, key string) error) {
	t.Helper()
	ctx := context.Background()
	r.each(func(n *RedisNode) {
		keys := n.client.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			must(t, do(ctx, n.client, keys.Val()))
		}
		must(t, keys.Err())
	})
}

func (r *Redis) each(do func(*RedisNode)) {
	for _, n := range r.nodes {
		do(n)
	}
}

// await returns once every node that runs answers.
func (r *Redis) await(t testing.TB) {
	t.Helper()
	r.each(func(n *RedisNode) {
		if n.server.runs() && !n.frozen {
			n.await(t)
		}
	})
}

// connectRedis opens a server, or a cluster of several. A busy machine is given time.
func connectRedis(t testing.TB, addrs ...string) redis.UniversalClient {
	t.Helper()
	c := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: addrs, IsClusterMode: len(addrs) > 1,
		ReadTimeout: 30 * time.Second, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
