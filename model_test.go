package main

import (
	"context"
	"flag"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// modelParts is how many worlds of each kind the model is tried in, side by side: one after
// another, the last would leave a core idle for minutes.
const modelParts = 3

// modelOperations is how many random operations there are in a part, 21,000 in all. The
// embedded stores are the fastest, and a cluster of Redis takes longer than one.
func modelOperations(t *testing.T) int {
	switch path.Base(t.Name()) {
	case "mysql_and_redis":
		return 2500
	case "mysql_and_cluster":
		return 1000
	}
	return 3500
}

// rapidly sets how rapid tries a model: a hundred steps or so, again and again until there
// were enough. The settings are the whole binary's: made before a test is in parallel to
// others, they change while none of those runs.
func rapidly(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{"rapid.checks": "1", "rapid.steps": "100"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// checkApart is rapid.Check in a goroutine of its own. A step that is skipped is a panic, and
// the frames that it ends stay on the stack that the race detector keeps for the goroutine;
// every goroutine started from there costs the length of it.
func checkApart(t *testing.T, check func(*rapid.T)) {
	t.Helper()
	var apart sync.WaitGroup
	apart.Go(func() { rapid.Check(t, check) })
	apart.Wait()
}

// The model test: random operations against a plain map, through servers that share their
// stores, one of them without Redis, while keys are dropped, Redis is stopped, started,
// emptied and set back, workers are stopped and killed, events come again, and clocks move.
// After every one, somebody's feed is read to its end in steps of 1 to 7. It must equal the
// oracle: all blogs of those followed who are neither muted nor suspended, a request being no
// follow; but blogs that may not have been fanned out yet may be missing. Paging that goes on
// while others write must give, at every step, exactly what the oracle has there.
func TestTheFeedEqualsTheOracle(t *testing.T) {
	rapidly(t)
	t.Parallel()
	for part := range modelParts {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			feedEqualsTheOracle(t, part)
		})
	}
}

// feedEqualsTheOracle tries one part of the model; in all but one, who has more than three
// followers becomes a star.
func feedEqualsTheOracle(t *testing.T, part int) {
	t.Helper()
	// Tiny inboxes, so that most of a feed lies below them; and little is kept of a star.
	sizes, kept := []int{3, 10, 4}, []int{2, 5, 3}
	set := func(i int, cfg *settings) {
		cfg.inboxSize = sizes[i]
		if part > 0 {
			cfg.stars = feed.StarsConfig{Followers: 3, Blogs: kept[(i+part)%3]}
		}
	}
	eachCached(t, 3, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		if len(w.servers) > 1 {
			w.halt(2) // all its reads pass the caches by
		}
		operations, people := 0, 0
		check := func(r *rapid.T) {
			if operations >= modelOperations(t) {
				return
			}
			m := &model{stage: stage{t: t, world: w}, bonds: newBonds(), clock: w.Clock, people: &people, late: map[social.ID]bool{}}
			w.Clock.Advance(time.Millisecond)
			for range 3 {
				m.signUp(r)
			}
			actions := map[string]func(*rapid.T){
				"": m.checkSomebody, "sign up": m.signUp, "follow": m.follow, "relate": m.relateAny, "relate once more": m.relateAny,
				"follow many": m.followMany, "privacy": m.setPrivacy, "status": m.setStatus, "relate dying": m.relateDying,
				"publish": m.publish, "publish once more": m.publish, "delete": m.delete, "clock": m.tick, "follow and publish": m.followAndPublish,
				"begin paging": m.begin, "page on": m.pageOn, "page on once more": m.pageOn, "settle": m.settle, "fault": m.faultOrSnapshot,
				"stars": m.ofStars, "stars once more": m.ofStars,
			}
			for name, act := range actions {
				if name != "" {
					actions[name] = func(r *rapid.T) { act(r); operations++ } // but for one that is skipped
				}
			}
			r.Repeat(actions)
			m.mend()
		}
		for operations < modelOperations(t) && !t.Failed() {
			checkApart(t, check)
		}
		t.Logf("%d operations, %d stars of %d people", operations, w.stars(t), people)
	})
}

// model is the oracle beside the servers that it is held against.
type model struct {
	stage
	*bonds
	clock  *socialtest.Clock
	people *int // of all checks, for handles

	blogs    []modelBlog        // deleted ones are taken out
	late     map[social.ID]bool // blogs that may not have been fanned out
	sessions []*session
	// isUnsettled tells that edges may not match the statuses of people.
	isUnsettled bool
}

type modelBlog struct{ id, author social.ID }

// session is somebody paging through their feed while others write.
type session struct {
	viewer   social.ID
	backward bool
	cursor   string        // empty at the head
	at       social.Cursor // what cursor says
}

func (m *model) signUp(r *rapid.T) {
	if len(m.ids) == 8 {
		r.Skip("enough people")
	}
	*m.people++
	s, err := m.server(r).accounts.SignUp(context.Background(), fmt.Sprintf("m%d_x", *m.people), "Somebody", "password")
	if err != nil {
		r.Fatal(err)
	}
	m.ids = append(m.ids, s.User.ID)
}

func (m *model) publish(r *rapid.T) {
	author := m.active(r, "author", m.ids)
	b, err := m.server(r).feed.Publish(context.Background(), author, feed.Draft{Title: "a blog", Content: "text"})
	if err != nil {
		r.Fatal(err)
	}
	m.blogs = append(m.blogs, modelBlog{b.ID, author})
	m.late[b.ID] = true
}

