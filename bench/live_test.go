package bench

import (
	"fmt"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kith/feed"
	"kith/follow"
	"kith/graph"
	"kith/loaders"
	"kith/resolvers"
	"kith/social"
	"kith/socialtest"
	"kith/transport"
)

// TestMain lets the binary be the clients of a benchmark, too.
func TestMain(m *testing.M) {
	socialtest.BeSockets()
	os.Exit(m.Run())
}

const (
	idle     = 10_000
	audience = 1000
	// liveFollowed is how many each viewer follows, of which one publishes.
	liveFollowed = 20
)

// BenchmarkIdleSubscriptions opens 10,000 subscriptions by WebSocket, each of a viewer of its
// own, and tells what each takes once it has got a blog and waits for the next, and what all of
// them together take of a core.
func BenchmarkIdleSubscriptions(b *testing.B) {
	l := newLive(b, idle)
	for b.Loop() {
		before, goroutines := inUse(), runtime.NumGoroutine()
		sockets := l.open(b, idle)
		l.publish(b, "first")
		sockets.Hear("first", idle, time.Minute)
		b.ReportMetric(float64(inUse()-before)/idle, "bytes/subscription")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/idle, "goroutines/subscription")
		cpu, began := clientCPU(b), time.Now()
		<-time.After(10 * time.Second)
		b.ReportMetric(100*(clientCPU(b)-cpu).Seconds()/time.Since(began).Seconds(), "%-of-a-core")
		sockets.Close()
		l.watch(b, 0)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkArrival publishes for 1,000 subscribers by WebSocket, all of whom follow the author,
// and tells how long it takes from the call to the arrival at each. The clients take a share of
// the same cores.
func BenchmarkArrival(b *testing.B) {
	l := newLive(b, audience)
	sockets := l.open(b, audience)
	var lags []time.Duration
	for n := 0; b.Loop(); n++ {
		title, began := fmt.Sprint("blog ", n), time.Now()
		l.publish(b, title)
		for _, at := range sockets.Hear(title, audience, time.Minute) {
			lags = append(lags, at.Sub(began))
		}
	}
	slices.Sort(lags)
	ms := func(p float64) float64 { return float64(lags[int(p*float64(len(lags)-1))].Microseconds()) / 1000 }
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(ms(1), "max-ms")
}

// live is a server that is listened to, with viewers who follow the same people.
type live struct {
	*server
	url    string
	tokens []string
	author social.ID
}

func newLive(b *testing.B, viewers int) *live {
	b.Helper()
	needFiles(b, viewers+1000)
	s := socialtest.NewMySQL(b)
	ids := populate(b, s)
	authors, fans := ids[:liveFollowed], ids[liveFollowed:liveFollowed+viewers]
	var rows []string
	for _, fan := range fans {
		for _, a := range authors {
			rows = append(rows, fmt.Sprintf("(%d,%d,1,5)", fan, a))
		}
	}
	insert(b, s, "following (user_id, target_id, state, since)", rows)
	k := newServer(b, s, socialtest.NewRedis(b), 2)
	l := &live{server: k, tokens: make([]string, viewers), author: authors[0]}
	followersOf(b, s, l.author, fans)
	next := make(chan int)
	var signing sync.WaitGroup
	for range 8 {
		signing.Go(func() {
			for i := range next {
				if session, err := k.accounts.SessionOf(b.Context(), fmt.Sprintf("u%d", fans[i])); err != nil {
					b.Error(err)
				} else {
					l.tokens[i] = session.Token
				}
			}
		})
	}
	for i := range fans {
		next <- i
	}
	close(next)
	signing.Wait()
	l.serve(b)
	return l
}

func (l *live) serve(b *testing.B) {
	b.Helper()
	g := follow.New(l.db, time.Now, follow.Config{Moved: l.feed.Moved, Followers: l.caches.Followers})
	schema := loaders.Schema(graph.NewExecutableSchema(graph.Config{
		Resolvers:  &resolvers.Root{Accounts: l.accounts, Graph: g, Feed: l.feed, Live: l.live},
		Directives: graph.DirectiveRoot{SignedIn: transport.SignedIn},
	}), loaders.Sources{DB: l.db, Bodies: l.caches.Bodies, Graph: g, Feed: l.feed})
	edge := transport.New(transport.Config{Schema: schema, Viewer: l.accounts.Viewer, Standing: l.accounts.Standing})
	go func() { _ = edge.Run(b.Context()) }()
	h := httptest.NewServer(edge)
	b.Cleanup(h.Close)
	l.url = "ws" + strings.TrimPrefix(h.URL, "http") + "/graphql"
}

// open connects all viewers, and waits until they subscribe.
func (l *live) open(b *testing.B, n int) *socialtest.Sockets {
	b.Helper()
	sockets := socialtest.OpenSockets(b, l.url, l.tokens)
	l.watch(b, n)
	return sockets
}

// watch waits until there are n subscriptions.
func (l *live) watch(b *testing.B, n int) {
	b.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); l.live.Watching() != n; <-tick.C {
		if time.Now().After(end) {
			b.Fatalf("%d subscriptions, want %d", l.live.Watching(), n)
		}
	}
}

func (l *live) publish(b *testing.B, title string) {
	b.Helper()
	if _, err := l.feed.Publish(b.Context(), l.author, feed.Draft{Title: title, Content: "c"}); err != nil {
		b.Fatal(err)
	}
}

// needFiles lets the process, and those that it starts, have so many open.
func needFiles(b *testing.B, n int) {
	b.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		b.Fatal(err)
	}
	if int(limit.Max) < n {
		b.Fatalf("%d files may be open, and %d are needed: raise the hard limit", limit.Max, n)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		b.Fatal(err)
	}
}

// inUse is what the process has in use of heap and stacks once it has had time: each
// collection halves stacks that were deep once.
func inUse() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
