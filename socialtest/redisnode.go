package socialtest

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisNode is one server of a [Redis].
type RedisNode struct {
	redis  *Redis
	addr   string
	bus    string // in a cluster, the port where nodes talk to each other
	dir    string // of all its files; it survives Kill
	args   []string
	client redis.UniversalClient // of this node alone

	process *os.Process
	ended   chan struct{} // closed when the process has ended; nil before the first starts
	frozen  bool
}

func newNode(t testing.TB, r *Redis) *RedisNode {
	t.Helper()
	n := &RedisNode{redis: r, addr: heldAddress(t), dir: t.TempDir()}
	host, port, _ := net.SplitHostPort(n.addr)
	n.args = []string{"--bind", host, "--port", port, "--dir", n.dir, "--save", "", "--appendonly", "no"}
	if r.cluster {
		_, n.bus, _ = net.SplitHostPort(heldAddress(t))
		n.args = append(n.args, "--cluster-enabled", "yes", "--cluster-port", n.bus,
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

func (n *RedisNode) runs() bool {
	if n.ended == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// launch starts the process. The thread that starts it lives as long as it does, since the
// system takes that thread's end for the parent's.
func (n *RedisNode) launch(t testing.TB) {
	t.Helper()
	if n.runs() {
		return
	}
	log, err := os.OpenFile(n.file("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer func() { _ = log.Close() }()
	cmd := exec.Command("redis-server", n.args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, dieWithParent()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatalf("%v: run the tests by make test", err)
	}
	n.process, n.ended, n.frozen = cmd.Process, ended, false
}

// kill also ends what is frozen: SIGKILL needs nobody awake.
func (n *RedisNode) kill(t testing.TB) {
	t.Helper()
	if !n.runs() {
		return
	}
	if err := n.process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		must(t, err)
	}
	<-n.ended
	n.frozen = false
}

// freeze returns when all threads of the process stand still.
func (n *RedisNode) freeze(t testing.TB) {
	t.Helper()
	if n.frozen {
		return
	}
	must(t, n.process.Signal(syscall.SIGSTOP))
	n.frozen = true
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(n.process.Pid, &status, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		must(t, err)
		return
	}
}

func (n *RedisNode) thaw(t testing.TB) {
	t.Helper()
	if n.runs() {
		must(t, n.process.Signal(syscall.SIGCONT))
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
		case <-n.ended:
			t.Fatalf("redis-server at %s ended:\n%s", n.addr, n.log())
		case <-deadline:
			t.Fatalf("redis-server at %s does not answer:\n%s", n.addr, n.log())
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
	must(t, os.Rename(n.file("dump.rdb"), n.file("kept.rdb")))
}

// putBack lets a start find the snapshot, until forget.
func (n *RedisNode) putBack(t testing.TB) {
	t.Helper()
	must(t, os.Link(n.file("kept.rdb"), n.file("dump.rdb")))
}

func (n *RedisNode) forget(t testing.TB) {
	t.Helper()
	must(t, os.Remove(n.file("dump.rdb")))
}

func (n *RedisNode) file(name string) string { return filepath.Join(n.dir, name) }

// log is the end of what the server said.
func (n *RedisNode) log() string {
	b, _ := os.ReadFile(n.file("log"))
	lines := strings.Split(string(b), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}
