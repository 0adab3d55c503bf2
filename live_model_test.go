package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// livePlay is how long things happen, for each kind of stores.
const livePlay = 4 * time.Second

// The live model test. People follow, unfollow, mute, unmute and block, mostly just before
// whom it is about publishes; clients read a page, subscribe from its cursor, disconnect,
// and go on from the newest edge they hold, through any server; servers end their work and
// begin it, Redis is killed and emptied, and with it the bell and the caches. In the end each client
// holds, from its pages and its edges, all that was published while its person followed the
// author, and still does: no more is missing than is deleted. No connection had an id twice,
// and nothing came of anybody who was not followed from before it was published on.
func TestALiveClientMissesNothing(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*cachedWorld, *socialtest.Redis){
		"mysql and redis": func(t *testing.T) (*cachedWorld, *socialtest.Redis) {
			r := socialtest.NewRedis(t)
			return newCachedWorld(t, socialtest.NewMySQL(t), r, 2, trueTime), r
		},
		"embedded": func(t *testing.T) (*cachedWorld, *socialtest.Redis) {
			return newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, trueTime), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := open(t)
			defer w.close()
			m := newLiveModel(t, w)
			m.play(r)
			m.check()
		})
	}
}

// liveModel is who did what, when.
type liveModel struct {
	*testing.T
	w       *cachedWorld
	lives   []lives
	viewers []person
	authors []person
	done    chan struct{}

	mu      sync.Mutex
	moves   map[social.Pair][]move
	blogs   map[social.ID]*liveBlog
	clients []*liveClient
	happens map[string]int
}

// move is a change of whether the feed shows somebody, from before it was asked for until it
// was answered.
type move struct {
	began, ended time.Time
	shown        bool
}

type liveBlog struct {
	author    social.ID
	began     time.Time // its publishing
	isDeleted bool
}

func newLiveModel(t *testing.T, w *cachedWorld) *liveModel {
	t.Helper()
	m := &liveModel{
		T: t, w: w, done: make(chan struct{}), moves: map[social.Pair][]move{}, blogs: map[social.ID]*liveBlog{}, happens: map[string]int{},
	}
	for _, s := range w.servers {
		m.lives = append(m.lives, livesOf(s))
	}
	m.viewers, m.authors = w.persons(t, 4), w.persons(t, 4)
	return m
}

func (m *liveModel) server() *server { return m.w.servers[rand.IntN(len(m.w.servers))] }

// play lets things happen, and waits until every client holds what it must.
func (m *liveModel) play(r *socialtest.Redis) {
	var writers, readers sync.WaitGroup
	for _, v := range m.viewers {
		writers.Go(func() { m.relate(v.id) })
		for range 2 {
			c := &liveClient{m: m, viewer: v, held: map[social.ID]bool{}}
			m.clients = append(m.clients, c)
			readers.Go(c.run)
		}
	}
	for _, a := range m.authors {
		writers.Go(func() { m.write(a.id) })
	}
	writers.Go(func() { m.breakThings(r) })
	pause(nil, livePlay)
	close(m.done)
	writers.Wait()
	m.w.drained(m)
	for deadline := time.Now().Add(20 * time.Second); m.missing() != "" && time.Now().Before(deadline); pause(nil, 10*time.Millisecond) {
	}
	for _, c := range m.clients {
		c.stop()
	}
	readers.Wait()
}

// insist does what may fail while things are broken, until it succeeds.
func (m *liveModel) insist(do func(ctx context.Context, s *server) error) {
	for range 200 {
		err := do(context.Background(), m.server())
		if err == nil {
			return
		}
		if !social.HasCode(err, social.Unavailable) {
			m.Error(err)
			return
		}
		pause(nil, 10*time.Millisecond)
	}
	m.Error("never done")
}

// relate moves the edges of one viewer, which nobody else does.
func (m *liveModel) relate(viewer social.ID) {
	edges := map[social.ID]*liveEdge{}
	for !closed(m.done) {
		author := m.authors[rand.IntN(len(m.authors))].id
		if edges[author] == nil {
			edges[author] = &liveEdge{}
		}
		e := edges[author]
		began := time.Now()
		m.insist(e.move(viewer, author))
		m.mu.Lock()
		pair := social.Pair{UserID: viewer, TargetID: author}
		m.moves[pair] = append(m.moves[pair], move{began, time.Now(), e.follows && !e.mutes})
		m.mu.Unlock()
		m.publish(author)
		pause(m.done, time.Duration(rand.IntN(60))*time.Millisecond)
	}
}

type liveEdge struct{ follows, mutes, blocked bool }

