package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"
)

// bufferingProxy stands before the site as proxies do by default: it gathers 4 KiB before it
// passes anything on, and compresses. A response that says X-Accel-Buffering: no is not
// gathered, one that says Cache-Control: no-transform not compressed; deaf is without these
// words.
func (s *site) bufferingProxy(deaf bool) *site {
	s.t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(to)
	p.ModifyResponse = func(r *http.Response) error {
		if deaf {
			r.Header.Del("X-Accel-Buffering")
			r.Header.Del("Cache-Control")
		}
		if r.Header.Get("X-Accel-Buffering") != "no" {
			r.Body = gathered{r.Body}
		}
		if !strings.Contains(r.Header.Get("Cache-Control"), "no-transform") {
			r.Header.Set("Content-Encoding", "gzip") // which a client sees, whatever the bytes
		}
		return nil
	}
	front := httptest.NewServer(p)
	s.t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	return &site{s.edge, front, s.t}
}

// gathered is read in pieces of 4 KiB, but for the last; of what is broken off, whole pieces
// alone.
type gathered struct{ io.ReadCloser }

func (g gathered) Read(p []byte) (int, error) {
	n, err := io.ReadFull(g.ReadCloser, p[:min(len(p), 4<<10)])
	switch err {
	case nil, io.EOF:
		return n, err
	case io.ErrUnexpectedEOF:
		return n, io.EOF
	}
	return 0, err
}

// SUB-5: through a proxy that gathers and compresses what it passes on, each event comes before
// the next is published; the proxy is told to leave them alone.
func TestEventsPassAProxyThatBuffers(t *testing.T) {
	s := newStreams(t, nil)
	front := s.bufferingProxy(false)
	r := front.asked(http.MethodPost, feedQuery)
	r.Header.Set("Accept-Encoding", "gzip")
	e := front.events(t.Context(), r)
	if coding := e.Header.Get("Content-Encoding"); coding != "" {
		t.Errorf("it comes in %s", coding)
	}
	for _, title := range []string{"one", "two"} {
		s.publish(title)
		if name, data := e.next(); name != "next" || data.Get("data.feedItemAdded.node.title").String() != title {
			t.Fatalf("%s %s", name, data)
		}
	}
}

// So the proxy of the test does hold back what it is not told of.
func TestTheProxyOfTheTestBuffers(t *testing.T) {
	s := newStreams(t, nil)
	front := s.bufferingProxy(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r := front.asked(http.MethodPost, feedQuery).WithContext(ctx)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer good")
	r.Header.Set("Accept-Encoding", "gzip")
	go func() {
		select {
		case s.fake.feed <- edgeOf("one"):
		case <-ctx.Done():
		}
	}()
	got, err := front.Client().Do(r)
	if err != nil {
		return // not even the head comes
	}
	defer got.Body.Close()
	if b, _ := io.ReadAll(got.Body); len(b) > 0 || got.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%q comes, %v", b, got.Header)
	}
}
