package main

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

const (
	// longest is how long any request may take, whatever Redis does: half a second for a
	// round trip, and 2 s until nobody believes the caches.
	longest = 3 * time.Second
	// tooLong is what only those wait who change something before the caches are off.
	tooLong = 1500 * time.Millisecond
)

// A Redis that takes everything and answers nothing keeps nobody waiting for more than 3 s,
// and each for so long once at most: then the caches are off, and SQL answers as fast as if
// there had never been any. When it answers again, nobody is sent to SQL who was not there
// already, but for building each inbox once.
func TestARedisThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (r *socialtest.Redis, url string, hole, mend func()){
		"frozen": func(t *testing.T) (*socialtest.Redis, string, func(), func()) {
			r := socialtest.NewRedis(t)
			return r, r.URL(), func() { r.Freeze(t) }, func() { r.Thaw(t) }
		},
		"black hole": func(t *testing.T) (*socialtest.Redis, string, func(), func()) {
			r := socialtest.NewRedis(t)
			p := socialtest.NewProxy(t, r.Addr())
			return r, "redis://" + p.Addr(), p.BlackHole, func() { p.Mend(t) }
		},
	} {
		t.Run(name, func(t *testing.T) { // not in parallel: others would be what is waited for
			r, url, hole, mend := open(t)
			w := newCachedWorld(t, socialtest.NewMySQL(t), r, 2, func(_ int, cfg *settings) {
				cfg.clock, cfg.cache.Trust, cfg.redis = nil, 0, url
			})
			defer w.close()
			l := &load{actors: w.cast(t, 21), w: w}
			l.follow()
			plain := l.sqlOnly(t)

			l.run(time.Second)
			healthy := l.take()
			hole()
			l.run(5 * time.Second)
			failing := l.take()
			if !w.allOff() {
				t.Error("the caches are still on")
			}
			l.readOnly = true
			asked := w.commands()
			l.run(2 * time.Second)
			off := l.take()
			asked = w.commands() - asked
			mend()
			l.reads.Store(0)
			before, began := w.statements(), time.Now()
			l.runUntil(w.allOn)
			l.run(2 * time.Second)
			back, took := w.statements()-before, time.Since(began)

			t.Logf("p99 of the feed: %v with caches, %v while they go off, %v off, %v by SQL alone", healthy.p99(), failing.p99(), off.p99(), plain.p99())
			t.Logf("longest request: %v; requests over 400 ms: %d, most of one person: %d; over %v: %d, %d", failing.max(),
				failing.over(400*time.Millisecond), failing.mostOfOne(400*time.Millisecond), tooLong, failing.over(tooLong), failing.mostOfOne(tooLong))
			t.Logf("back: %d feeds, %.0f statements a second; SQL alone: %.1f a feed, so %.0f a second", l.reads.Load(),
				float64(back)/took.Seconds(), plain.perFeed, plain.perFeed*float64(l.reads.Load())/took.Seconds())
			if d := max(failing.max(), off.max()); d > longest {
				t.Errorf("a request took %v", d)
			}
			if n := failing.mostOfOne(tooLong); n > 1 {
				t.Errorf("somebody waited %d times", n)
			}
			// What watches Redis asks once a second, on both servers.
			if asked > 10 {
				t.Errorf("%d feeds asked Redis %d times though the caches are off", len(off.feeds), asked)
			}
			// Six statements build an inbox; both servers look at the state and the lanes.
			const build, idle = 6, 2 * 20
			if most := plain.perFeed*float64(l.reads.Load()) + build*float64(len(l.actors)) + idle*took.Seconds(); float64(back) > most {
				t.Errorf("%d statements once Redis was back, want at most %.0f", back, most)
			}
		})
	}
}

// load is people who read their feeds, and some who write, at a pace that leaves the machine
// time.
type load struct {
	w        *cachedWorld
	actors   []*actor
	readOnly bool
	reads    atomic.Int64 // of feeds

	mu    sync.Mutex
	spans spans
}

// spans are how long requests took.
type spans struct {
	feeds, all []time.Duration
	by         map[social.ID][]time.Duration
	perFeed    float64 // statements
}

// follow lets all have something to read, and be where the caches are.
func (l *load) follow() {
	var all sync.WaitGroup
	for _, a := range l.actors {
		all.Go(func() {
			for i := range a.authors {
				a.follow(i, true)
			}
		})
	}
	all.Wait()
}

