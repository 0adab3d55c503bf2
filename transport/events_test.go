package transport

import (
	"context"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"kith/graph"
	"kith/social"
)

func edgeOf(title string) *graph.BlogEdge {
	return &graph.BlogEdge{Cursor: "c", Node: &social.Blog{ID: bigID, Title: title}}
}

// asked is a request for the feed, or something else, at the site.
func (s *site) asked(method, query string) *http.Request {
	s.t.Helper()
	address, body := s.URL+"/graphql", inJSON(query)
	if method == http.MethodGet {
		address, body = address+"?query="+url.QueryEscape(query), ""
	}
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

// Events come one by one, though the client takes compressed answers and the server's
// time-outs are short; the end is one with a line of data.
func TestAStreamOfEvents(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		t.Run(method, func(t *testing.T) {
			s := newStreams(t, func(p *pace) { p.beat = 20 * time.Millisecond })
			r := s.asked(method, feedQuery)
			r.Header.Set("Accept-Encoding", "gzip, br, deflate")
			e := s.events(t.Context(), r)
			if h := e.Header; h.Get("Content-Type") != "text/event-stream; charset=utf-8" || h.Get("Content-Encoding") != "" ||
				!strings.Contains(h.Get("Cache-Control"), "no-transform") || h.Get("X-Accel-Buffering") != "no" {
				t.Errorf("%v", h)
			}
			for _, title := range []string{"one", "two", "three"} {
				s.publish(title) // the next is published when this one has come
				name, data := e.next()
				if name != "next" || data.Get("data.feedItemAdded.node.title").String() != title ||
					data.Get("data.feedItemAdded.node.id").Raw != quoted(social.GlobalID(social.BlogNode, bigID)) {
					t.Fatalf("%s %s", name, data)
				}
				time.Sleep(150 * time.Millisecond) //nolint:forbidigo // longer in all than the server's time-outs
			}
			close(s.fake.feed)
			if name, data := e.next(); name != "complete" || data.Raw != "" {
				t.Errorf("%s %s", name, data)
			}
			if name, _ := e.next(); name != "" {
				t.Errorf("after the end: %s", name)
			}
		})
	}
}

func TestWhatAStreamRefuses(t *testing.T) {
	s := serveStreams(t, &fake{feedErr: social.Errorf(social.LimitExceeded, "reload")}, nil)
	for query, want := range map[string]string{
		feedQuery:            "LIMIT_EXCEEDED",
		"subscription {oh}":  "BAD_USER_INPUT",
		"{viewer{handle}}":   "",
		"{ viewer { handle ": "BAD_USER_INPUT",
	} {
		e := s.events(t.Context(), s.asked(http.MethodPost, query))
		name, data := e.next()
		if name != "next" || data.Get("errors.0.extensions.code").String() != want {
			t.Errorf("%s: %s %s, want %s", query, name, data, want)
		}
		if name, _ := e.next(); name != "complete" {
			t.Errorf("%s: %q, want the end", query, name)
		}
	}
	e := s.events(t.Context(), s.asked(http.MethodGet, `mutation {follow(input: {userId: "u"}) {userId}}`))
	if e.StatusCode != http.StatusMethodNotAllowed || s.fake.follows.Load() != 0 {
		t.Errorf("a mutation by GET: %d", e.StatusCode)
	}
}

func TestASubscriptionNeedsAStream(t *testing.T) {
	e := newEdge(&fake{})
	a := e.post(t, feedQuery, nil)
	if a.code() != "BAD_USER_INPUT" || !strings.Contains(a.raw, "text/event-stream") || !strings.Contains(a.raw, "graphql-transport-ws") {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if e.fake.calls.Load() != 0 {
		t.Error("it was begun")
	}
}

func TestAnErrorOfAnEventIsToldInIt(t *testing.T) {
	s := newStreams(t, nil)
	e := s.events(t.Context(), s.asked(http.MethodPost, `subscription { feedItemAdded { node { id author { isFollowingViewer followers { nodes { isFollowingViewer } } } } } }`))
	s.publish("one")
	name, data := e.next()
	path := data.Get("errors.0.path").Raw
	if name != "next" || data.Get("errors.0.extensions.code").String() != "INTERNAL" || !strings.HasPrefix(path, `["feedItemAdded","node","author"`) {
		t.Errorf("%s %s", name, data)
	}
}

func TestStreamsAreCutAtTheEnd(t *testing.T) {
	s := newStreams(t, nil)
	e := s.events(t.Context(), s.asked(http.MethodPost, feedQuery))
	s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
	if err := s.server().Close(t.Context()); err != nil {
		t.Error(err)
	}
	if name, _ := e.next(); name != "" {
		t.Errorf("%s, want a stream that is cut", name)
	}
	if e := s.events(t.Context(), s.asked(http.MethodPost, feedQuery)); e.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("it takes more: %d", e.StatusCode)
	}
}

// Whatever ends 200 sockets and 200 streams of events, every goroutine comes back.
func TestClosingGivesBackEveryGoroutine(t *testing.T) {
	s := newStreams(t, nil)
	warm := s.hello("good") // what is made once
	warm.subscribes("1")
	s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
	_ = warm.Close()
	s.settles(1 << 30)
	before := runtime.NumGoroutine()
	const each = 50
	for i := range 4 * each {
		p := s.hello("good")
		p.subscribes("1")
		s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
		switch i % 4 {
		case 0: // cut off
			_ = p.NetConn().Close()
		case 1:
			_ = p.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
			p.closes(1000)
		case 2:
			p.say(`{"type":"complete","id":"1"}`)
			s.until("it is complete", func() bool { return s.fake.open.Load() == 0 })
			_ = p.Close()
		default:
			p.say("{")
			p.closes(4400)
		}
		_ = p.Close()
		s.until("it is given back", func() bool { return s.fake.open.Load() == 0 })

		ctx, cancel := context.WithCancel(t.Context())
		e := s.events(ctx, s.asked(http.MethodPost, feedQuery))
		s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
		cancel()
		_ = e.Body.Close()
		s.until("it is given back", func() bool { return s.fake.open.Load() == 0 })
	}
	s.Client().CloseIdleConnections()
	s.settles(before + 5)
}
