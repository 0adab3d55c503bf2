package transport

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"kith/social"
)

func TestASocketHasSubscriptionsQueriesAndMutations(t *testing.T) {
	s := newStreams(t, nil)
	p := s.hello("good")
	p.subscribes("1")
	s.publish("one")
	m := p.hears("next")
	if m.Get("id").String() != "1" || m.Get("payload.data.feedItemAdded.node.id").Raw != quoted(social.GlobalID(social.BlogNode, bigID)) {
		t.Errorf("%s", m)
	}
	if m.Get("payload.extensions.cost").Raw == "" {
		t.Errorf("without its cost: %s", m)
	}
	p.say(`{"type":"subscribe","id":"2","payload":{"query":"{viewer{handle}}"}}`)
	if m := p.hears("next"); m.Get("payload.data.viewer.handle").String() != "viewer" {
		t.Errorf("%s", m)
	}
	p.hears("complete")
	p.say(`{"type":"subscribe","id":"2","payload":{"query":"mutation {follow(input: {userId: \"u\"}) {userId}}"}}`)
	if m := p.hears("next"); m.Get("payload.data.follow.userId").String() != "u" || s.fake.follows.Load() != 1 {
		t.Errorf("%s", m)
	}
	p.hears("complete")
	p.say(`{"type":"ping","payload":{"a":1}}`)
	if m := p.hears("pong"); m.Get("payload.a").Int() != 1 {
		t.Errorf("%s", m)
	}
	p.say(`{"type":"complete","id":"unknown"}`)
	p.say(`{"type":"complete","id":"1"}`)
	s.until("it is given back", func() bool { return s.fake.open.Load() == 0 })
	p.subscribes("1")
	s.publish("two")
	p.hears("next")
	close(s.fake.feed)
	if m := p.hears("complete"); m.Get("id").String() != "1" {
		t.Errorf("%s", m)
	}
}

// What is refused is told with the operation's id, by the limits of a POST.
func TestASocketTellsErrorsOfAnOperation(t *testing.T) {
	s := serveStreams(t, &fake{feedErr: social.Errorf(social.LimitExceeded, "reload")}, nil)
	p := s.hello("good")
	for query, code := range map[string]string{
		feedQuery:                                 "LIMIT_EXCEEDED",
		"subscription {nothing}":                  "BAD_USER_INPUT",
		"{" + strings.Repeat("viewer{", 20):       "BAD_USER_INPUT",
		"{" + times(31, "a%d: viewer{id} ") + "}": "QUERY_TOO_COMPLEX",
	} {
		p.say(`{"type":"subscribe","id":"x","payload":{"query":` + quoted(query) + `}}`)
		if m := p.hears("error"); m.Get("id").String() != "x" || m.Get("payload.0.extensions.code").String() != code {
			t.Errorf("%.40s: %s, want %s", query, m, code)
		}
	}
}

