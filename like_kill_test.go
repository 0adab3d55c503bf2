package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

// kill -9 of a server, of Redis, of MariaDB and of all of them, while likes come through two
// servers: every like that was answered is there, as its liker sees it, and none is counted
// twice.
func TestAnsweredLikesSurviveKill9OfAnything(t *testing.T) {
	t.Parallel()
	const clients, answers = 32, 400
	s, redis := socialtest.NewMariaDB(t), socialtest.NewRedis(t)
	people := callers(t, s.Store, clients)
	begin := func() *process {
		return startProcess(t, "serve", "--mysql", s.Config.MySQL, "--redis", redis.URL(), "--jwt-secret", testSecret, "--rate-limits", "off")
	}
	servers := []*process{begin(), begin()}
	var urls [2]atomic.Pointer[string]
	for i, p := range servers {
		urls[i].Store(&p.url)
	}
	killServer := func() {
		_ = servers[0].Process.Kill()
		_ = servers[0].Wait()
	}
	beginServer := func() {
		servers[0] = begin()
		urls[0].Store(&servers[0].url)
	}
	for _, round := range []struct {
		what       string
		kill, mend func()
	}{
		{"a server", killServer, beginServer},
		{"Redis", func() { redis.Kill(t) }, func() { redis.Start(t) }},
		{"MariaDB", func() { s.Kill(t) }, func() { s.Start(t) }},
		{"MariaDB once more", func() { s.Kill(t) }, func() { s.Start(t) }},
		{"all", func() { killServer(); redis.Kill(t); s.Kill(t) }, func() { s.Start(t); redis.Start(t); beginServer() }},
	} {
		blogs := make([]string, 30)
		for i := range blogs {
			blogs[i] = people[i].publishAnyhow(t, servers[1].url)
		}
		l := likesUnderWay{blogs: blogs, held: make([]map[string]string, clients)}
		for i, me := range people {
			l.held[i] = map[string]string{}
			l.clients.Go(func() { l.act(t, me, i, &urls) })
		}
		l.reach(t, answers)
		round.kill()
		pause(nil, 300*time.Millisecond) // so that some meet what is dead
		round.mend()
		l.reach(t, l.answered.Load()+answers)
		l.stop.Store(true)
		l.clients.Wait()
		for i, me := range people {
			me.checkHeld(t, round.what, servers[i%2].url, blogs, l.held[i])
		}
		s.CheckInvariants(t)
	}
	for _, p := range servers {
		p.end(t)
	}
}

// likesUnderWay are clients that like and unlike until they are stopped.
type likesUnderWay struct {
	blogs    []string
	held     []map[string]string // by client and blog: what was answered last; "perhaps" for nothing
	answered atomic.Int64
	stop     atomic.Bool
	clients  sync.WaitGroup
}

// act likes three blogs, and unlikes the last of them, again and again.
func (l *likesUnderWay) act(t *testing.T, me caller, i int, urls *[2]atomic.Pointer[string]) {
	for step := 0; !l.stop.Load(); step++ {
		verb, blog := "likeBlog", l.blogs[(i+step)%len(l.blogs)]
		if step%4 == 3 {
			verb, blog = "unlikeBlog", l.blogs[(i+step-1)%len(l.blogs)]
		}
		a, err := me.post(t.Context(), *urls[(i+step/4)%2].Load(),
			`mutation($b: ID!) { `+verb+`(input: {blogId: $b}) { changed } }`, map[string]any{"b": blog})
		if err != nil || !a.Get("data."+verb+".changed").Exists() {
			l.held[i][blog] = "perhaps"
			pause(nil, 10*time.Millisecond)
			continue
		}
		l.held[i][blog] = verb
		l.answered.Add(1)
	}
}

// reach waits for so many answers.
func (l *likesUnderWay) reach(t *testing.T, want int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); l.answered.Load() < want; pause(nil, time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d answers, not %d", l.answered.Load(), want)
		}
	}
}

// publishAnyhow publishes a blog, however often that takes.
func (c caller) publishAnyhow(t *testing.T, url string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); pause(nil, 50*time.Millisecond) {
		a, err := c.post(t.Context(), url, `mutation { publishBlog(input: {title: "t", content: "c"}) { blog { id } } }`, nil)
		if id := a.Get("data.publishBlog.blog.id").String(); err == nil && id != "" {
			return id
		}
	}
	t.Fatal("nothing is published")
	return ""
}

// checkHeld holds what somebody sees against what they were answered.
func (c caller) checkHeld(t *testing.T, what, url string, blogs []string, held map[string]string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; pause(nil, 50*time.Millisecond) {
		a, err := c.post(t.Context(), url, `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Blog { id viewerHasLiked } } }`, map[string]any{"ids": blogs})
		if code := a.Get("errors.0.extensions.code").String(); (err != nil || code == string(social.Unavailable)) && time.Now().Before(deadline) {
			continue
		}
		for i, b := range blogs {
			got := a.Get(fmt.Sprintf("data.nodes.%d.viewerHasLiked", i))
			if verb := held[b]; !got.Exists() || verb == "likeBlog" && !got.Bool() || verb == "unlikeBlog" && got.Bool() || verb == "" && got.Bool() {
				t.Errorf("after the end of %s: %s was answered %q, and sees %s", what, b, verb, a)
				return
			}
		}
		return
	}
}
