package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/account"
	"kith/social"
	"kith/socialtest"
)

// process is a server in a process of its own.
type process struct {
	*exec.Cmd
	url string
}

// startProcess runs kith with the arguments and waits until it tells where it serves.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], append(args, "--listen", "127.0.0.1:0")...)}
	p.Env = append(os.Environ(), "KITH_TEST_MAIN=1")
	p.Stderr = t.Output()
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if at, found := strings.CutPrefix(lines.Text(), "Kith is at "); found {
			p.url = at + "/graphql"
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return p
		}
	}
	t.Fatal("the server ended before it served")
	return nil
}

// end stops the process by SIGTERM and waits for it.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Fatalf("the server ended with %v", err)
	}
}

// freeze stops the process by SIGSTOP, and returns when all its threads stand still.
func (p *process) freeze(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Process.Pid))
		if err != nil || len(tasks) == 0 || time.Now().After(deadline) {
			t.Fatalf("the process does not stop: %v", err)
		}
		if !slices.ContainsFunc(tasks, func(stat string) bool {
			b, err := os.ReadFile(stat)
			return err == nil && !bytes.Contains(b, []byte(") T "))
		}) {
			return
		}
	}
}

// serve runs kith serve over the store.
func serve(t *testing.T, s *socialtest.Store) *process {
	t.Helper()
	if s.IsMySQL() {
		return startProcess(t, "serve", "--mysql", s.Config.MySQL, "--redis", redisURL(t), "--jwt-secret", testSecret, "--rate-limits", "off")
	}
	return startProcess(t, "serve", "--data", filepath.Dir(s.Config.SQLite), "--jwt-secret", testSecret, "--rate-limits", "off")
}

// caller is a person who calls servers over the network.
type caller struct {
	id    social.ID
	gid   string
	token string
}

// callers signs up people without a server.
func callers(t *testing.T, s *socialtest.Store, n int) []caller {
	t.Helper()
	accounts, err := account.New(s.OpenServer(t), s.IDs, s.Clock.Now, account.Config{Secret: testSecret, CheapHashes: true})
	if err != nil {
		t.Fatal(err)
	}
	cs := make([]caller, n)
	for i := range cs {
		signed, err := accounts.SignUp(t.Context(), fmt.Sprintf("c%d_x", i), "Caller", "password")
		if err != nil {
			t.Fatal(err)
		}
		cs[i] = caller{signed.User.ID, signed.User.GlobalID(), signed.Token}
	}
	return cs
}

// follow tells whether the server answered that the call has been committed.
func (c caller) follow(ctx context.Context, url string, target caller) (changed bool, err error) {
	answer, err := c.post(ctx, url, `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`, map[string]any{"u": target.gid})
	if err != nil {
		return false, err
	}
	if payload := answer.Get("data.follow.changed"); payload.Exists() {
		return payload.Bool(), nil
	}
	return false, fmt.Errorf("answered %s", answer)
}

// post sends an operation and gives the whole answer.
func (c caller) post(ctx context.Context, url, query string, variables map[string]any) (gjson.Result, error) {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return gjson.Result{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return gjson.Result{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return gjson.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return gjson.ParseBytes(answer), err
}

// Every follow that was answered before kill -9 is there, and whatever was not has either
// happened wholly or not at all.
func TestWhatWasAnsweredSurvivesKill9(t *testing.T) {
	const clients, rounds, answers = 48, 3, 150
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		people := callers(t, s, clients)
		for round := range rounds {
			p := serve(t, s)
			var answered sync.Map
			var n atomic.Int64
			var wg sync.WaitGroup
			for i, me := range people {
				wg.Go(func() {
					for step := 1; ; step++ {
						target := people[(i+step+round*answers)%clients]
						if target == me {
							continue
						}
						if _, err := me.follow(t.Context(), p.url, target); err != nil {
							return // the server is dead
						}
						answered.Store(social.Pair{UserID: me.id, TargetID: target.id}, true)
						if n.Add(1) == answers {
							_ = p.Process.Kill() // SIGKILL
						}
					}
				})
			}
			wg.Wait()
			_ = p.Wait()
			answered.Range(func(key, _ any) bool {
				pair := key.(social.Pair)
				if s.Int(t, "SELECT COUNT(*) FROM following WHERE user_id = ? AND target_id = ? AND state = 1", pair.UserID, pair.TargetID) != 1 {
					t.Errorf("%v was answered and is lost", pair)
				}
				return true
			})
			s.CheckInvariants(t)
			s.Exec(t, "DELETE FROM following")
			s.Exec(t, "DELETE FROM follower")
			s.Exec(t, "UPDATE actor SET following = 0")
			s.Exec(t, "UPDATE user_count SET followers = 0")
		}
	})
}

// A server that is frozen inside a transaction loses its locks to the others after some
// seconds; on waking it neither loses nor doubles a number of a lane.
func TestAFrozenServerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	people := callers(t, s, 40)
	frozen, other := serve(t, s), serve(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	// Hold every lane, so that the follow stands still with all its other locks taken.
	lanes, err := s.SQL.Beginx()
	if err != nil {
		t.Fatal(err)
	}
	var rows []int64
	if err := lanes.Select(&rows, "SELECT seq FROM lane FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	woken := make(chan error, 1)
	go func() {
		_, err := people[0].follow(ctx, frozen.url, people[1])
		woken <- err
	}()
	s.Await(t, `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE 'UPDATE lane%'`)
	frozen.freeze(t)
	// Now the frozen server gets its lane, and goes no further.
	if err := lanes.Commit(); err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	if changed, err := people[0].follow(ctx, other.url, people[2]); err != nil || !changed {
		t.Fatalf("the same person, through another server: %v, %v", changed, err)
	}
	t.Logf("the frozen server held its locks for %v", time.Since(began).Round(10*time.Millisecond))
	for _, p := range people[3:] { // enough to meet every lane
		if _, err := p.follow(ctx, other.url, people[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-woken; err != nil {
		t.Errorf("the woken server answered: %v", err)
	}
	if n := s.Int(t, "SELECT COUNT(*) FROM following WHERE state = 1"); n != 39 {
		t.Errorf("%d follows are there, want 39", n)
	}
	s.CheckInvariants(t)
}