// move changes the edge, and gives how: mostly such that the feed shows more.
func (e *liveEdge) move(viewer, author social.ID) func(ctx context.Context, s *server) error {
	n := rand.IntN(10)
	switch {
	case e.blocked:
		e.blocked = false
		return func(ctx context.Context, s *server) error { return s.graph.Unblock(ctx, author, viewer) }
	case e.mutes:
		e.mutes = false
		return func(ctx context.Context, s *server) error { return s.graph.Unmute(ctx, viewer, author) }
	case !e.follows, n < 4: // once more
		e.follows = true
		return func(ctx context.Context, s *server) error {
			_, err := s.graph.Follow(ctx, viewer, author)
			return err
		}
	case n < 6:
		e.mutes = true
		return func(ctx context.Context, s *server) error { return s.graph.Mute(ctx, viewer, author) }
	case n < 9:
		e.follows = false
		return func(ctx context.Context, s *server) error {
			_, err := s.graph.Unfollow(ctx, viewer, author)
			return err
		}
	}
	e.blocked, e.follows = true, false
	return func(ctx context.Context, s *server) error { return s.graph.Block(ctx, author, viewer) }
}

// write publishes, and deletes now and then.
func (m *liveModel) write(author social.ID) {
	for !closed(m.done) {
		id := m.publish(author)
		if id != 0 && rand.IntN(10) == 0 {
			m.mu.Lock()
			m.blogs[id].isDeleted = true
			m.mu.Unlock()
			m.insist(func(ctx context.Context, s *server) error { return s.feed.Delete(ctx, author, id) })
		}
		pause(m.done, time.Duration(rand.IntN(80))*time.Millisecond)
	}
}

// publish tries once: what is UNAVAILABLE may be published, and nobody knows.
func (m *liveModel) publish(author social.ID) social.ID {
	began := time.Now()
	b, err := m.server().feed.Publish(context.Background(), author, feed.Draft{Title: "t", Content: "c"})
	if err != nil {
		if !social.HasCode(err, social.Unavailable) {
			m.Error(err)
		}
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blogs[b.ID] = &liveBlog{author: author, began: began}
	return b.ID
}

// breakThings does one thing after the other, and mends all at the end.
func (m *liveModel) breakThings(r *socialtest.Redis) {
	things := map[string]func(){
		"a server ends": func() {
			i := rand.IntN(len(m.w.servers))
			m.w.halt(i)
			pause(m.done, time.Duration(rand.IntN(300))*time.Millisecond)
			m.w.begin(i)
		},
		"keys": func() { m.w.redis.DropKeys(m, []string{"following:*", "inbox:*", "wrote:*"}[rand.IntN(3)]) },
	}
	if r != nil {
		things["redis is killed"] = func() {
			r.Kill(m)
			pause(m.done, time.Duration(rand.IntN(300))*time.Millisecond)
			r.Start(m)
		}
		things["redis is empty"] = func() { r.Flush(m) }
	}
	for !closed(m.done) {
		pause(m.done, time.Duration(rand.IntN(500))*time.Millisecond)
		for name, do := range things { // one of them
			do()
			m.happens[name]++
			break
		}
	}
}

// isShown tells that the feed has shown the author, or not, from one time to the other
// without doubt.
func (m *liveModel) isShown(p social.Pair, from, to time.Time, shown bool) bool {
	is := !shown // before the first move
	for _, v := range m.moves[p] {
		switch {
		case !v.ended.After(from):
			is = v.shown == shown
		case v.began.Before(to):
			is = is && v.shown == shown
		}
	}
	return is
}

// missing is the first that a client lacks, empty for nothing.
func (m *liveModel) missing() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for i, c := range m.clients {
		for id, b := range m.blogs {
			if !b.isDeleted && !c.held[id] && m.isShown(social.Pair{UserID: c.viewer.id, TargetID: b.author}, b.began, now, true) {
				return fmt.Sprintf("client %d of %d lacks blog %d of %d, published %v ago", i, c.viewer.id, id, b.author, now.Sub(b.began))
			}
		}
	}
	return ""
}

func (m *liveModel) check() {
	if lack := m.missing(); lack != "" {
		m.Error(lack)
	}
	edges, opened, pages := 0, 0, 0
	for _, c := range m.clients {
		edges, opened, pages = edges+len(c.got), opened+c.opened, pages+c.pages
		for _, g := range c.got {
			b := m.blogs[g.id]
			if b != nil && m.isShown(social.Pair{UserID: c.viewer.id, TargetID: b.author}, b.began, g.at, false) {
				m.Errorf("%d got blog %d of %d, whom they did not follow from before it on", c.viewer.id, g.id, b.author)
			}
		}
	}
	m.Logf("%d blogs, %d edges by %d connections of %d clients, %d pages; %v", len(m.blogs), edges, opened, len(m.clients), pages, m.happens)
	if edges < len(m.blogs)/2 || opened < 2*len(m.clients) {
		m.Error("hardly anything happened")
	}
}
