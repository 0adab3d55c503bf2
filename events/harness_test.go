package events_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/db"
	"kith/events"
	"kith/social"
	"kith/socialtest"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// eventually waits for a condition of another goroutine.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); <-tick.C {
		if holds() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

var quiet = slog.New(slog.DiscardHandler)

// start runs a worker until stop, or the end of the test.
func start(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

var userEvent = social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: 1}}

// publishUsers writes an event of each user, each in a transaction of its own.
func publishUsers(t testing.TB, d *db.DB, from, to social.ID) {
	t.Helper()
	for id := from; id <= to; id++ {
		err := d.Transact(context.Background(), func(tx *db.Tx) error {
			return tx.Publish(context.Background(), social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: id}})
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// fill puts n events into lane 0, from its next number, of the user of that number.
func fill(t testing.TB, s *socialtest.Store, n int, at social.Millis) {
	t.Helper()
	from := s.Int(t, "SELECT seq FROM lane WHERE lane = 0")
	var rows []string
	for i := range int64(n) {
		rows = append(rows, fmt.Sprintf(`(0, %d, 'user', '{"user":"%d"}', %d)`, from+i+1, from+i+1, at))
	}
	s.Exec(t, "INSERT INTO outbox (lane, seq, kind, body, created_at) VALUES "+strings.Join(rows, ","))
	s.Exec(t, fmt.Sprintf("UPDATE lane SET seq = %d WHERE lane = 0", from+int64(n)))
}

// seen collects events of users in the order in which they are handed over.
type seen struct {
	mu    sync.Mutex
	all   []events.Event
	gaps  int
	times map[social.ID]int
}

func newSeen() *seen { return &seen{times: map[social.ID]int{}} }

func (s *seen) tail(es []events.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range es {
		s.all = append(s.all, e)
		s.times[e.Body.(social.UserBody).UserID]++
	}
}

func (s *seen) handle(_ context.Context, es []events.Event) error {
	s.tail(es)
	return nil
}

func (s *seen) gap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gaps++
}

// users is of how many users events were seen.
func (s *seen) users() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.times)
}

// inOrder checks that each event was seen once, and each lane's in the order of numbers.
func (s *seen) inOrder(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	equal(t, "events seen twice", len(s.all)-len(s.times), 0)
	last := map[int]int64{}
	for _, e := range s.all {
		if e.Seq <= last[e.Lane] {
			t.Errorf("lane %d: %d after %d", e.Lane, e.Seq, last[e.Lane])
		}
		last[e.Lane] = e.Seq
	}
}

// logged keeps what is logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
