package cache

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// site is a store and a Redis that the test breaks.
type site struct {
	*testing.T
	store *socialtest.Store
	redis *socialtest.Redis
	made  social.ID
	// impatient servers give up after half a second, as in production; others wait for a
	// machine that is busy.
	impatient bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	t.Parallel()
	return &site{T: t, store: socialtest.NewSQLite(t), redis: socialtest.NewRedis(t)}
}

// server is one server of a site, whose clock the test holds.
type server struct {
	*Caches
	site  *site
	guard *Guard
	now   atomic.Int64
}

func (x *site) server() *server { return x.serverOver(x.store.DB, x.redis.URL(), 0) }

func (x *site) serverOver(d *db.DB, url string, trust time.Duration) *server {
	x.Helper()
	cfg := rdb.Config{URL: url}
	if !x.impatient {
		cfg.Patience = time.Minute
	}
	r, err := rdb.Open(cfg)
	noError(x, err)
	x.Cleanup(func() { _ = r.Close() })
	s := &server{Caches: New(d, r, slog.New(slog.DiscardHandler), Config{Trust: trust}), site: x}
	s.guard = NewGuard(s.State)
	s.now.Store(int64(time.Hour))
	s.clock = func() time.Duration { return time.Duration(s.now.Load()) }
	return s
}

// throughProxy is a server whose way to Redis can break.
func (x *site) throughProxy() (*socialtest.Proxy, *server) {
	x.Helper()
	p := socialtest.NewProxy(x, strings.TrimPrefix(x.redis.URL(), "redis://"))
	return p, x.serverOver(x.store.DB, "redis://"+p.Addr(), 0)
}

// wait moves the clock of a server.
func (s *server) wait(d time.Duration) { s.now.Add(int64(d)) }

// looks lets the guard look some times, without moving the clock.
func (s *server) looks(times int) {
	s.site.Helper()
	for range times {
		noError(s.site, s.guard.look(s.site.Context()))
	}
}

// begin switches all on, in the first epoch.
func (s *server) begin() {
	s.site.Helper()
	s.looks(1)
	s.knows("begun", "64 on in 1")
}

// knows reads the state, and asks what it is.
func (s *server) knows(what, want string) {
	s.site.Helper()
	now, err := s.read(s.site.Context())
	noError(s.site, err)
	equal(s.site, what, summary(now.parts[:]), want)
}

// summary is how many partitions are in which state.
func summary(parts []db.CachePart) string {
	var states []string
	counts := map[string]int{}
	for _, p := range parts {
		state := fmt.Sprintf("off in %d", p.Epoch)
		if p.On {
			state = fmt.Sprintf("on in %d", p.Epoch)
		}
		if counts[state]++; counts[state] == 1 {
			states = append(states, state)
		}
	}
	for i, state := range states {
		states[i] = fmt.Sprint(counts[state], " ", state)
	}
	return strings.Join(states, ", ")
}

// person is somebody in a partition, whose numbers are in SQL.
func (x *site) person(part int) social.ID {
	x.Helper()
	for x.made++; rdb.Partition(x.made) != part; x.made++ {
		continue
	}
	u := &social.User{ID: x.made, Handle: "user" + x.made.String(), Name: "x"}
	noError(x, x.store.DB.Transact(x.Context(), func(tx *db.Tx) error { return tx.InsertUser(x.Context(), u, "hash") }))
	return x.made
}

// sets changes the number of a person's followers, behind the caches' back.
func (x *site) sets(who social.ID, n int64) {
	x.Helper()
	x.store.Exec(x, "UPDATE user_count SET followers = ? WHERE user_id = ?", n, who)
}

// followers is what a server says, of a request that reads nothing in process.
func (s *server) followers(who social.ID) int64 {
	s.site.Helper()
	counts, err := s.Counts(s.site.Context(), []social.ID{who})
	noError(s.site, err)
	return counts[who].Followers
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}
