package main

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/events"
	"kith/social"
	"kith/socialtest"
)

// newLiveWorld is the embedded stores with their one server.
func newLiveWorld(t *testing.T) *cachedWorld {
	t.Helper()
	w := newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, trueTime)
	t.Cleanup(w.close)
	return w
}

// liveCursor is that of somebody's feed.
func liveCursor(t testing.TB, p person) string {
	t.Helper()
	return p.OK(t, `{ followFeed(first: 1) { liveCursor } }`, nil).Get("followFeed.liveCursor").String()
}

// From the cursor of a page, also of an empty one, a subscription goes on; each edge is read
// anew, and leads on itself.
func TestASubscriptionGoesOnFromItsPage(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	me, author := w.person(t), w.person(t)
	cursor := liveCursor(t, me)
	if c := me.OK(t, `{ viewer { blogs { liveCursor } } }`, nil).Get("viewer.blogs.liveCursor").Raw; c != "null" {
		t.Errorf("a person's blogs have %s", c)
	}
	me.follow(t, author)
	author.publish(t, "missed")
	s := live.open(t, me.id, cursor)
	if e := s.gets(t, "missed"); e.Get("node.author.handle").String() != "u2_test" || e.Get("node.author.isFollowingViewer").Bool() {
		t.Errorf("%s", e)
	}
	author.follow(t, me)
	author.publish(t, "live")
	last := s.gets(t, "live")
	if !last.Get("node.author.isFollowingViewer").Bool() {
		t.Errorf("read for an earlier edge: %s", last)
	}
	s.end()
	author.publish(t, "between")
	s = live.open(t, me.id, last.Get("cursor").String())
	s.gets(t, "missed", "live", "between") // of the last ten seconds
	me.publish(t, "one's own")
	author.publish(t, "next")
	s.gets(t, "next")
	s.end()
	if s.handler(s.ctx) != nil {
		t.Error("a stream goes on whose client is gone")
	}
}

func TestWhoMaySubscribe(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	me, other := w.person(t), w.person(t)
	live.open(t, 0, "").ends(t, social.Unauthenticated)
	me.follow(t, other)
	followed := me.OK(t, `{ viewer { following { pageInfo { endCursor } } } }`, nil).Get("viewer.following.pageInfo.endCursor").String()
	own := liveCursor(t, me)
	for _, since := range []string{
		"garbage", " ", "0", "null", strings.Repeat("x", 5000), liveCursor(t, other), followed, me.gid, own + "A", own[1:], strings.ToLower(own),
	} {
		live.open(t, me.id, since).ends(t, social.BadUserInput)
	}
}

// A stream of which the client does not read ends by an error, and so do all when the server
// ends.
func TestStreamsEndByAnError(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	s := w.servers[0]
	live := livesOf(s)
	viewers := w.audience(t, 1, 1)
	author := viewers[0] + 1
	slow, other := live.open(t, viewers[0], ""), live.open(t, w.person(t).id, "")
	var blogs []social.ID
	var evs []events.Event
	for i := range 801 {
		blogs = append(blogs, social.FirstIDAt(social.Millis(time.Now().UnixMilli()))+social.ID(i))
		body := social.BlogBody{BlogID: blogs[i], AuthorID: author}
		evs = append(evs, events.Event{Seq: 1 << 40, Event: social.Event{Kind: social.BlogEvent, Body: body}})
	}
	w.writeBlogs(t, blogs, func(int) social.ID { return author })
	s.live.Heard(evs)
	slow.ends(t, social.LimitExceeded)
	w.halt(0)
	other.ends(t, social.Unavailable)
	live.open(t, viewers[0], "").ends(t, social.Unavailable)
}

// A gap in the events is told to all who go by them: subscriptions to the feed and to likes,
// and who judges tokens. What happened meanwhile stands in rows of which no event tells.
func TestAGapIsToldToAllWhoGoByEvents(t *testing.T) {
	t.Parallel()
	w := newLiveWorld(t)
	s := w.servers[0]
	live := livesOf(s)
	me, author, gone := w.person(t), w.person(t), w.person(t)
	me.follow(t, author)
	liked := author.publish(t, "a blog")
	me.like(t, liked) // so that its count has a row
	w.heard(t)
	feed, likes := live.open(t, me.id, ""), live.watch(t, me.id, liked)
	missed := social.FirstIDAt(social.Millis(time.Now().UnixMilli())) + 1
	w.writeBlogs(t, []social.ID{missed}, func(int) social.ID { return author.id })
	w.Exec(t, "UPDATE blog_count SET likes = 5, version = version + 1 WHERE blog_id = ?", mustID(t, liked))
	w.Exec(t, "INSERT INTO revoked (user_id, jti, version, until) VALUES (?, '', 99, ?)", gone.id, time.Now().Add(time.Hour).UnixMilli())
	w.Exec(t, "UPDATE lane SET seq = seq + 1 WHERE lane = 0") // an event that nobody can read any more
	s.bell.Ring()
	feed.gets(t, "a blog", missed.String()) // the first by the look back of the replay
	likes.counts(t, 5)
	for deadline := time.Now().Add(20 * time.Second); gone.Do(t, `{ viewer { id } }`, nil).Code() != "UNAUTHENTICATED"; pause(nil, time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a token is good that has ended")
		}
	}
}

// 2,000 subscriptions that wait have a goroutine each, which goes with them, beside that of
// the transport.
func TestIdleSubscriptionsCostLittle(t *testing.T) {
	const subscriptions, followed = 2000, 20
	w := newLiveWorld(t)
	live := livesOf(w.servers[0])
	viewers := w.audience(t, subscriptions, followed)
	live.open(t, viewers[0], "").end() // what is made once
	goroutines := settledGoroutines(t, 0)
	before := memory()
	streams := make([]*stream, subscriptions)
	var waiting sync.WaitGroup
	for i, v := range viewers {
		streams[i] = live.open(t, v, "")
		waiting.Go(func() { streams[i].handler(streams[i].ctx) })
	}
	if n := runtime.NumGoroutine() - goroutines; n > 2*subscriptions+100 {
		t.Errorf("%d goroutines for %d subscriptions", n, subscriptions)
	}
	t.Logf("%d bytes for each subscription of %d followed", (memory()-before)/subscriptions, followed)
	for _, s := range streams {
		s.end()
	}
	waiting.Wait()
	settledGoroutines(t, goroutines+100)
}

// settledGoroutines waits until there are at most so many, or, of 0, no fewer any more.
func settledGoroutines(t testing.TB, most int) int {
	t.Helper()
	last := runtime.NumGoroutine()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); pause(nil, 20*time.Millisecond) {
		n := runtime.NumGoroutine()
		if n <= most || most == 0 && n >= last {
			return n
		}
		last = n
	}
	t.Fatalf("%d goroutines, want %d", last, most)
	return last
}

// memory is how many bytes the process has in use.
func memory() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
