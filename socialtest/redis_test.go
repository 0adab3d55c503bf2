package socialtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/socialtest"
)

// eachRedis runs the test on a single server and on a cluster, in parallel.
func eachRedis(t *testing.T, test func(t *testing.T, r *socialtest.Redis)) {
	t.Helper()
	t.Run("single", func(t *testing.T) { t.Parallel(); test(t, socialtest.NewRedis(t)) })
	t.Run("cluster", func(t *testing.T) { t.Parallel(); test(t, socialtest.NewRedisCluster(t)) })
}

// set makes a hundred keys, some on every node.
func set(t *testing.T, r *socialtest.Redis, value string) {
	t.Helper()
	for i := range 100 {
		if err := r.Client().Set(t.Context(), fmt.Sprint("key:", i), value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// holds checks how many of the keys there are, and their value.
func holds(t *testing.T, r *socialtest.Redis, want int, value string) {
	t.Helper()
	found := 0
	for i := range 100 {
		got, err := r.Client().Get(t.Context(), fmt.Sprint("key:", i)).Result()
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			t.Fatal(err)
		default:
			found++
			if got != value {
				t.Errorf("key %d is %q, want %q", i, got, value)
			}
		}
	}
	if found != want {
		t.Errorf("%d keys, want %d", found, want)
	}
}

func TestKilledRedisRefusesAndComesBackEmpty(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r *socialtest.Redis) {
		set(t, r, "a")
		r.Snapshot(t) // which a mere start does not find
		url := r.URL()
		r.Kill(t)
		r.Kill(t)
		for _, n := range r.Nodes() {
			if c, err := net.Dial("tcp", n.Addr()); err == nil {
				_ = c.Close()
				t.Errorf("%s takes connections", n.Addr())
			}
		}
		r.Start(t)
		holds(t, r, 0, "")
		set(t, r, "b")
		holds(t, r, 100, "b")
		if r.URL() != url {
			t.Errorf("it moved from %s to %s", url, r.URL())
		}
	})
}

func TestRestoredRedisKnowsWhatItKnewAtTheSnapshot(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r *socialtest.Redis) {
		set(t, r, "old")
		r.Snapshot(t)
		for range 2 {
			set(t, r, "new")
			r.Restore(t)
			holds(t, r, 100, "old")
		}
		r.Kill(t)
		r.Start(t)
		holds(t, r, 0, "")
	})
}

func TestFrozenRedisAnswersWhenItIsThawed(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r *socialtest.Redis) {
		set(t, r, "a")
		r.Freeze(t)
		r.Freeze(t)
		c, err := net.Dial("tcp", r.Addr())
		if err != nil {
			t.Fatalf("it takes no connections: %v", err)
		}
		defer func() { _ = c.Close() }()
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			t.Fatal(err)
		}
		if line, err := readLine(c, 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("frozen, it answered %q, %v", line, err)
		}
		r.Thaw(t)
		if line, err := readLine(c, 30*time.Second); line != "+PONG\r\n" {
			t.Errorf("thawed, it answered %q, %v", line, err)
		}
		holds(t, r, 100, "a")
		r.Freeze(t) // and so it ends
	})
}

func readLine(c net.Conn, patience time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	return bufio.NewReader(c).ReadString('\n')
}

func TestKeysAndScriptsAreDropped(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, r *socialtest.Redis) {
		set(t, r, "a")
		if n := r.DropKeys(t, "key:?"); n != 10 {
			t.Errorf("%d keys dropped, want 10", n)
		}
		holds(t, r, 90, "a")
		r.Flush(t)
		holds(t, r, 0, "")
		hash, err := r.Client().ScriptLoad(t.Context(), "return 1").Result()
		if err != nil {
			t.Fatal(err)
		}
		r.ScriptFlush(t)
		if err := r.Client().EvalSha(t.Context(), hash, []string{"key:1"}).Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
			t.Errorf("got %v", err)
		}
	})
}

// One node of three: the others serve, and it comes back with its slots.
func TestOneNodeOfAClusterBreaksAlone(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedisCluster(t)
	set(t, r, "a")
	n := r.Nodes()[1]
	some := func(patience time.Duration) {
		t.Helper()
		found := 0
		for i := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if r.Client().Get(ctx, fmt.Sprint("key:", i)).Err() == nil {
				found++
			}
			cancel()
		}
		if found == 0 || found == 100 {
			t.Errorf("%d of 100 keys, want those of two nodes", found)
		}
	}
	n.Freeze(t)
	some(50 * time.Millisecond)
	n.Thaw(t)
	holds(t, r, 100, "a")
	n.Kill(t)
	n.Start(t)
	some(30 * time.Second)
	set(t, r, "b")
	holds(t, r, 100, "b")
}

// Also when it cannot clean up after itself, and with the server frozen.
func TestRedisDiesWithTheProcessOfTheTest(t *testing.T) {
	if os.Getenv("KITH_TEST_DIE") != "" {
		r := socialtest.NewRedis(t)
		r.Freeze(t)
		_, _ = fmt.Fprintln(os.Stdout, r.Addr())
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "KITH_TEST_DIE=1", "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	var addr string
	if _, scanErr := fmt.Sscan(string(out), &addr); scanErr != nil {
		t.Fatalf("the process printed %q and ended with %v", out, err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			t.Fatalf("redis-server at %s outlives the process that started it", addr)
		}
	}
}
