package socialtest

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisNode is one server of a [Redis].
type RedisNode struct {
	redis  *Redis
	addr   string
	bus    string                // in a cluster, the port where nodes talk to each other
	client redis.UniversalClient // of this node alone
	server process
	frozen bool
}

func newNode(t testing.TB, r *Redis) *RedisNode {
	t.Helper()
	n := &RedisNode{redis: r, addr: heldAddress(t), server: process{command: "redis-server", dir: t.TempDir()}}
	host, port, _ := net.SplitHostPort(n.addr)
	n.server.args = []string{"--bind", host, "--port", port, "--dir", n.server.dir, "--save", "", "--appendonly", "no"}
	if r.cluster {
		_, n.bus, _ = net.SplitHostPort(heldAddress(t))
		n.server.args = append(n.server.args, "--cluster-enabled", "yes", "--cluster-port", n.bus,
			"--cluster-node-timeout", "2000", // tests keep all cores busy: who is late must not be taken for dead
			"--cluster-require-full-coverage", "no")
	}
	t.Cleanup(func() { n.kill(t) })
	n.client = connectRedis(t, n.addr)
	return n
}

// Addr is its host:port.
func (n *RedisNode) Addr() string { return n.addr }

// Kill is [Redis.Kill] of this node.
func (n *RedisNode) Kill(t testing.TB) { t.Helper(); n.kill(t) }

// Start is [Redis.Start] of this node, which finds its cluster again. Without a majority
// that runs, a cluster does not answer: then start all at once.
func (n *RedisNode) Start(t testing.TB) { t.Helper(); n.launch(t); n.redis.await(t) }

// Freeze is [Redis.Freeze] of this node.
func (n *RedisNode) Freeze(t testing.TB) { t.Helper(); n.freeze(t) }

// Thaw is [Redis.Thaw] of this node.
func (n *RedisNode) Thaw(t testing.TB) { t.Helper(); n.thaw(t); n.redis.await(t) }

func (n *RedisNode) launch(t testing.TB) {
	t.Helper()
	if !n.server.runs() {
		n.server.launch(t)
		n.frozen = false
	}
}

func (n *RedisNode) kill(t testing.TB) {
	t.Helper()
	n.server.kill(t)
	n.frozen = false
}

// freeze returns when all threads of the process stand still.
func (n *RedisNode) freeze(t testing.TB) {
	t.Helper()
	if n.frozen {
		return
	}
	must(t, n.server.process.Signal(syscall.SIGSTOP))
	n.frozen = true
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(n.server.process.Pid, &status, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		must(t, err)
		return
	}
}

func (n *RedisNode) thaw(t testing.TB) {
	t.Helper()
	if n.server.runs() {
		must(t, n.server.process.Signal(syscall.SIGCONT))
	}
	n.frozen = false
}

// await returns once the node is ready. It asks by connections of its own: a driver that
// was refused a few times no longer tries at once.
func (n *RedisNode) await(t testing.TB) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for !n.ready() {
		select {
		case <-n.server.ended:
			t.Fatalf("redis-server at %s ended:\n%s", n.addr, n.server.log())
		case <-deadline:
			t.Fatalf("redis-server at %s does not answer:\n%s", n.addr, n.server.log())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (n *RedisNode) ready() bool {
	c := redis.NewClient(&redis.Options{Addr: n.addr, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true})
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return n.redis.ready(ctx, c)
}

// snapshot puts the file where a start does not find it.
func (n *RedisNode) snapshot(t testing.TB) {
	t.Helper()
	must(t, n.client.Save(context.Background()).Err())
	must(t, os.Rename(n.server.file("dump.rdb"), n.server.file("kept.rdb")))
}

// putBack lets a start find the snapshot, until forget.
func (n *RedisNode) putBack(t testing.TB) {
	t.Helper()
	must(t, os.Link(n.server.file("kept.rdb"), n.server.file("dump.rdb")))
}

func (n *RedisNode) forget(t testing.TB) {
	t.Helper()
	must(t, os.Remove(n.server.file("dump.rdb")))
}
