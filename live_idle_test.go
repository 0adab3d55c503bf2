package main

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// idleBytes is what a subscription by WebSocket may take of a server that waits: all of the
// connection, the operation and whom its viewer follows.
func idleBytes() int64 {
	if raceDetector { // which makes frames larger, and so doubles some stacks
		return 48 << 10
	}
	return 30 << 10
}

// 2,000 subscriptions by WebSocket that have got a blog and wait for the next take little
// memory and two goroutines each, and give all back. Not in parallel: it measures the process.
func TestIdleSocketsCostLittle(t *testing.T) {
	const subscriptions, followed = 2000, 20
	w := newCachedWorld(t, socialtest.NewMySQL(t), socialtest.NewRedis(t), 1, trueTime)
	defer w.close()
	s := w.servers[0]
	viewers := w.audience(t, subscriptions, followed)
	author := viewers[len(viewers)-1] + 1
	tokens := w.tokensOf(t, viewers)
	edge := httptest.NewServer(s.handler)
	defer edge.Close()
	open := func(tokens []string) *socialtest.Sockets {
		t.Helper()
		sockets := socialtest.OpenSockets(t, "ws"+strings.TrimPrefix(edge.URL, "http")+"/graphql", tokens)
		w.allHear(t, sockets, author, len(tokens))
		return sockets
	}

	open(tokens[:100]).Close() // what is made once
	w.watch(t, 0)
	goroutines, before := settledGoroutines(t, 0), idleMemory()
	sockets := open(tokens)
	after, n := idleMemory(), runtime.NumGoroutine()-goroutines
	heap, stacks := (after.heap-before.heap)/subscriptions, (after.stacks-before.stacks)/subscriptions
	t.Logf("%d bytes and %d of stacks, of %.2f goroutines, for each", heap, stacks, float64(n)/subscriptions)
	if n > 2*subscriptions+100 {
		t.Errorf("%d goroutines for %d subscriptions", n, subscriptions)
	}
	if heap+stacks > idleBytes() {
		t.Errorf("%d bytes for each subscription, want at most %d", heap+stacks, idleBytes())
	}
	sockets.Close()
	w.watch(t, 0)
	settledGoroutines(t, goroutines+subscriptions/100)
}

type inUse struct{ heap, stacks int64 }

// idleMemory is what the process uses once it has had time: each collection halves stacks
// that were deep once.
func idleMemory() inUse {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return inUse{int64(m.HeapAlloc), int64(m.StackInuse)}
}

// tokensOf signs people of an audience in.
func (w *world) tokensOf(t testing.TB, people []social.ID) []string {
	t.Helper()
	tokens := make([]string, len(people))
	each(people, func(i int, who social.ID) {
		s, err := w.accounts.SessionOf(t.Context(), fmt.Sprintf("v%d", who))
		if err != nil {
			t.Error(err)
			return
		}
		tokens[i] = s.Token
	})
	return tokens
}

// allHear publishes as the author once all n clients have begun, and waits until it has come
// to each.
func (w *cachedWorld) allHear(t testing.TB, sockets *socialtest.Sockets, author social.ID, n int) {
	t.Helper()
	s := w.servers[0]
	w.watch(t, n)
	if _, err := s.feed.Publish(t.Context(), author, feed.Draft{Title: "t", Content: "c"}); err != nil {
		t.Fatal(err)
	}
	sockets.Hear("t", n, time.Minute)
}

// watch waits until there are n subscriptions.
func (w *cachedWorld) watch(t testing.TB, n int) {
	t.Helper()
	live := w.servers[0].live
	for deadline := time.Now().Add(time.Minute); live.Watching() != n; pause(nil, time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d subscriptions, want %d", live.Watching(), n)
		}
	}
}
