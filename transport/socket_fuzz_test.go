package transport

import (
	"context"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"

	"kith/graph"
	"kith/social"
)

// FuzzSocketMessages sends any messages in any order, one in each line: text, or binary after
// a '!', or bytes that are no frame after a '\'. Whatever comes is answered by messages of the
// protocol and ends with one of its codes; nothing panics, and all is given back.
func FuzzSocketMessages(f *testing.F) {
	addSockets(f)
	s := serveStreams(f, &fake{feed: make(chan *graph.BlogEdge)}, func(p *pace) {
		p.ping, p.silence, p.farewell = 20*time.Millisecond, time.Second, 100*time.Millisecond
	}, func(c *Config) {
		c.Viewer = func(_ context.Context, token string) (social.ID, error) {
			if token != "good" {
				return 0, social.ErrTokenEnded
			}
			return 7, nil
		}
	})
	before := runtime.NumGoroutine()
	f.Fuzz(func(t *testing.T, acknowledged bool, script string) {
		if len(script) > 64<<10 {
			t.Skip()
		}
		s := &site{s.edge, s.Server, t}
		var p *peer
		if acknowledged {
			p = s.hello("good")
		} else {
			p, _ = s.dial(nil, subprotocol)
		}
		// Closed so, a port is free again at once.
		defer func() { _ = p.NetConn().(*net.TCPConn).SetLinger(0); _ = p.Close() }()
		go p.sendLines(script)
		p.isAnswered(strings.Contains(script, `\`))
		_ = p.Close()
		s.until("all is given back", func() bool {
			return s.fake.open.Load() == 0 && len(s.server().streams.each()) == 0 && runtime.NumGoroutine() <= before+10
		})
		if log := s.edge.log.String(); strings.Contains(log, "stack=") {
			t.Error(log)
		}
	})
}

func addSockets(f *testing.F) {
	op := func(id, query string) string {
		return `{"type":"subscribe","id":"` + id + `","payload":{"query":` + quoted(query) + `}}`
	}
	init, feed := `{"type":"connection_init","payload":{"Authorization":"Bearer good"}}`, op("1", feedQuery)
	for _, lines := range [][]string{
		{init, feed, `{"type":"complete","id":"1"}`, feed, `{"type":"ping"}`, `{"type":"pong"}`},
		{`{"type":"connection_init"}`, op("2", userQuery), op("3", followMutation), `{"type":"complete","id":"2"}`},
		{init, feed, feed}, {init, init}, {feed}, {`{"type":"connection_init","payload":{"authorization":"Bearer bad"}}`},
		{`{"type":"connection_init","payload":null}`, op("", nameQuery), `{"type":"subscribe","id":"1","payload":{}}`},
		{init, `{"type":"ping","payload":{"a":[1,"\u00e9"]}}`, `{"type":"ping","payload":7}`},
		{init, "!" + feed}, {`\` + "\x81\x00"}, {init, `\` + "\x88\x80\x00\x00\x00\x00"}, {`\` + "\xff\xff"}, {"{", ""}, {"null"}, {"\xff"},
		{init, op("1", "{"), op("1", times(40, "a%d: viewer{id} ")), op("2", "subscription {feedItemAdded{cursor}}")},
	} {
		f.Add(false, strings.Join(lines, "\n"))
		f.Add(true, strings.Join(lines[1:], "\n"))
	}
}

// sendLines sends what a script says, as far as it is taken, and that it is the end.
func (p *peer) sendLines(script string) {
	for line := range strings.SplitSeq(script, "\n") {
		kind, isFrame := websocket.TextMessage, true
		switch {
		case strings.HasPrefix(line, "!"):
			kind, line = websocket.BinaryMessage, line[1:]
		case strings.HasPrefix(line, `\`):
			line, isFrame = line[1:], false
		}
		if isFrame {
			_ = p.WriteMessage(kind, []byte(line))
		} else {
			_, _ = io.WriteString(p.NetConn(), line)
		}
	}
	_ = p.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(patience))
	_ = p.NetConn().(*net.TCPConn).CloseWrite()
}

// isAnswered reads to the end, which may be a bare one after what was no frame.
func (p *peer) isAnswered(mayBeBare bool) {
	p.t.Helper()
	kinds := []string{connectionAck, pongMessage, nextMessage, errorMessage, complete}
	codes := []int{1000, 1002, 1005, 1007, 1009, badRequestCode, unauthorized, forbidden, takenID, tooManyInits}
	for {
		_, data, err := p.ReadMessage()
		if err != nil {
			if !websocket.IsCloseError(err, codes...) && !mayBeBare {
				p.t.Errorf("it ends by %v", err)
			}
			return
		}
		if kind := gjson.GetBytes(data, "type").String(); !gjson.ValidBytes(data) || !slices.Contains(kinds, kind) {
			p.t.Errorf("answered %q", data)
		}
	}
}
