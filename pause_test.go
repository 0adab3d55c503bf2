package main

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kith/account"
	"kith/db"
	"kith/follow"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// P2 holds whatever pauses there are between any two steps of reading and writing caches:
// before and after round trips to Redis, servers stand still at random, for up to two and a
// half times as long as they believe a reading of the state. Meanwhile others read the same
// feeds, and keys are evicted, so that there is always something to be filled. The inboxes
// are smaller than what one author has published.
func TestPausesAnywhereHideNoWrite(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	var paused atomic.Int64
	step := func() {
		if on.Load() && rand.IntN(100) == 0 {
			paused.Add(1)
			time.Sleep(time.Duration(rand.Int64N(int64(5 * testTrust / 2)))) //nolint:forbidigo // the pause under test
		}
	}
	r := socialtest.NewRedis(t)
	w := newCachedWorld(t, socialtest.NewMySQL(t), r, 2, func(_ int, cfg *settings) {
		cfg.clock, cfg.inboxSize, cfg.step = nil, 4, step
	})
	defer w.close()
	actors := w.cast(t, 25)
	on.Store(true)

	done := make(chan struct{})
	time.AfterFunc(15*time.Second, func() { close(done) })
	var beside sync.WaitGroup
	beside.Go(func() {
		for !closed(done) {
			r.DropKeys(t, []string{"inbox:*", "following:*", "count:*", "lease:*", "wrote:*"}[rand.IntN(5)])
			pause(done, 30*time.Millisecond)
		}
	})
	beside.Go(func() {
		for !closed(done) {
			stop := w.freshGuard()
			pause(done, time.Second)
			stop()
		}
	})
	for _, a := range actors {
		beside.Go(func() {
			for !closed(done) {
				a.ask(rand.IntN(2), `{ viewer { followingCount } followFeed(first: 3) { nodes { id } } }`, nil)
				pause(done, time.Duration(rand.IntN(60))*time.Millisecond)
			}
		})
	}
	play(actors, 1_000_000, done)
	beside.Wait()
	t.Logf("%s; %d pauses", actors[0].tally, paused.Load())
	if n := actors[0].tally; paused.Load() == 0 || n.cached.Load() < n.answered.Load()/10 {
		t.Error("there were no pauses, or the caches were hardly ever on")
	}
}

// A server that died between commit and answer has left the caches as they were. Whoever
// repeats the call is told that it changes nothing, and sees it from then on.
func TestARepeatedWriteSettlesWhatADeadServerLeft(t *testing.T) {
	t.Parallel()
	// No worker: it would bring the event to the caches.
	w := newCachedWorld(t, socialtest.NewMySQL(t), socialtest.NewRedis(t), 3, func(i int, cfg *settings) {
		cfg.clock, cfg.roles = nil, []string{apiRole}
		if i == 0 {
			cfg.roles = []string{workerRole}
		}
	})
	defer w.close()
	w.halt(0)
	ctx, d := t.Context(), w.OpenServer(t)
	dead := follow.New(d, time.Now, follow.Config{})
	for _, a := range w.cast(t, 10) {
		a.pick = func() (writer, reader int) { n := rand.IntN(2); return 1 + n, 2 - n }
		target := mustID(t, a.authors[0].gid)
		a.follow(1, true) // and what is read then is in the caches
		a.publish()
		if _, err := dead.Follow(ctx, a.id, target); err != nil {
			t.Fatal(err)
		}
		a.follow(0, true)
		if _, err := dead.Unfollow(ctx, a.id, target); err != nil {
			t.Fatal(err)
		}
		a.follow(0, false)
		blog := mustID(t, a.blogs[0])
		if err := d.Transact(ctx, func(tx *db.Tx) error {
			if err := tx.MarkBlogDeleted(ctx, blog); err != nil {
				return err
			}
			return tx.AddCounts(ctx, []db.CountChange{{UserID: a.id, Blogs: -1}})
		}); err != nil {
			t.Fatal(err)
		}
		a.delete()
	}
}

