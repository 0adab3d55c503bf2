package rdb_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/rdb"
	"kith/social"
)

func TestRedisOfEveryKindAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		noError(t, w.a.Ping(t.Context()))
		noError(t, w.a.Close())
		if err := w.a.Ping(t.Context()); !social.HasCode(err, social.Unavailable) {
			t.Errorf("closed: %v", err)
		}
	})
}

func TestOpeningWhatIsNoRedisIsAClearError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	closed := l.Addr().String()
	noError(t, l.Close())
	for url, want := range map[string]string{
		"redis://:secret@" + closed:         closed,
		"rediss://" + closed:                closed,
		"u:secret@" + closed + "," + closed: closed,
		"http://127.0.0.1:1":                "scheme",
		"redis://:secret@host:port:port/":   "not the URL",
		"redis://:secret@ho st":             "not the URL",
		"unix:///tmp/redis":                 "redis://host:port",
		"localhost":                         "redis://host:port",
		"a:1,,b:2":                          "host:port",
		urlOf(t, "KITH_TEST_REDIS") + "/99": "DB index",
		strings.TrimPrefix(urlOf(t, "KITH_TEST_REDIS"), "redis://"): "cluster",
	} {
		err := openAndAsk(t, url)
		if err == nil {
			t.Errorf("%q was opened", url)
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// openAndAsk opens a Redis and waits for an answer of it.
func openAndAsk(t *testing.T, url string) error {
	t.Helper()
	r, err := rdb.Open(rdb.Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { noError(t, r.Close()) }()
	return r.Ping(t.Context())
}

func TestOpeningABlackHoleGivesUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections; nobody answers
	noError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	for _, url := range []string{"redis://" + l.Addr().String(), l.Addr().String() + "," + l.Addr().String()} {
		began := time.Now()
		if err := openAndAsk(t, url); err == nil {
			t.Errorf("%s answered", url)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: gave up after %s", url, took)
		}
	}
}

func TestEmbeddedRedisWantsItsPassword(t *testing.T) {
	t.Parallel()
	r := open(t, "")
	c, ok := r.Client().(*redis.Client)
	if !ok {
		t.Fatalf("got %T", r.Client())
	}
	addr := c.Options().Addr
	if !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Errorf("it listens at %s", addr)
	}
	stranger := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = stranger.Close() })
	if err := stranger.Get(t.Context(), "x").Err(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("a stranger got %v", err)
	}
	noError(t, r.Close())
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("it still listens after Close")
	}
}
