package main

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kith/feed"
	"kith/follow"
	"kith/social"
)

// faults are what happens to the servers and their Redis, some more often than others.
var faults = []struct {
	weight int
	do     func(*model, *rapid.T)
}{
	{30, (*model).dropKeys},
	{4, (*model).flush},
	{3, (*model).stopRedis},
	{8, (*model).startRedis},
	{2, (*model).restoreSnapshot},
	{10, (*model).repeatEvents},
	{6, (*model).haltWorker},
	{10, (*model).beginWorker},
}

// fault does one of them, about once in three times that it is asked.
func (m *model) fault(r *rapid.T) {
	n := rapid.IntRange(0, 220).Draw(r, "fault")
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			f.do(m, r)
			return
		}
	}
}

// dropKeys takes keys of one kind, or all of one person.
func (m *model) dropKeys(r *rapid.T) {
	if m.down {
		return
	}
	patterns := []string{"inbox:*", "following:*", "lease:*", "wrote:*", "count:*", "*:" + m.person(r, "whose").String()}
	m.world.redis.DropKeys(m.t, rapid.SampledFrom(patterns).Draw(r, "keys"))
}

func (m *model) flush(*rapid.T) {
	if !m.down {
		m.world.redis.Flush(m.t)
	}
}

func (m *model) stopRedis(*rapid.T) {
	if !m.down {
		m.world.redis.Kill(m.t)
		m.down = true
	}
}

func (m *model) startRedis(*rapid.T) {
	if m.down {
		m.world.redis.Start(m.t)
		m.down = false
	}
}

// restoreSnapshot sets Redis back to what it was some operations ago. It has lost writes
// that it had acknowledged then, which is the one thing that takes time to show.
func (m *model) restoreSnapshot(r *rapid.T) {
	redis, ok := m.world.redis.(interface {
		Snapshot(t testing.TB)
		Restore(t testing.TB)
	})
	if !ok || m.down || !m.guarded() {
		return
	}
	redis.Snapshot(m.t)
	for range rapid.IntRange(0, 5).Draw(r, "operations") {
		rapid.SampledFrom([]func(*rapid.T){m.publish, m.followAndPublish, m.dropKeys}).Draw(r, "operation")(r)
	}
	before := m.epochs()
	redis.Restore(m.t)
	for behind := true; behind; {
		behind = false
		for part, epoch := range m.epochs() {
			behind = behind || epoch <= before[part]
		}
	}
}

func (m *model) epochs() []int64 {
	var epochs []int64
	if err := m.world.SQL.Select(&epochs, "SELECT epoch FROM cache_state ORDER BY part"); err != nil {
		m.t.Fatal(err)
	}
	return epochs
}

// repeatEvents sets the consumer back by some events, while nobody works.
func (m *model) repeatEvents(r *rapid.T) {
	by := rapid.IntRange(1, 20).Draw(r, "events")
	working := m.world.haltAll()
	m.world.Exec(m.t, "UPDATE consumed SET position = CASE WHEN position > ? THEN position - ? ELSE 0 END", by, by)
	for _, i := range working {
		m.world.begin(i)
	}
}

// guarded tells whether any server works.
func (m *model) guarded() bool {
	return slices.ContainsFunc(m.world.stops, func(stop context.CancelFunc) bool { return stop != nil })
}

func (m *model) haltWorker(r *rapid.T) {
	i := rapid.IntRange(0, len(m.world.servers)-1).Draw(r, "worker")
	if m.world.works(i) {
		m.world.halt(i)
	}
}

func (m *model) beginWorker(*rapid.T) {
	for i := range m.world.servers {
		if i < 2 && !m.world.works(i) {
			m.world.begin(i)
			return
		}
	}
}

// mend ends all faults.
func (m *model) mend() {
	m.startRedis(nil)
	for i := range m.world.servers {
		if i < 2 && !m.world.works(i) {
			m.world.begin(i)
		}
	}
}

// settle waits until all has been fanned out, where anybody is there to do it: nothing may
// be missing from now on.
func (m *model) settle(*rapid.T) {
	if m.guarded() {
		m.world.drained(m.t)
		clear(m.late)
	}
}

// followDying is a follow or unfollow through a server that dies between its commit and
// what it owes the caches: nobody got an answer. Whoever repeats it through another gets
// one, and must see it.
func (m *model) followDying(r *rapid.T) {
	pair := social.Pair{UserID: m.person(r, "viewer"), TargetID: m.person(r, "target")}
	if pair.UserID == pair.TargetID {
		r.Skip("oneself")
	}
	s := m.server(r)
	dying := follow.New(s.store.db, m.clock.Now, follow.Config{})
	to := rapid.Bool().Draw(r, "to follow")
	for i, g := range []*follow.Graph{dying, s.graph} {
		call := g.Unfollow
		if to {
			call = g.Follow
		}
		got, err := call(context.Background(), pair.UserID, pair.TargetID)
		if err != nil {
			r.Fatal(err)
		}
		if i == 1 && got.Changed {
			r.Fatal("changed twice")
		}
	}
	m.follows[pair] = to
}

// followAndPublish is what the caches have most trouble with: a follow, and at once a blog
// of the one who is followed.
func (m *model) followAndPublish(r *rapid.T) {
	m.follow(r)
	author := m.person(r, "author")
	b, err := m.server(r).feed.Publish(context.Background(), author, feed.Draft{Title: "a blog", Content: "text"})
	if err != nil {
		r.Fatal(err)
	}
	m.blogs = append(m.blogs, modelBlog{b.ID, author})
	m.late[b.ID] = true
}
