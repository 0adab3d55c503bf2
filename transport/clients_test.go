package transport

import (
	"bufio"
	"os/exec"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
)

// npmClient is a script that subscribes by a client of npm, and the lines it prints.
type npmClient struct {
	t     testing.TB
	lines *bufio.Scanner
}

func (s *site) npm(kind string) *npmClient {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), "../scripts/clients.sh", kind, s.URL+"/graphql")
	c.Stderr = s.t.Output()
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return &npmClient{s.t, bufio.NewScanner(out)}
}

// says asks for the next line, of which a field has to have that value.
func (c *npmClient) says(field, want string) {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatalf("the script ended, want %s %s", field, want)
	}
	if line := gjson.Parse(c.lines.Text()); line.Get(field).String() != want {
		c.t.Fatalf("%s, want %s %s", line, field, want)
	}
}

// The clients that apps use: they get blogs, with ids as they are, come again by themselves
// when the server ends their stream, going on where they were, and are told of the end and of
// errors.
func TestTheClientsOfNPM(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "../scripts/clients.sh").CombinedOutput(); err != nil {
		t.Fatalf("install the clients: %v\n%s", err, out)
	}
	for _, kind := range []string{"ws", "sse"} {
		t.Run(kind, func(t *testing.T) {
			s := newStreams(t, nil)
			c := s.npm(kind)
			s.until("it listens", func() bool { return s.fake.open.Load() == 1 })
			s.publish("one")
			c.says("id", social.GlobalID(social.BlogNode, bigID))
			s.until("its stream is known", func() bool { return len(s.server().streams.each()) == 1 })
			for _, st := range s.server().streams.each() { // as at the end of a server, but that it takes more
				st.drain()
			}
			s.until("it has come again", func() bool {
				s.fake.mu.Lock()
				defer s.fake.mu.Unlock()
				return len(s.fake.since) == 2
			})
			s.publish("two")
			c.says("title", "two")
			s.fake.mu.Lock()
			since := slices.Clone(s.fake.since)
			s.fake.mu.Unlock()
			if want := []string{"", "c-one"}; !slices.Equal(since, want) {
				t.Errorf("since %q, want %q", since, want)
			}
			close(s.fake.feed)
			c.says("end", "complete")

			refusing := serveStreams(t, &fake{feedErr: social.Errorf(social.LimitExceeded, "reload")}, nil)
			refusing.npm(kind).says("code", "LIMIT_EXCEEDED")
		})
	}
}