func mustID(t testing.TB, gid string) social.ID {
	t.Helper()
	_, id, err := social.ParseGlobalID("id", gid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A reading of the state that was long under way is as old as its question: when another
// server, which Redis cuts off, answers because nobody can believe the caches any more, this
// one does not, though it has heard just now that they are on.
func TestAReadingOfTheStateIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	const trust = 1500 * time.Millisecond
	s, r := socialtest.NewMySQL(t), socialtest.NewRedis(t)
	link, sql := socialtest.NewProxy(t, r.Addr()), newHeldSQL(t, s)
	w := newCachedWorld(t, s, r, 3, func(i int, cfg *settings) {
		cfg.clock, cfg.cache.Trust, cfg.roles = nil, trust, []string{apiRole}
		switch i {
		case 0:
			cfg.roles = []string{workerRole}
		case 1:
			cfg.redis = "redis://" + link.Addr()
		case 2:
			cfg.store.MySQL = sql.dsn
		}
	})
	defer w.close()
	w.halt(0)
	a := w.cast(t, 1)[0]
	a.pick = func() (writer, reader int) { return 1, 2 }
	a.follow(1, true)
	if a.tally.cached.Load() != 1 {
		t.Fatal("the reader does not believe the caches")
	}

	first := sql.hold("FROM cache_state")
	<-first.held // SQL has told that they are on
	link.Cut()
	time.AfterFunc(trust*3/4, func() {
		sql.hold("FROM cache_state") // what SQL tells from now on comes too late
		first.release()
	})
	a.follow(0, true)
	sql.mend()
}

// What a server keeps in process is as old as the question for it: an answer that was long
// under way is not what a person reads who wrote in the meantime, though it was asked for a
// moment ago.
func TestWhatIsKeptInProcessIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	s := socialtest.NewMySQL(t)
	sql := newHeldSQL(t, s)
	w := newCachedWorld(t, s, socialtest.NewRedis(t), 2, func(i int, cfg *settings) {
		cfg.clock, cfg.cache.Trust = nil, 0
		if i == 1 {
			cfg.store.MySQL = sql.dsn
		}
	})
	defer w.close()
	a := w.cast(t, 1)[0]
	a.pick = func() (writer, reader int) { return 0, 1 }
	sql.hold("FROM lane ") // no event tells this server that the person has changed
	load := sql.hold("FROM user WHERE id IN (" + a.id.String())
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		socialtest.Client{Handler: w.servers[1].handler}.Do(t, `query($id: ID!) { node(id: $id) { ... on User { name } } }`, map[string]any{"id": a.gid})
	}()
	<-load.held
	a.name = "New"
	a.write("updateProfile", `mutation { updateProfile(input: {name: "New"}) { userId } }`, nil)
	w.awaitCalm(t, a.id)
	load.release()
	<-loaded
	a.read(1, "updateProfile", `{ viewer { name } }`, nil, `{"viewer":{"name":"New"}}`)
	sql.mend()
}

// awaitCalm waits until the person has not written for so long that servers answer them by
// what they keep in process.
func (w *cachedWorld) awaitCalm(t testing.TB, who social.ID) {
	t.Helper()
	s := w.servers[0]
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); pause(nil, time.Millisecond) {
		epoch, _ := s.caches.Epoch(rdb.Partition(who))
		wrote := rdb.NewWrote(who)
		s.redis.Run(t.Context(), func(int) int64 { return epoch }, wrote.Call)
		if wrote.Since() >= 12*time.Second {
			return
		}
	}
	t.Fatal("the person never is calm")
}

// P2 holds when whole processes stand still: each of two servers is stopped for 5 s in the
// midst of its work, and on waking believes nothing that it knew.
func TestAStoppedServerHidesNoWrite(t *testing.T) {
	t.Parallel()
	s, r := socialtest.NewMySQL(t), socialtest.NewRedis(t)
	var servers []*process
	for range 2 {
		servers = append(servers, startProcess(t, "serve", "--mysql", s.Config.MySQL, "--redis", r.URL(),
			"--jwt-secret", testSecret, "--rate-limits", "off", "--inbox-size", "4"))
	}
	s.Await(t, "SELECT COUNT(*) = 0 FROM cache_state WHERE is_on = 0")
	actors := newActors(t, s, 20)
	accounts, err := account.New(s.OpenServer(t), s.IDs, time.Now, account.Config{Secret: testSecret, CheapHashes: true})
	if err != nil {
		t.Fatal(err)
	}
	count := &tally{isCached: func(int, social.ID) bool { return false }}
	as := func(handle string) ask {
		session, err := accounts.SessionOf(t.Context(), handle)
		if err != nil {
			t.Fatal(err)
		}
		me := caller{token: session.Token}
		return func(server int, doc string, vars map[string]any) socialtest.Answer {
			got, err := me.post(t.Context(), servers[server].url, doc, vars)
			if err != nil { // one who was stopped may have cut off who waited
				return socialtest.Answer{}
			}
			return socialtest.Answer{Status: 200, Body: got.Raw}
		}
	}
	for _, a := range actors {
		a.tally, a.pick = count, func() (writer, reader int) { w := rand.IntN(2); return w, 1 - w }
		a.speak(as)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			pause(nil, time.Second+time.Duration(rand.IntN(2000))*time.Millisecond)
			p := servers[rand.IntN(2)]
			p.freeze(t)
			pause(nil, 5*time.Second)
			if err := p.Process.Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}
		pause(nil, time.Second)
	}()
	play(actors, 1_000_000, done)
	<-done
	t.Log(count)
}