func TestASocketIsClosedWithTheCodeOfItsReason(t *testing.T) {
	ping := `{"type":"subscribe","id":"1","payload":{"query":"{viewer{id}}"}}`
	for name, c := range map[string]struct {
		init string // empty: acknowledged already
		say  []string
		code int
	}{
		"no JSON":             {"", []string{"{"}, 4400},
		"no type":             {"", []string{"{}"}, 4400},
		"an unknown type":     {"", []string{`{"type":"start"}`}, 4400},
		"no id":               {"", []string{`{"type":"subscribe","payload":{"query":"{viewer{id}}"}}`}, 4400},
		"no query":            {"", []string{`{"type":"subscribe","id":"1","payload":{}}`}, 4400},
		"no payload":          {"", []string{`{"type":"subscribe","id":"1"}`}, 4400},
		"a long id":           {"", []string{`{"type":"subscribe","id":"` + strings.Repeat("x", 300) + `","payload":{"query":"{viewer{id}}"}}`}, 4400},
		"before init":         {ping, nil, 4401},
		"a bad token":         {`{"type":"connection_init","payload":{"authorization":"Bearer bad"}}`, nil, 4403},
		"a token that is odd": {`{"type":"connection_init","payload":{"Authorization":7}}`, nil, 4403},
		"an ended token":      {`{"type":"connection_init","payload":{"Authorization":"Bearer ended"}}`, nil, 4403},
		"a token unjudged":    {`{"type":"connection_init","payload":{"Authorization":"Bearer unjudged"}}`, nil, 1013},
		"a broken store":      {`{"type":"connection_init","payload":{"Authorization":"Bearer broken"}}`, nil, 4500},
		"no init":             {" ", nil, 4408},
		"a second init":       {"", []string{`{"type":"connection_init"}`}, 4429},
		"a large message":     {"", []string{`{"type":"ping","payload":{"a":"` + strings.Repeat("x", maxBody) + `"}}`}, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreams(t, func(p *pace) { p.init = 100 * time.Millisecond })
			var p *peer
			if c.init == "" {
				p = s.hello("good")
			} else {
				p, _ = s.dial(nil, subprotocol)
				if c.init != " " {
					p.say(c.init)
				}
			}
			for _, m := range c.say {
				p.say(m)
			}
			p.closes(c.code)
		})
	}
}

func TestBinaryMessagesAreRefused(t *testing.T) {
	p := newStreams(t, nil).hello("good")
	_ = p.WriteMessage(websocket.BinaryMessage, []byte(`{"type":"ping"}`))
	p.closes(4400)
}

func TestAnIDIsTakenUntilItIsComplete(t *testing.T) {
	s := newStreams(t, nil)
	p := s.hello("good")
	p.subscribes("1")
	p.subscribes("1")
	p.closes(4409)
	s.until("all are given back", func() bool { return s.fake.open.Load() == 0 })
}

func TestASocketHas50Operations(t *testing.T) {
	s := newStreams(t, nil)
	p := s.hello("good")
	for i := range 51 {
		p.subscribes(fmt.Sprint(i))
	}
	if m := p.hears("error"); m.Get("id").String() != "50" || m.Get("payload.0.extensions.code").String() != "LIMIT_EXCEEDED" {
		t.Errorf("%s", m)
	}
	p.say(`{"type":"complete","id":"7"}`)
	s.until("it is given back", func() bool { return s.fake.open.Load() == 49 })
	p.subscribes("50")
	s.until("there is room", func() bool { return s.fake.open.Load() == 50 })
}

func TestOnlyTheProtocolIsSpoken(t *testing.T) {
	s := newStreams(t, nil)
	for _, protocols := range [][]string{nil, {"graphql-ws"}, {"graphql-transport-ws-2"}} {
		if p, _ := s.dial(nil, protocols...); p != nil {
			p.closes(badSubprotocol)
		}
	}
}

// Browsers let any page open a socket to anywhere.
func TestForeignPagesGetNoSocket(t *testing.T) {
	s := newStreams(t, nil)
	if p, r := s.dial(http.Header{"Origin": {"https://elsewhere.example"}}, subprotocol); p != nil || r == nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("%v", r)
	}
	if p, _ := s.dial(http.Header{"Origin": {s.URL}}, subprotocol); p == nil {
		t.Error("the own page gets none either")
	}
}

// The header of the request names a person too; the payload goes first.
func TestTheTokenMayComeInTheHeader(t *testing.T) {
	s := newStreams(t, nil)
	for header, payload := range map[string]string{"Bearer good": `{}`, "Bearer bad": `{"Authorization":"Bearer good"}`} {
		p, _ := s.dial(http.Header{"Authorization": {header}}, subprotocol)
		p.say(`{"type":"connection_init","payload":` + payload + `}`)
		p.hears("connection_ack")
		p.say(`{"type":"subscribe","id":"1","payload":{"query":"{viewer{handle}}"}}`)
		if m := p.hears("next"); m.Get("payload.data.viewer.handle").String() != "viewer" {
			t.Errorf("%s", m)
		}
	}
}

