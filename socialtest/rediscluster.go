package socialtest

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

const masters, slots = 3, 16384

// NewRedisCluster starts three masters that end with the test. While one is down, the
// others serve their slots. Starting takes over two seconds, also after a kill: a master
// waits that long before it serves.
func NewRedisCluster(t testing.TB) *Redis {
	t.Helper()
	r := newRedis(t, true)
	r.Start(t)
	r.form(t)
	return r
}

// form makes the nodes a cluster, as redis-cli --cluster create does at a slower pace.
func (r *Redis) form(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	for i, n := range r.nodes {
		must(t, n.client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		must(t, n.client.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", i*slots/masters, (i+1)*slots/masters-1).Err())
	}
	for _, n := range r.nodes[1:] {
		host, port, _ := net.SplitHostPort(n.addr)
		must(t, r.nodes[0].client.Do(ctx, "CLUSTER", "MEET", host, port, n.bus).Err())
	}
	r.ready = serves
	r.await(t)
}

// serves asks for every slot as well: a node that knows none of the others serves, too.
func serves(ctx context.Context, c *redis.Client) bool {
	info, err := c.ClusterInfo(ctx).Result()
	return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_assigned:16384")
}
