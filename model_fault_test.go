package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/feed"
	"kith/social"
)

// stage is the servers of a model test, and what befalls them and their Redis.
type stage struct {
	t     *testing.T
	world *cachedWorld
	ids   []social.ID // of the people in it
	down  bool        // Redis
}

func (m *stage) server(r *rapid.T) *server {
	return m.world.servers[rapid.IntRange(0, len(m.world.servers)-1).Draw(r, "server")]
}

func (m *stage) person(r *rapid.T, label string) social.ID {
	return rapid.SampledFrom(m.ids).Draw(r, label)
}

// faults are what happens to the servers and their Redis, some more often than others.
var faults = []struct {
	weight int
	do     func(*stage, *rapid.T)
}{
	{30, (*stage).dropKeys},
	{4, (*stage).flush},
	{3, (*stage).stopRedis},
	{8, (*stage).startRedis},
	{10, (*stage).repeatEvents},
	{6, (*stage).haltWorker},
	{10, (*stage).beginWorker},
}

// fault does one of them, about once in three times that it is asked.
func (m *stage) fault(r *rapid.T) {
	n := rapid.IntRange(0, 220).Draw(r, "fault")
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			f.do(m, r)
			return
		}
	}
}

// faultOrSnapshot is a fault, or less often than any other an older state of Redis.
func (m *model) faultOrSnapshot(r *rapid.T) {
	if rapid.IntRange(0, 110).Draw(r, "snapshot") == 0 {
		m.restoreSnapshot(r)
		return
	}
	m.fault(r)
}

// dropKeys takes keys of one kind, or all of one person.
func (m *stage) dropKeys(r *rapid.T) {
	if m.down {
		return
	}
	patterns := []string{"inbox:*", "following:*", "lease:*", "wrote:*", "count:*", "*:" + m.person(r, "whose").String()}
	m.world.redis.DropKeys(m.t, rapid.SampledFrom(patterns).Draw(r, "keys"))
}

func (m *stage) flush(*rapid.T) {
	if !m.down {
		m.world.redis.Flush(m.t)
	}
}

func (m *stage) stopRedis(*rapid.T) {
	if !m.down {
		m.world.redis.Kill(m.t)
		m.down = true
	}
}

func (m *stage) startRedis(*rapid.T) {
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
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for behind := true; behind; <-tick.C {
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
func (m *stage) repeatEvents(r *rapid.T) {
	by := rapid.IntRange(1, 20).Draw(r, "events")
	working := m.world.haltAll()
	m.world.Exec(m.t, "UPDATE consumed SET position = CASE WHEN position > ? THEN position - ? ELSE 0 END", by, by)
	for _, i := range working {
		m.world.begin(i)
	}
}

// guarded tells whether any server works.
func (m *stage) guarded() bool {
	return slices.ContainsFunc(m.world.stops, func(stop context.CancelFunc) bool { return stop != nil })
}

func (m *stage) haltWorker(r *rapid.T) {
	i := rapid.IntRange(0, len(m.world.servers)-1).Draw(r, "worker")
	if m.world.works(i) {
		m.world.halt(i)
	}
}

func (m *stage) beginWorker(*rapid.T) {
	for i := range m.world.servers {
		if i < 2 && !m.world.works(i) {
			m.world.begin(i)
			return
		}
	}
}

// mend ends all faults.
func (m *stage) mend() {
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
		m.world.heard(m.t)
		clear(m.late)
	}
}

// ofStars makes a star, has a minute pass for those that there are, or a server forget what
// it knows of them, as when events were missed.
func (m *model) ofStars(r *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(r, "of stars") {
	case 0:
		m.server(r).feed.Stars.Missed()
	case 1:
		m.settleStatuses(r)
		star := m.active(r, "star", m.ids)
		for _, fan := range m.ids {
			if fan != star {
				m.call(r, m.server(r).graph, "follow", social.Pair{UserID: fan, TargetID: star})
			}
		}
	default:
		m.world.ageStars(m.t)
	}
}

// followAndPublish is what the caches have most trouble with: a follow, and at once a blog
// of the one who is followed.
func (m *model) followAndPublish(r *rapid.T) {
	m.follow(r)
	author := m.active(r, "author", m.ids)
	b, err := m.server(r).feed.Publish(context.Background(), author, feed.Draft{Title: "a blog", Content: "text"})
	if err != nil {
		r.Fatal(err)
	}
	m.blogs = append(m.blogs, modelBlog{b.ID, author})
	m.late[b.ID] = true
}
