package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// modelOperations is how many random operations each kind of store gets.
const modelOperations = 10_000

// The model test: random operations against a plain map. After every one, somebody's feed
// is read to its end in steps of 1 to 7 and must equal the oracle; paging that goes on
// while others write must give, at every step, exactly what the oracle has there.
func TestTheFeedEqualsTheOracle(t *testing.T) {
	for name, value := range map[string]string{"rapid.checks": "40", "rapid.steps": "100"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		servers := []*server{wiredServer(t, s, 2)}
		if s.IsMySQL() {
			servers = append(servers, wiredServer(t, s, 3))
		}
		operations, people := 0, 0
		check := func(r *rapid.T) {
			m := &model{servers: servers, clock: s.Clock, people: &people, follows: map[social.Pair]bool{}}
			s.Clock.Advance(time.Millisecond)
			for range 3 {
				m.signUp(r)
			}
			actions := map[string]func(*rapid.T){
				"": m.checkSomebody, "sign up": m.signUp, "follow": m.follow, "follow once more": m.follow, "unfollow": m.unfollow,
				"publish": m.publish, "publish once more": m.publish, "delete": m.delete, "clock": m.tick,
				"begin paging": m.begin, "page on": m.pageOn, "page on once more": m.pageOn,
			}
			for name, act := range actions {
				if name != "" {
					actions[name] = func(r *rapid.T) { operations++; act(r) }
				}
			}
			r.Repeat(actions)
		}
		for operations < modelOperations && !t.Failed() {
			rapid.Check(t, check)
		}
		t.Logf("%d operations", operations)
	})
}

// model is the oracle beside the servers that it is held against.
type model struct {
	servers []*server
	clock   *socialtest.Clock
	people  *int // of all checks, for handles

	ids      []social.ID
	follows  map[social.Pair]bool
	blogs    []modelBlog // deleted ones are taken out
	sessions []*session
}

type modelBlog struct{ id, author social.ID }

// session is somebody paging through their feed while others write.
type session struct {
	viewer   social.ID
	backward bool
	cursor   string        // empty at the head
	at       social.Cursor // what cursor says
}

func (m *model) server(r *rapid.T) *server {
	return m.servers[rapid.IntRange(0, len(m.servers)-1).Draw(r, "server")]
}
func (m *model) person(r *rapid.T, label string) social.ID {
	return rapid.SampledFrom(m.ids).Draw(r, label)
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

func (m *model) follow(r *rapid.T)   { m.move(r, true) }
func (m *model) unfollow(r *rapid.T) { m.move(r, false) }

func (m *model) move(r *rapid.T, to bool) {
	pair := social.Pair{UserID: m.person(r, "viewer"), TargetID: m.person(r, "target")}
	if pair.UserID == pair.TargetID {
		r.Skip("oneself")
	}
	g := m.server(r).graph
	call := g.Unfollow
	if to {
		call = g.Follow
	}
	got, err := call(context.Background(), pair.UserID, pair.TargetID)
	if err != nil {
		r.Fatal(err)
	}
	if got.Changed != (m.follows[pair] != to) || (got.State == social.Following) != to {
		r.Fatalf("moving %v to %v: %+v", pair, to, got)
	}
	m.follows[pair] = to
}

func (m *model) publish(r *rapid.T) {
	author := m.person(r, "author")
	b, err := m.server(r).feed.Publish(context.Background(), author, feed.Draft{Title: "a blog", Content: "text"})
	if err != nil {
		r.Fatal(err)
	}
	m.blogs = append(m.blogs, modelBlog{b.ID, author})
}

func (m *model) delete(r *rapid.T) {
	if len(m.blogs) == 0 {
		r.Skip("no blogs")
	}
	i := rapid.IntRange(0, len(m.blogs)-1).Draw(r, "blog")
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
		m.sessions = append(m.sessions, &session{viewer: m.person(r, "viewer")})
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
	if !m.step(r, m.sessions[i], rapid.IntRange(1, 7).Draw(r, "size")) {
		m.sessions = slices.Delete(m.sessions, i, i+1)
	}
}

// checkSomebody reads one feed to its end.
func (m *model) checkSomebody(r *rapid.T) {
	s := &session{viewer: m.person(r, "reader")}
	size := rapid.IntRange(1, 7).Draw(r, "size")
	for m.step(r, s, size) {
	}
}

// oracle is the feed of the viewer as it must be, newest first.
func (m *model) oracle(viewer social.ID) []social.ID {
	var ids []social.ID
	for _, b := range m.blogs {
		if m.follows[social.Pair{UserID: viewer, TargetID: b.author}] {
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
	want, more := cut(m.oracle(s.viewer), p, size)
	var ids []social.ID
	for _, e := range got.Items {
		ids = append(ids, e.Blog.ID)
	}
	if has := got.HasNext && !s.backward || got.HasPrevious && s.backward; !slices.Equal(ids, want) || has != more {
		r.Fatalf("page of %d at %v: %v (more: %v), want %v (more: %v)", size, p.From, ids, has, want, more)
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

// cut is the page of the whole feed.
func cut(feed []social.ID, p social.Page, size int) (want []social.ID, more bool) {
	if p.Backward {
		newer := slices.DeleteFunc(feed, func(id social.ID) bool { return id <= p.From.ID })
		from := max(0, len(newer)-size)
		return newer[from:], from > 0
	}
	if !p.AtHead() {
		feed = slices.DeleteFunc(feed, func(id social.ID) bool { return id >= p.From.ID })
	}
	return feed[:min(size, len(feed))], len(feed) > size
}
