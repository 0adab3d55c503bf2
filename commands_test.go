package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/ops"
	"kith/socialtest"
)

// kith runs a command to its end and gives its exit code and what it wrote.
func kith(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), "KITH_TEST_MAIN=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // the code tells
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestTheServerRefusesToStartWithAReason(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	s.Exec(t, "DELETE FROM goose_db_version WHERE version_id > 0")
	current, foreign := socialtest.NewMySQL(t), socialtest.NewSQLite(t)
	callers(t, foreign, 1)
	busy := t.TempDir()
	startProcess(t, "serve", "--data", busy)
	for _, c := range []struct {
		name, reason string
		args         []string
	}{
		{"MySQL without a secret", "--jwt-secret", []string{"serve", "--redis", redisURL(t), "--mysql", s.Config.MySQL}},
		{"a short secret", "at least 32", []string{"serve", "--redis", redisURL(t), "--mysql", s.Config.MySQL, "--jwt-secret", "short"}},
		{"an old schema", "run kith migrate", []string{"serve", "--redis", redisURL(t), "--mysql", s.Config.MySQL, "--jwt-secret", testSecret, "--migrate", "off"}},
		{"a store that is not there", "connection refused", []string{"serve", "--redis", redisURL(t), "--mysql", "u@tcp(127.0.0.1:1)/x", "--jwt-secret", testSecret}},
		{"a malformed store", "open MySQL", []string{"serve", "--redis", redisURL(t), "--mysql", "nonsense", "--jwt-secret", testSecret}},
		{"a folder in use", "another kith", []string{"serve", "--data", busy}},
		{"a demo in a folder in use", "another kith", []string{"demo", "--data", busy}},
		{"a demo over other people", "holds other people", []string{"demo", "--data", filepath.Dir(foreign.Config.SQLite)}},
		{"a folder that cannot be", "data folder", []string{"serve", "--data", "/dev/null/kith"}},
		{"an address that is not one", "listen", []string{"serve", "--data", t.TempDir(), "--listen", "nowhere:http:1"}},
		{"a token for nobody", "nobody has the handle", []string{"token", "nobody", "--data", filepath.Dir(foreign.Config.SQLite)}},
		{"a token without a store", "no embedded store", []string{"token", "nobody", "--data", t.TempDir()}},
		{"MySQL without Redis", "go together", []string{"serve", "--mysql", s.Config.MySQL, "--jwt-secret", testSecret}},
		{"Redis without MySQL", "go together", []string{"serve", "--data", t.TempDir(), "--redis", redisURL(t)}},
		{"a malformed Redis", "open Redis", []string{"serve", "--mysql", current.Config.MySQL, "--jwt-secret", testSecret, "--redis", "nonsense"}},
		{"proxies that are no addresses", "--trusted-proxies", []string{"serve", "--data", t.TempDir(), "--trusted-proxies", "nonsense"}},
		{"a database without a name", "name a database", []string{"serve", "--redis", redisURL(t), "--mysql", "root@tcp(127.0.0.1:1)/", "--jwt-secret", testSecret}},
		{"no folder", "--data names no folder", []string{"serve", "--data", ""}},
		{"no address", "--listen names no address", []string{"serve", "--data", t.TempDir(), "--listen", ""}},
		{"a new store that is not to be made", "no embedded store", []string{"serve", "--data", t.TempDir(), "--migrate", "off"}},
		{"an unknown flag", "unknown flag", []string{"serve", "--kafka", "x"}},
	} {
		code, _, stderr := kith(t, c.args...)
		if code == 0 || !strings.Contains(stderr, c.reason) || strings.Contains(stderr, "goroutine ") {
			t.Errorf("%s: exit code %d: %s", c.name, code, stderr)
		}
	}
}

// A variable that is set to nothing is a deployment's mistake, not a default.
func TestEmptyVariablesAreRefused(t *testing.T) {
	for _, name := range []string{"KITH_MYSQL", "KITH_LISTEN", "KITH_DATA", "KITH_JWT_SECRET"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "")
			if code, _, stderr := kith(t, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0"); code == 0 || !strings.Contains(stderr, name) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

func TestMigrateIsRunTwiceAndServeAfterIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i, want := range []string{"7 migrations applied", "0 migrations applied"} {
		if code, out, errs := kith(t, "migrate", "--data", folder); code != 0 || !strings.Contains(out, want) {
			t.Fatalf("run %d: exit code %d: %s%s", i, code, out, errs)
		}
	}
	startProcess(t, "serve", "--data", folder, "--migrate", "off")
}

// A demo that is started again keeps its store and its secret; a seeding that was cut off
// is made anew.
func TestTheDemoIsStartedTwice(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "seed", "half"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := startProcess(t, "demo", "--data", folder)
	code, token, errs := kith(t, "token", ops.DemoHandle, "--data", folder)
	if code != 0 {
		t.Fatal(errs)
	}
	viewer := func(p *process) gjson.Result {
		c := caller{token: strings.TrimSpace(token)}
		answer, err := c.post(t.Context(), p.url, `{ viewer { handle followingCount blogCount } followFeed(first: 100) { nodes { id } } }`, nil)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	before := viewer(first)
	if before.Get("data.viewer.handle").String() != ops.DemoHandle || len(before.Get("data.followFeed.nodes").Array()) < 10 {
		t.Fatalf("the demo's visitor sees %s", before)
	}
	first.end(t)
	if after := viewer(startProcess(t, "demo", "--data", folder)); after.String() != before.String() {
		t.Errorf("the second start shows %s, the first %s", after, before)
	}
}

// An operator may try everything on the demo; it starts all the same.
func TestTheDemoStartsWithoutItsStranger(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	startProcess(t, "demo", "--data", folder).end(t)
	for _, verb := range []string{"suspend", "delete"} {
		if code, _, errs := kith(t, "user", verb, ops.DemoStranger, "--data", folder); code != 0 {
			t.Fatal(errs)
		}
		startProcess(t, "demo", "--data", folder).end(t)
	}
	if code, _, errs := kith(t, "user", "suspend", ops.DemoHandle, "--data", folder); code != 0 {
		t.Fatal(errs)
	}
	code, _, errs := kith(t, "demo", "--data", folder)
	if want := "kith user restore " + ops.DemoHandle; code != 1 || !strings.Contains(errs, want) {
		t.Errorf("exit code %d, want %q: %s", code, want, errs)
	}
}

// On SIGTERM the requests under way are answered, then the server ends by itself, without
// an error.
func TestSIGTERMDrains(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	people := callers(t, s, 2)
	p := serve(t, s)
	// Something that waits: the follower's row is locked by somebody else.
	tx, err := s.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	var locked []int64
	if err := tx.Select(&locked, "SELECT user_id FROM actor FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := people[0].follow(t.Context(), p.url, people[1])
		answered <- err
	}()
	awaitLockWait(t, s)
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for { // it takes no more connections
		resp, err := http.Get(strings.Replace(p.url, "graphql", "healthz", 1))
		if err != nil {
			break
		}
		_ = resp.Body.Close()
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
