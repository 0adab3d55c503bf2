package transport

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"

	"kith/graph"
	"kith/social"
)

// bigID is one that a float does not hold.
const bigID = social.ID(9007199254740993)

const (
	feedQuery = `subscription($s: String) { feedItemAdded(since: $s) { cursor node { id title author { handle } } } }`
	patience  = 10 * time.Second
)

// site is an edge that is listened to, with subscriptions.
type site struct {
	*edge
	*httptest.Server
	t testing.TB
}

// newStreams serves an edge as in production, but for its pace where that is changed.
func newStreams(t testing.TB, change func(*pace), configs ...func(*Config)) *site {
	t.Helper()
	return serveStreams(t, &fake{feed: make(chan *graph.BlogEdge)}, change, configs...)
}

// serveStreams is newStreams over a fake of the test's own.
func serveStreams(t testing.TB, f *fake, change func(*pace), configs ...func(*Config)) *site {
	t.Helper()
	s := &site{edge: newEdge(f, configs...), t: t}
	server := s.edge.Handler.(*Server)
	if change != nil {
		change(&server.pace)
	}
	s.Server = httptest.NewUnstartedServer(s.edge)
	// Far less than a stream lasts.
	s.Config.ReadTimeout, s.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond
	s.Start()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
		s.CloseClientConnections()
		s.Server.Close()
	})
	return s
}

func (s *site) server() *Server { return s.edge.Handler.(*Server) }

// publish gives a blog to one subscription.
func (s *site) publish(title string) {
	s.t.Helper()
	select {
	case s.fake.feed <- &graph.BlogEdge{Cursor: "c-" + title, Node: &social.Blog{ID: bigID, Title: title}}:
	case <-time.After(patience):
		s.t.Fatal("nobody takes it")
	}
}

// until waits for what has to come true.
func (s *site) until(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) { //nolint:forbidigo // polls
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s", what)
		}
	}
}

// settles waits until no subscription is open, and no more goroutines than before.
func (s *site) settles(before int) {
	s.t.Helper()
	s.until("all is given back", func() bool {
		return s.fake.open.Load() == 0 && len(s.server().streams.each()) == 0 && runtime.NumGoroutine() <= before
	})
}

// peer is a client by WebSocket.
type peer struct {
	*websocket.Conn
	t testing.TB
}

// dial connects; Authorization is empty for none.
func (s *site) dial(h http.Header, protocols ...string) (*peer, *http.Response) {
	s.t.Helper()
	d := websocket.Dialer{Subprotocols: protocols, HandshakeTimeout: patience}
	c, r, err := d.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/graphql", h)
	if err != nil {
		return nil, r
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(patience))
	return &peer{c, s.t}, r
}

// hello is one who has been acknowledged, with a token.
func (s *site) hello(token string) *peer {
	s.t.Helper()
	p, _ := s.dial(nil, subprotocol)
	if p == nil {
		s.t.Fatal("no connection")
	}
	p.say(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`)
	p.hears("connection_ack")
	return p
}

func (p *peer) say(message string) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		p.t.Fatalf("%s: %v", message, err)
	}
}

// hears reads the next message, which has to be of that type.
func (p *peer) hears(kind string) gjson.Result {
	p.t.Helper()
	_, data, err := p.ReadMessage()
	m := gjson.ParseBytes(data)
	if err != nil || m.Get("type").String() != kind {
		p.t.Fatalf("%s %v, want %s", data, err, kind)
	}
	return m
}

// closes reads until the other end closes, which has to be with the code.
func (p *peer) closes(code int) {
	p.t.Helper()
	for {
		if _, _, err := p.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, code) {
				p.t.Errorf("closed with %v, want %d", err, code)
			}
			return
		}
	}
}

// subscribes begins the feed, by an id.
func (p *peer) subscribes(id string) {
	p.t.Helper()
	p.say(`{"type":"subscribe","id":"` + id + `","payload":{"query":` + quoted(feedQuery) + `}}`)
}

func quoted(s string) string { return string(encoded(s)) }

// eventStream is a client by server-sent events.
type eventStream struct {
	*http.Response
	lines *bufio.Scanner
	t     testing.TB
}

// events asks for a stream, by POST or GET.
func (s *site) events(ctx context.Context, r *http.Request) *eventStream {
	s.t.Helper()
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer good")
	got, err := s.Client().Do(r.WithContext(ctx))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = got.Body.Close() })
	return &eventStream{got, bufio.NewScanner(got.Body), s.t}
}

// next is the next event, "" at the end.
func (e *eventStream) next() (name string, data gjson.Result) {
	for e.lines.Scan() {
		switch line := e.lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			name = line[7:]
		case strings.HasPrefix(line, "data: "):
			data = gjson.Parse(line[6:])
		case line == "" && name != "":
			return name, data
		}
	}
	return "", data
}