// sqlOnly measures the feed through a server that knows no caches.
func (l *load) sqlOnly(t *testing.T) spans {
	t.Helper()
	w := l.w
	w.servers = append(w.servers, w.open(t, w.Store, 2))
	plain := w.servers[2]
	w.servers = w.servers[:2]
	asked := make([]func(int, string, map[string]any) socialtest.Answer, len(l.actors))
	for i, a := range l.actors {
		asked[i] = a.ask
		session, err := w.accounts.SessionOf(t.Context(), "a_"+a.id.String())
		if err != nil {
			t.Fatal(err)
		}
		a.ask = func(_ int, doc string, vars map[string]any) socialtest.Answer {
			return socialtest.Client{Handler: plain.handler, Token: session.Token}.Do(t, doc, vars)
		}
	}
	l.readOnly = true
	before := plain.store.db.Statements()
	l.run(2 * time.Second)
	s := l.take()
	s.perFeed = float64(plain.store.db.Statements()-before) / float64(len(s.feeds))
	for i, a := range l.actors {
		a.ask = asked[i]
	}
	l.readOnly = false
	return s
}

func (l *load) run(d time.Duration) {
	deadline := time.Now().Add(d)
	l.runUntil(func() bool { return time.Now().After(deadline) })
}

// runUntil lets all go on until the condition holds.
func (l *load) runUntil(reached func() bool) {
	done := make(chan struct{})
	var all sync.WaitGroup
	for i, a := range l.actors {
		all.Go(func() {
			for n := rand.IntN(4); ; n++ {
				pause(done, time.Duration(150+rand.IntN(100))*time.Millisecond)
				if closed(done) {
					return
				}
				if i%3 == 0 && n%4 == 0 && !l.readOnly {
					l.write(a)
					continue
				}
				began := time.Now()
				a.read(rand.IntN(2), "nothing", `{ followFeed { pageInfo { hasNextPage } } }`, nil, `{"followFeed":{"pageInfo":{"hasNextPage":false}}}`)
				l.note(a.id, time.Since(began), true)
			}
		})
	}
	for deadline := time.Now().Add(30 * time.Second); !reached() && time.Now().Before(deadline); pause(nil, time.Millisecond) {
	}
	close(done)
	all.Wait()
}

// write changes something and leaves the feed as it was.
func (l *load) write(a *actor) {
	doc, vars := `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`, map[string]any{"u": a.authors[0].gid}
	if rand.IntN(2) == 0 {
		doc, vars = `mutation { publishBlog(input: {title: "a blog", content: "text"}) { blog { id } } }`, nil
	}
	began := time.Now()
	if got := a.ask(rand.IntN(2), doc, vars); got.Code() != "" {
		a.t.Errorf("%s", got.Body)
	}
	l.note(a.id, time.Since(began), false)
}

func (l *load) note(who social.ID, took time.Duration, feed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if feed {
		l.reads.Add(1)
		l.spans.feeds = append(l.spans.feeds, took)
	}
	if l.spans.by == nil {
		l.spans.by = map[social.ID][]time.Duration{}
	}
	l.spans.all = append(l.spans.all, took)
	l.spans.by[who] = append(l.spans.by[who], took)
}

// take gives what was noted since the last take.
func (l *load) take() spans {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.spans
	l.spans = spans{}
	return s
}

func (s spans) p99() time.Duration {
	slices.Sort(s.feeds)
	return s.feeds[len(s.feeds)*99/100].Round(100 * time.Microsecond)
}

func (s spans) max() time.Duration { return slices.Max(s.all).Round(time.Millisecond) }

func (s spans) over(d time.Duration) int { return count(s.all, d) }

func (s spans) mostOfOne(d time.Duration) (most int) {
	for _, theirs := range s.by {
		most = max(most, count(theirs, d))
	}
	return most
}

func count(spans []time.Duration, over time.Duration) (n int) {
	for _, s := range spans {
		if s > over {
			n++
		}
	}
	return n
}

func (w *cachedWorld) statements() (n int64) {
	for _, s := range w.servers {
		n += s.store.db.Statements()
	}
	return n
}

func (w *cachedWorld) commands() (n int64) {
	for _, s := range w.servers {
		n += s.redis.Commands()
	}
	return n
}

func (w *cachedWorld) allOff() bool {
	for _, s := range w.servers {
		for part := range rdb.Parts {
			if _, on := s.caches.Epoch(part); on {
				return false
			}
		}
	}
	return true
}
