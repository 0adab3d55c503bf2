package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"

	"kith/socialtest"
)

// listen is a client of the feed by WebSocket.
func (c caller) listen(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}}
	conn, _, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(url, "http"), http.Header{"Authorization": {"Bearer " + c.token}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, m := range []string{
		`{"type":"connection_init"}`,
		`{"type":"subscribe","id":"1","payload":{"query":"subscription { feedItemAdded { node { title } } }"}}`,
		`{"type":"subscribe","id":"2","payload":{"query":"{ viewer { handle } }"}}`,
	} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// Through two processes, as apps have it: several tabs of one person all get each blog that
// anybody whom they follow publishes, through either server, exactly as its id is; and a
// server that ends sends its sockets elsewhere at once.
func TestEveryTabGetsEveryBlogThroughAnyServer(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	people := callers(t, s, 2)
	var servers []*process
	for range 2 {
		servers = append(servers, startProcess(t, "serve", "--mysql", s.Config.MySQL, "--redis", redisURL(t), "--jwt-secret", testSecret, "--rate-limits", "off"))
	}
	me, author := people[0], people[1]
	if _, err := me.follow(t.Context(), servers[0].url, author); err != nil {
		t.Fatal(err)
	}
	var tabs []*websocket.Conn
	for i := range 4 {
		tabs = append(tabs, me.listen(t, servers[i%2].url))
	}
	told := make([][]string, len(tabs))
	hear := func(i int, until string) {
		for !slices.Contains(told[i], until) {
			_, data, err := tabs[i].ReadMessage()
			if err != nil {
				t.Fatalf("tab %d: %v, after %q", i, err, told[i])
			}
			m := gjson.ParseBytes(data)
			if m.Get("id").String() == "2" { // the query
				told[i] = append(told[i], m.Get("type").String())
			} else if title := m.Get("payload.data.feedItemAdded.node.title"); title.Exists() {
				told[i] = append(told[i], title.String())
			}
		}
	}
	for i := range tabs {
		hear(i, "complete")
	}
	// That the query was answered does not say that the subscription has begun.
	for n := 0; ; n++ {
		title := fmt.Sprint("try ", n)
		if _, err := author.post(t.Context(), servers[n%2].url, fmt.Sprintf(`mutation { publishBlog(input: {title: %q, content: "c"}) { blog { id } } }`, title), nil); err != nil {
			t.Fatal(err)
		}
		if n == 5 {
			for i := range tabs {
				hear(i, title)
			}
			break
		}
	}
	for i := range tabs {
		blogs := slices.DeleteFunc(slices.Clone(told[i]), func(s string) bool { return !strings.HasPrefix(s, "try ") })
		if !slices.Equal(blogs, slices.Sorted(slices.Values(blogs))) || len(slices.Compact(blogs)) != len(blogs) {
			t.Errorf("tab %d got %q", i, blogs)
		}
	}
	servers[0].end(t)
	if _, _, err := tabs[0].ReadMessage(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Errorf("%v, want to be sent elsewhere", err)
	}
	servers[1].end(t)
}
