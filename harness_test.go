package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

// testSecret signs the tokens of the tests.
const testSecret = "a secret of the tests, 32 bytes and more"

// seal is what the servers of the tests close cursors with.
func seal() *social.Seal {
	s, err := social.NewSeal(testSecret)
	if err != nil {
		panic(err)
	}
	return s
}

// TestMain lets the test binary be the server: processes that tests start, stop and kill
// are this binary with KITH_TEST_MAIN set.
func TestMain(m *testing.M) {
	socialtest.BeSockets()
	if os.Getenv("KITH_TEST_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// world is a wired server over a fresh store, with the clock of the store.
type world struct {
	*server
	*socialtest.Store
	people int
}

// eachWorld runs the test over every kind of store, in parallel.
func eachWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) { test(t, newWorld(t, s)) })
}

func newWorld(t testing.TB, s *socialtest.Store) *world {
	t.Helper()
	return &world{server: wiredServer(t, s, 2), Store: s}
}

// wiredServer is one more server over the store, without rate limits. An embedded store
// takes one alone. It does not work beside its requests: of tokens that have ended it knows
// those of its beginning, and what it ended itself.
func wiredServer(t testing.TB, s *socialtest.Store, node int) *server {
	t.Helper()
	k := wired(t, s, node, func(cfg *settings) { cfg.limits.RateLimits, cfg.endedTrust = "off", time.Hour })
	k.accounts.Revocations.Seen(time.Now())
	if err := k.accounts.Revocations.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k
}

// wired is a server over the store, with settings of the test's own.
func wired(t testing.TB, s *socialtest.Store, node int, set func(*settings)) *server {
	t.Helper()
	cfg := settings{
		store: storeFlags{MySQL: s.Config.MySQL}, secret: testSecret, migrate: false, introspection: true,
		clock: s.Clock.Now, node: socialtest.Node(node), cheapHashes: true, roles: []string{apiRole, workerRole},
	}
	if !s.IsMySQL() {
		cfg.store.Data = filepath.Dir(s.Config.SQLite)
	}
	set(&cfg)
	k, err := newServer(context.Background(), slog.New(slog.NewTextHandler(t.Output(), nil)), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	return k
}

// person is somebody who has signed up, with a client of their own.
type person struct {
	socialtest.Client
	id  social.ID
	gid string
}

// person signs up somebody new.
func (w *world) person(t testing.TB) person {
	t.Helper()
	w.people++
	s, err := w.accounts.SignUp(context.Background(), fmt.Sprintf("u%d_%s", w.people, "test"), fmt.Sprintf("User %d", w.people), "password")
	if err != nil {
		t.Fatal(err)
	}
	return person{
		Client: socialtest.Client{Handler: w.handler, Token: s.Token},
		id:     s.User.ID, gid: s.User.GlobalID(),
	}
}

// persons signs up n people.
func (w *world) persons(t testing.TB, n int) []person {
	t.Helper()
	ps := make([]person, n)
	for i := range ps {
		ps[i] = w.person(t)
	}
	return ps
}

// nobody is a client that is not signed in.
func (w *world) nobody() socialtest.Client { return socialtest.Client{Handler: w.handler} }

// follow makes p follow the other and gives the payload.
func (p person) follow(t testing.TB, other person) gjson.Result {
	t.Helper()
	return p.OK(t, `mutation($u: ID!) { follow(input: {userId: $u}) { state changed user { followerCount viewerIsFollowing } viewer { followingCount } } }`,
		map[string]any{"u": other.gid}).Get("follow")
}

// unfollow ends that p follows the other.
func (p person) unfollow(t testing.TB, other person) gjson.Result {
	t.Helper()
	return p.OK(t, `mutation($u: ID!) { unfollow(input: {userId: $u}) { state changed user { followerCount viewerIsFollowing } viewer { followingCount } } }`,
		map[string]any{"u": other.gid}).Get("unfollow")
}

// publish publishes a blog and gives its global id.
func (p person) publish(t testing.TB, title string) string {
	t.Helper()
	return p.OK(t, `mutation($t: String!) { publishBlog(input: {title: $t, content: "text"}) { blog { id } } }`,
		map[string]any{"t": title}).Get("publishBlog.blog.id").String()
}

// delete deletes a blog.
func (p person) delete(t testing.TB, blog string) {
	t.Helper()
	p.OK(t, `mutation($b: ID!) { deleteBlog(input: {blogId: $b}) { deletedBlogId } }`, map[string]any{"b": blog})
}

// page is one page of a connection.
type page struct {
	titles  []string
	cursors []string
	next    bool
	end     string // empty for null
}

// feed reads a page of p's feed, by first and after ("" for none).
func (p person) feed(t testing.TB, first int, after string) page {
	t.Helper()
	v := map[string]any{"n": first}
	if after != "" {
		v["a"] = after
	}
	f := p.OK(t, `query($n: Int, $a: String) { followFeed(first: $n, after: $a) {
		edges { cursor node { id title author { id handle } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`, v).Get("followFeed")
	pg := page{next: f.Get("pageInfo.hasNextPage").Bool(), end: f.Get("pageInfo.endCursor").String()}
	for _, e := range f.Get("edges").Array() {
		pg.titles = append(pg.titles, e.Get("node.title").String())
		pg.cursors = append(pg.cursors, e.Get("cursor").String())
	}
	return pg
}

// redisURL is the Redis that the tests share.
func redisURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("KITH_TEST_REDIS")
	if url == "" {
		t.Fatal("KITH_TEST_REDIS names no server: run the tests by make test")
	}
	return url
}

// awaitLockWait waits until a transaction of this MySQL waits for a row that another has locked.
// The list of processes may show what is answered already, or about to be, but not for long;
// InnoDB's own list is not renewed while it is asked again and again.
func awaitLockWait(t testing.TB, s *socialtest.Store) {
	t.Helper()
	s.Await(t, `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()
		AND COMMAND = 'Query' AND INFO LIKE '%FOR UPDATE' AND TIME_MS > 300`)
}
