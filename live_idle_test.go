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
// connection, the operation and whom its viewer follows. The race detector makes stacks larger.
func idleBytes() int64 {
	if raceDetector {
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
	w.noneWatch(t)
	goroutines, before := settledGoroutines(t, 0), idleMemory()
	sockets := open(tokens)
	each := (idleMemory() - before) / subscriptions
	n := runtime.NumGoroutine() - goroutines
	t.Logf("%d bytes and %.2f goroutines for each", each, float64(n)/subscriptions)
	if each > idleBytes() {
		t.Errorf("%d bytes for each subscription, want at most %d", each, idleBytes())
	}
	sockets.Close()
	w.noneWatch(t)
	settledGoroutines(t, goroutines+subscriptions/100)
}

// idleMemory is how many bytes the process uses once it has had time: each collection halves
// stacks that were needed once.
func idleMemory() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// noneWatch waits until no subscription is left.
func (w *cachedWorld) noneWatch(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); w.servers[0].live.Watching() > 0; pause(nil, time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("subscriptions outlast their clients")
		}
	}
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

// allHear publishes as the author until a blog has come to all n clients: that one of them
// subscribes does not say that it has begun.
func (w *cachedWorld) allHear(t testing.TB, sockets *socialtest.Sockets, author social.ID, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); w.servers[0].live.Watching() < n; pause(nil, 10*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d subscribe", w.servers[0].live.Watching(), n)
		}
	}
	for try := range 10 {
		title := fmt.Sprint("try ", try)
		if _, err := w.servers[0].feed.Publish(t.Context(), author, feed.Draft{Title: title, Content: "c"}); err != nil {
			t.Fatal(err)
		}
		if len(sockets.Hear(title, n, 6*time.Second)) == n {
			return
		}
	}
	t.Fatal("not all get what is published")
}
