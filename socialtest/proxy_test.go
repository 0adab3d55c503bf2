package socialtest_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"kith/socialtest"
)

// echo is a server that answers each line with itself.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				b := make([]byte, 100)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					_, _ = c.Write(b[:n])
				}
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *socialtest.Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// What becomes of a request.
const answered, hangs, ended = "answered", "hangs", "ended"

func request(t *testing.T, c net.Conn, patience time.Duration) string {
	t.Helper()
	if _, err := c.Write([]byte("hello\n")); err != nil {
		return ended
	}
	line, err := readLine(c, patience)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return hangs
	case err != nil:
		return ended
	case line != "hello\n":
		t.Errorf("answered %q", line)
	}
	return answered
}

func becomes(t *testing.T, c net.Conn, want string) {
	t.Helper()
	patience := 30 * time.Second
	if want == hangs {
		patience = 50 * time.Millisecond
	}
	if got := request(t, c, patience); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCutProxyRefusesUntilItIsMended(t *testing.T) {
	t.Parallel()
	p := socialtest.NewProxy(t, echo(t))
	for range 3 {
		c := dial(t, p)
		becomes(t, c, answered)
		p.Cut()
		becomes(t, c, ended)
		if c, err := net.Dial("tcp", p.Addr()); err == nil {
			_ = c.Close()
			t.Error("it takes connections")
		}
		p.Mend(t)
	}
	c := dial(t, p)
	becomes(t, c, answered)
	p.Drop()
	becomes(t, c, ended)
	becomes(t, dial(t, p), answered)
}

func TestBlackHoleHangsAndForgets(t *testing.T) {
	t.Parallel()
	p := socialtest.NewProxy(t, echo(t))
	c := dial(t, p)
	becomes(t, c, answered)
	p.BlackHole()
	becomes(t, c, hangs)
	becomes(t, c, hangs)
	other := dial(t, p)
	becomes(t, other, hangs)
	p.Mend(t)
	becomes(t, c, ended)
	becomes(t, other, ended)
	becomes(t, dial(t, p), answered)
}

func TestLostAnswersEndTheirConnections(t *testing.T) {
	t.Parallel()
	p := socialtest.NewProxy(t, echo(t))
	c := dial(t, p)
	becomes(t, c, answered)
	p.LoseAnswers()
	becomes(t, c, ended)
	becomes(t, dial(t, p), ended)
	p.Mend(t)
	becomes(t, dial(t, p), answered)
}