// Whose token ends while they listen is sent away, by either transport.
func TestStreamsEndWithTheirToken(t *testing.T) {
	var ended atomic.Bool
	s := newStreams(t, func(p *pace) { p.check = 10 * time.Millisecond }, func(c *Config) {
		c.Viewer = func(context.Context, string) (social.ID, error) {
			if ended.Load() {
				return 7, social.ErrTokenEnded
			}
			return 7, nil
		}
	})
	p := s.hello("good")
	p.subscribes("1")
	e := s.events(t.Context(), s.asked(http.MethodPost, feedQuery))
	s.until("both listen", func() bool { return s.fake.open.Load() == 2 })
	ended.Store(true)
	p.closes(4403)
	if name, data := e.next(); name != "" {
		t.Errorf("%s %s", name, data)
	}
	s.until("both are gone", func() bool { return s.fake.open.Load() == 0 })
}

// Nor does a socket begin anything more by a token that has ended and was not looked at since.
func TestASocketBeginsNothingByAnEndedToken(t *testing.T) {
	var ended atomic.Bool
	s := newStreams(t, func(p *pace) { p.check = time.Hour }, func(c *Config) {
		c.Viewer = func(context.Context, string) (social.ID, error) {
			if ended.Load() {
				return 7, social.ErrTokenEnded
			}
			return 7, nil
		}
	})
	p := s.hello("good")
	ended.Store(true)
	p.say(`{"type":"subscribe","id":"1","payload":{"query":"{viewer{handle}}"}}`)
	p.closes(4403)
}

// Whoever does not read is dropped, and holds nobody up.
func TestASlowReaderIsDropped(t *testing.T) {
	s := newStreams(t, func(p *pace) { p.patience = 100 * time.Millisecond })
	p := s.hello("good")
	p.subscribes("1")
	s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
	title := strings.Repeat("x", 100_000)
	for s.fake.open.Load() > 0 {
		select {
		case s.fake.feed <- edgeOf(title):
		case <-time.After(time.Millisecond):
		}
	}
	p.closes(1013)
}

// A peer that answers no ping is dead.
func TestAVanishedPeerIsFound(t *testing.T) {
	before := runtime.NumGoroutine()
	s := newStreams(t, func(p *pace) { p.ping, p.silence = 20*time.Millisecond, 200*time.Millisecond })
	p := s.hello("good")
	p.subscribes("1")
	s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
	// It does not read, and so answers no ping, as one whose network is gone.
	s.settles(before + 20)
}

// One that answers every ping is not, however long it says nothing else.
func TestAPeerThatAnswersPingsStays(t *testing.T) {
	s := newStreams(t, func(p *pace) { p.ping, p.silence = 50*time.Millisecond, time.Second })
	p := s.hello("good")
	p.subscribes("1")
	pings, answer := 0, p.PingHandler()
	p.SetPingHandler(func(data string) error {
		if pings++; pings == 25 { // by now the time of silence is over
			s.publish("still here")
		}
		return answer(data)
	})
	p.hears("next")
}

// A server that ends answers what is under way, and sends its sockets elsewhere.
func TestSocketsAreSentElsewhereAtTheEnd(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	s := serveStreams(t, &fake{userErr: func(context.Context) error { close(began); <-goOn; return nil }}, nil)
	idle, p := s.hello("good"), s.hello("good")
	p.subscribes("1")
	p.say(`{"type":"subscribe","id":"2","payload":{"query":` + quoted(userQuery) + `}}`)
	<-began
	closed := make(chan error)
	go func() { closed <- s.server().Close(context.Background()) }()
	idle.closes(1001)
	close(goOn)
	if m := p.hears("next"); m.Get("id").String() != "2" {
		t.Errorf("%s", m)
	}
	p.hears("complete")
	p.closes(1001)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if p, r := s.dial(nil, subprotocol); p != nil || r.StatusCode != http.StatusServiceUnavailable {
		t.Error("it takes more")
	}
}