func (m *model) delete(r *rapid.T) {
	if len(m.blogs) == 0 {
		r.Skip("no blogs")
	}
	i := rapid.IntRange(0, len(m.blogs)-1).Draw(r, "blog")
	if !m.isActive(m.blogs[i].author) {
		r.Skip("who is suspended deletes nothing")
	}
	if err := m.server(r).feed.Delete(context.Background(), m.blogs[i].author, m.blogs[i].id); err != nil {
		r.Fatal(err)
	}
	m.blogs = slices.Delete(m.blogs, i, i+1)
}

// tick moves the clock now and then, mostly not far: blogs crowd into few milliseconds.
func (m *model) tick(r *rapid.T) {
	steps := []time.Duration{time.Millisecond, time.Millisecond, time.Second, time.Hour, 40 * 24 * time.Hour}
	m.clock.Advance(rapid.SampledFrom(steps).Draw(r, "step"))
}

func (m *model) begin(r *rapid.T) {
	if len(m.sessions) < 5 {
		m.sessions = append(m.sessions, &session{viewer: m.active(r, "viewer", m.ids)})
		return
	}
	// Turn round: from where a reader stands, what is newer.
	s := rapid.SampledFrom(m.sessions).Draw(r, "session")
	if s.cursor == "" {
		r.Skip("nothing read yet")
	}
	s.backward = !s.backward
}

func (m *model) pageOn(r *rapid.T) {
	if len(m.sessions) == 0 {
		r.Skip("nobody pages")
	}
	i := rapid.IntRange(0, len(m.sessions)-1).Draw(r, "session")
	if !m.isActive(m.sessions[i].viewer) {
		r.Skip("who is suspended reads nothing")
	}
	if !m.step(r, m.sessions[i], rapid.IntRange(1, 7).Draw(r, "size")) {
		m.sessions = slices.Delete(m.sessions, i, i+1)
	}
}

// checkSomebody reads one feed to its end.
func (m *model) checkSomebody(r *rapid.T) {
	s := &session{viewer: m.active(r, "reader", m.ids)}
	size := rapid.IntRange(1, 7).Draw(r, "size")
	for m.step(r, s, size) {
	}
}

// oracle is the feed of the viewer as it must be, newest first.
func (m *model) oracle(viewer social.ID) []social.ID {
	var ids []social.ID
	for _, b := range m.blogs {
		if m.feeds(social.Pair{UserID: viewer, TargetID: b.author}) {
			ids = append(ids, b.id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

// step reads one page of the session, holds it against the oracle, and tells whether
// there is more.
func (m *model) step(r *rapid.T, s *session, size int) (more bool) {
	args := social.PageArgs{First: &size}
	if s.cursor != "" {
		args.After = &s.cursor
	}
	if s.backward {
		args = social.PageArgs{Last: &size, Before: &s.cursor}
	}
	p, err := args.Page(social.FeedCursor, s.viewer)
	if err != nil {
		r.Fatal(err)
	}
	got, err := m.server(r).feed.Home(context.Background(), s.viewer, p)
	if err != nil {
		r.Fatal(err)
	}
	var ids []social.ID
	for _, e := range got.Items {
		ids = append(ids, e.Blog.ID)
	}
	more = got.HasNext && !s.backward || got.HasPrevious && s.backward
	if want := ahead(m.oracle(s.viewer), p); !m.isPage(want, ids, size, more) {
		r.Fatalf("page of %d at %v: %v (more: %v), want the first of %v; not fanned out: %v", size, p.From, ids, more, want, m.late)
	}
	s.checkOffsets(r, got.Items)
	if n := len(got.Items); n > 0 {
		s.at = got.Items[n-1].Cursor
		if s.backward {
			s.at = got.Items[0].Cursor
		}
		s.cursor = s.at.Encode(social.FeedCursor, s.viewer)
	}
	return more
}

// checkOffsets counts the entries of one time beside the server.
func (s *session) checkOffsets(r *rapid.T, entries []feed.Entry) {
	at := s.at
	for _, e := range entries {
		given := 1
		switch {
		case s.backward:
			given = 0
		case e.Cursor.MinTime != at.MinTime:
		case at.Offset == 0:
			given = 0
		default:
			given = at.Offset + 1
		}
		if e.Cursor.Offset != given || e.Cursor.MinTime != e.Blog.CreatedAt() {
			r.Fatalf("cursor %+v after %+v: want offset %d", e.Cursor, at, given)
		}
		at = e.Cursor
	}
}

// ahead is the part of the feed that lies ahead of a page, in its direction.
func ahead(feed []social.ID, p social.Page) []social.ID {
	if p.Backward {
		newer := slices.DeleteFunc(feed, func(id social.ID) bool { return id <= p.From.ID })
		slices.Reverse(newer)
		return newer
	}
	if !p.AtHead() {
		feed = slices.DeleteFunc(feed, func(id social.ID) bool { return id >= p.From.ID })
	}
	return feed
}

// isPage tells whether a page is right where the oracle has want ahead of it: its first
// ones, in their order, but for such as may not have been fanned out.
func (m *model) isPage(want, ids []social.ID, size int, more bool) bool {
	if len(want) > 0 && len(ids) > 0 && want[0] < want[len(want)-1] { // upwards; pages are downwards
		ids = slices.Clone(ids)
		slices.Reverse(ids)
	}
	for _, id := range ids {
		for len(want) > 0 && want[0] != id && m.late[want[0]] {
			want = want[1:]
		}
		if len(want) == 0 || want[0] != id {
			return false
		}
		want = want[1:]
	}
	sure := slices.ContainsFunc(want, func(id social.ID) bool { return !m.late[id] })
	switch {
	case len(ids) > size, sure && !more, len(want) == 0 && more:
		return false
	}
	return len(ids) == size || !more
}
