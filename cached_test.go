package main

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	mini "github.com/alicebob/miniredis/v2/server"

	"kith/cache"
	"kith/rdb"
	"kith/socialtest"
)

// testTrust is how long a reading of the caches' state is believed in tests: long enough
// for a busy machine, short enough to wait for.
const testTrust = 300 * time.Millisecond

// brokenRedis is a Redis that a test breaks.
type brokenRedis interface {
	URL() string
	Kill(t testing.TB)
	Start(t testing.TB)
	Flush(t testing.TB)
	DropKeys(t testing.TB, pattern string) int
	ExpireIn(t testing.TB, pattern string, left time.Duration)
}

// cachedWorld is servers over one store and one Redis of the test's own, all at work.
type cachedWorld struct {
	*world
	t       testing.TB
	redis   brokenRedis
	servers []*server
	stops   []context.CancelFunc
	ended   []chan struct{}
	set     func(i int, cfg *settings)
}

// eachCached runs the test on every kind of stores, in parallel: n servers at work on
// MariaDB and a Redis, n on MariaDB and a Redis Cluster, one on the embedded stores.
// set, which may be nil, changes the settings of a server.
func eachCached(t *testing.T, n int, set func(i int, cfg *settings), test func(t *testing.T, w *cachedWorld)) {
	t.Helper()
	eachShared(t, n, set, test)
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, set))
	})
}

// eachShared is eachCached without the embedded stores, which have one server.
func eachShared(t *testing.T, n int, set func(i int, cfg *settings), test func(t *testing.T, w *cachedWorld)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) *cachedWorld{
		"mysql and redis": func(t *testing.T) *cachedWorld {
			return newCachedWorld(t, socialtest.NewMySQL(t), socialtest.NewRedis(t), n, set)
		},
		"mysql and cluster": func(t *testing.T) *cachedWorld {
			return newCachedWorld(t, socialtest.NewMySQL(t), socialtest.NewRedisCluster(t), n, set)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func newCachedWorld(t testing.TB, s *socialtest.Store, r brokenRedis, n int, set func(int, *settings)) *cachedWorld {
	t.Helper()
	w := &cachedWorld{t: t, redis: r, set: set}
	for i := range n {
		w.servers = append(w.servers, w.open(t, s, i))
		w.stops, w.ended = append(w.stops, nil), append(w.ended, nil)
		w.world = &world{server: w.servers[0], Store: s}
		w.begin(i)
		w.awaitOn(t)
	}
	return w
}

func (w *cachedWorld) open(t testing.TB, s *socialtest.Store, i int) *server {
	t.Helper()
	return wired(t, s, i+2, func(cfg *settings) {
		cfg.limits.RateLimits = "off"
		cfg.redis, cfg.cache = w.redis.URL(), cache.Config{Trust: testTrust}
		if w.set != nil {
			w.set(i, cfg)
		}
	})
}

// begin sets a server to work beside its requests, which needs no listener here.
func (w *cachedWorld) begin(i int) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	s := w.servers[i]
	go func() {
		defer close(ended)
		_ = s.labour(ctx)
	}()
	w.stops[i], w.ended[i] = stop, ended
}

// halt ends a server's work; its requests it still answers.
func (w *cachedWorld) halt(i int) {
	w.stops[i]()
	<-w.ended[i]
	w.stops[i] = nil
}

func (w *cachedWorld) works(i int) bool { return w.stops[i] != nil }

func (w *cachedWorld) close() { w.haltAll() }

// haltAll ends the work of all, and tells of whom.
func (w *cachedWorld) haltAll() (worked []int) {
	for i := range w.servers {
		if w.works(i) {
			w.halt(i)
			worked = append(worked, i)
		}
	}
	return worked
}

// awaitOn waits until all caches are on, and every server at work knows it.
func (w *cachedWorld) awaitOn(t testing.TB) {
	t.Helper()
	w.Await(t, "SELECT COUNT(*) = 0 FROM cache_state WHERE is_on = 0")
	for deadline := time.Now().Add(10 * time.Second); ; pause(nil, time.Millisecond) {
		known := true
		for i, s := range w.servers {
			for part := range 64 {
				_, on := s.caches.Epoch(part)
				known = known && (on || !w.works(i))
			}
		}
		if known {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a server does not know that the caches are on")
		}
	}
}

// drained waits until every event has been consumed.
func (w *cachedWorld) drained(t testing.TB) {
	t.Helper()
	w.Await(t, `SELECT COUNT(*) = 0 FROM lane l CROSS JOIN (SELECT 'feed' AS consumer UNION ALL SELECT 'like') k
		LEFT JOIN consumed c ON c.lane = l.lane AND c.consumer = k.consumer WHERE l.seq > COALESCE(c.position, 0)`)
}

// embedded is the Redis of the embedded stores, in the hands of a test.
type embedded struct{ m *miniredis.Miniredis }

func newEmbedded(t testing.TB) *embedded {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	stop := rdb.KeepTime(m)
	t.Cleanup(func() { stop(); m.Close() })
	e := &embedded{m}
	e.tellHistory()
	return e
}

// tellHistory answers INFO, which miniredis lacks: it has but one history, which is empty
// after a kill.
func (e *embedded) tellHistory() {
	e.m.Server().SetPreHook(func(c *mini.Peer, cmd string, _ ...string) bool {
		if !strings.EqualFold(cmd, "INFO") {
			return false
		}
		c.WriteBulk("")
		return true
	})
}

func (e *embedded) URL() string      { return "redis://" + e.m.Addr() }
func (e *embedded) Kill(testing.TB)  { e.m.Close(); e.m.FlushAll() }
func (e *embedded) Flush(testing.TB) { e.m.FlushAll() }
func (e *embedded) Start(t testing.TB) {
	if err := e.m.Restart(); err != nil {
		t.Fatal(err)
	}
	e.tellHistory()
}

func (e *embedded) DropKeys(_ testing.TB, pattern string) (n int) {
	for _, k := range e.matching(pattern) {
		if e.m.Del(k) {
			n++
		}
	}
	return n
}

func (e *embedded) ExpireIn(_ testing.TB, pattern string, left time.Duration) {
	for _, k := range e.matching(pattern) {
		e.m.SetTTL(k, left)
	}
}

func (e *embedded) matching(pattern string) (keys []string) {
	for _, k := range e.m.Keys() {
		if ok, _ := path.Match(pattern, k); ok {
			keys = append(keys, k)
		}
	}
	return keys
}
