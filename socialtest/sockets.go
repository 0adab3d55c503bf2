package socialtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"
)

// socketsEnv tells a test's binary to be the clients.
const socketsEnv = "KITH_TEST_SOCKETS"

// Sockets are clients by WebSocket, each with one subscription to feedItemAdded. They are a
// process of their own, so that what the test's process holds and does is the server's.
type Sockets struct {
	t       testing.TB
	process *exec.Cmd
	in      io.WriteCloser
	arrived chan arrival
}

// arrival is a blog that has come to one of them.
type arrival struct {
	title string
	at    time.Time
}

type socketsPlan struct {
	URL    string
	Tokens []string
}

// OpenSockets connects one client for each token, at a URL that begins with ws. The test's
// TestMain has to call [BeSockets].
func OpenSockets(t testing.TB, url string, tokens []string) *Sockets {
	t.Helper()
	s := &Sockets{t: t, process: exec.CommandContext(t.Context(), os.Args[0]), arrived: make(chan arrival, len(tokens))}
	s.process.Env = append(os.Environ(), socketsEnv+"=1")
	s.process.Stderr = t.Output()
	s.process.SysProcAttr = dieWithParent()
	out, err := s.process.StdoutPipe()
	must(t, err)
	s.in, err = s.process.StdinPipe()
	must(t, err)
	must(t, s.process.Start())
	t.Cleanup(s.Close)
	go func() {
		defer close(s.arrived)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			title, at, _ := strings.Cut(lines.Text(), "\t")
			ns, _ := strconv.ParseInt(at, 10, 64)
			s.arrived <- arrival{title, time.Unix(0, ns)}
		}
	}()
	must(t, json.NewEncoder(s.in).Encode(socketsPlan{url, tokens}))
	return s
}

// Hear waits until a blog of that title has come n times, or patience ends, and gives when.
func (s *Sockets) Hear(title string, n int, patience time.Duration) (at []time.Time) {
	s.t.Helper()
	late := time.After(patience)
	for len(at) < n {
		select {
		case a, more := <-s.arrived:
			if !more {
				s.t.Fatal("the clients have ended")
			}
			if a.title == title {
				at = append(at, a.at)
			}
		case <-late:
			return at
		}
	}
	return at
}

// Close ends all clients and their connections. It may be called again.
func (s *Sockets) Close() {
	_ = s.in.Close()
	for range s.arrived { // until they have ended
	}
	_ = s.process.Wait()
}

// BeSockets is the clients in their process, and does not return there; elsewhere it does
// nothing.
func BeSockets() {
	if os.Getenv(socketsEnv) == "" {
		return
	}
	if err := beSockets(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// beSockets listens until in ends, and writes a line for each blog that comes.
func beSockets(in io.Reader, out io.Writer) error {
	var plan socketsPlan
	if err := json.NewDecoder(in).Decode(&plan); err != nil {
		return err
	}
	arrived := make(chan arrival, len(plan.Tokens))
	go func() {
		for a := range arrived { // its time is taken: nobody waits for the line
			_, _ = fmt.Fprintf(out, "%s\t%d\n", a.title, a.at.UnixNano())
		}
	}()
	tokens := make(chan string)
	var connecting sync.WaitGroup
	for range 16 {
		connecting.Go(func() {
			for token := range tokens {
				c, err := dialFeed(plan.URL, token)
				if err != nil {
					fmt.Fprintln(os.Stderr, "clients:", err)
					os.Exit(1)
				}
				go listen(c, arrived)
			}
		})
	}
	for _, token := range plan.Tokens {
		tokens <- token
	}
	close(tokens)
	connecting.Wait()
	_, err := io.Copy(io.Discard, in)
	return err
}

func dialFeed(url, token string) (*websocket.Conn, error) {
	d := websocket.Dialer{Subprotocols: []string{"graphql-transport-ws"}, ReadBufferSize: 512, WriteBufferSize: 512}
	c, answer, err := d.Dial(url, nil)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close() // it is empty
	for _, m := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"subscription { feedItemAdded { cursor node { id title author { id handle } } } }"}}`,
	} {
		if err := c.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// listen tells of each blog, and answers pings.
func listen(c *websocket.Conn, arrived chan<- arrival) {
	for {
		_, data, err := c.ReadMessage()
		at := time.Now()
		switch kind := gjson.GetBytes(data, "type").String(); {
		case err != nil:
			fmt.Fprintln(os.Stderr, "a client:", err)
			return
		case kind == "next":
			arrived <- arrival{gjson.GetBytes(data, "payload.data.feedItemAdded.node.title").String(), at}
		case kind != "connection_ack":
			fmt.Fprintf(os.Stderr, "a client got %s\n", data)
		}
	}
}
