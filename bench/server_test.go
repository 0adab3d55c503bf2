package bench

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"kith/account"
	"kith/cache"
	"kith/db"
	"kith/events"
	"kith/feed"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// server is what a server has below GraphQL, at work: its feed over caches that are on.
type server struct {
	db       *db.DB
	redis    *rdb.Redis
	caches   *cache.Caches
	feed     *feed.Feed
	live     *feed.Live
	accounts *account.Accounts
}

// newServer starts a server over the store and a Redis; it ends with the benchmark. node
// numbers servers, from 2.
func newServer(b *testing.B, s *socialtest.Store, r *socialtest.Redis, node int) *server {
	b.Helper()
	d := s.OpenServer(b)
	redis, err := rdb.Open(rdb.Config{URL: r.URL()})
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	caches := cache.New(d, redis, log, cache.Config{})
	ids := social.NewSnowflake(time.Now, socialtest.Node(node))
	accounts, err := account.New(d, ids, time.Now, account.Config{Secret: "a secret of the benchmarks, 32 bytes and more"})
	if err != nil {
		b.Fatal(err)
	}
	f := feed.New(d, caches, ids, time.Now, feed.Config{})
	k := &server{d, redis, caches, f, feed.NewLive(f, log), accounts}
	bell := events.NewBell(redis)
	d.OnEvents(bell.Ring)
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for _, run := range []func(context.Context) error{
		caches.State.Run, bell.Run, cache.NewGuard(caches.State).Run,
		k.tail(bell, log).Run, k.live.Run,
		func(ctx context.Context) error { return accounts.Revocations.Run(ctx, log) },
		func(ctx context.Context) error { return k.feed.Stars.Run(ctx, log) },
		events.NewConsumer(d, bell, log, feed.Consumer, k.feed.Consume).Run,
	} {
		work.Go(func() { _ = run(ctx) })
	}
	b.Cleanup(func() {
		stop()
		work.Wait()
		_ = redis.Close()
	})
	k.awaitOn(b)
	return k
}

// tail tells of events, as that of a server does.
func (k *server) tail(bell *events.Bell, log *slog.Logger) *events.Tail {
	ended := k.accounts.Revocations
	heard := func(evs []events.Event) {
		for _, e := range evs {
			k.caches.Heard(e.Body)
			ended.Heard(e.Body)
			k.feed.Stars.Heard(e.Body)
		}
		k.live.Heard(evs)
	}
	missed := func() {
		k.caches.Clear()
		ended.Missed()
		k.feed.Stars.Missed()
		k.live.Missed()
	}
	t := events.NewTail(k.db, bell, log, heard, missed)
	t.OnSeen(func(at time.Time) {
		ended.Seen(at)
		k.feed.Stars.Seen(at)
		k.live.Seen(at)
	})
	return t
}

// awaitOn waits until the server believes all caches.
func (k *server) awaitOn(b *testing.B) {
	b.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		on := 0
		for part := range rdb.Parts {
			if _, is := k.caches.Epoch(part); is {
				on++
			}
		}
		if on == rdb.Parts {
			return
		}
	}
	b.Fatal("the caches do not come on")
}

// awaitCalm waits until a person has written so long ago that servers read what they keep
// in process for them.
func (k *server) awaitCalm(b *testing.B, who social.ID) {
	b.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	epoch := func(part int) int64 { e, _ := k.caches.Epoch(part); return e }
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-tick.C {
		wrote := rdb.NewWrote(who)
		k.redis.Run(b.Context(), epoch, wrote.Call)
		if wrote.Call.Err() == nil && wrote.Since() > 12*time.Second {
			return
		}
	}
	b.Fatal("the reader does not come to rest")
}

// home reads a page of 20 as one request of the reader does.
func (k *server) home(b *testing.B, reader social.ID, from social.Cursor) social.Part[feed.Entry] {
	b.Helper()
	ctx := cache.With(social.WithViewer(b.Context(), reader))
	part, err := k.feed.Home(ctx, reader, social.Page{Limit: 20, From: from})
	if err != nil {
		b.Fatal(err)
	}
	return part
}

// insert writes rows, some at a time, by the shortest way.
func insert(b *testing.B, s *socialtest.Store, into string, rows []string) {
	b.Helper()
	for len(rows) > 0 {
		n := min(len(rows), 2000)
		s.Exec(b, "INSERT INTO "+into+" VALUES "+strings.Join(rows[:n], ","))
		rows = rows[n:]
	}
}
