package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/cache"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// actor is a person who writes through one server and at once reads through another. Only
// they change what they look at, so they know exactly what every later read must show.
type actor struct {
	t    testing.TB
	ask  func(server int, doc string, vars map[string]any) socialtest.Answer
	pick func() (writer, reader int)
	id   social.ID
	gid  string
	// authors are followed by this person alone. Their blogs were there before.
	authors []author
	blogs   []string // own, that are not deleted
	name    string
	n       int // for keys and names

	tally *tally
}

// author is somebody to be followed.
type author struct {
	gid      string
	blogs    []string
	followed bool
}

// tally counts what all actors have done.
type tally struct {
	answered, unavailable, cached atomic.Int64
	// isCached tells whether a read of the person through the server may use caches now.
	isCached func(server int, who social.ID) bool
}

// writes has every mutation there is, and the repetition of each that can be repeated: one
// that changes nothing must show as well, since who made the change may not have lived to
// bring it to the caches.
func (a *actor) writes() []func() {
	who := rand.IntN(len(a.authors))
	follow := func() { a.follow(who, true) }
	unfollow := func() { a.follow(who, false) }
	again := func(do func()) func() {
		return func() {
			if do(); rand.IntN(4) == 0 {
				do()
			}
		}
	}
	return []func(){again(follow), a.publish, again(unfollow), a.delete, a.rename}
}

// write sends a mutation until it is answered. Whether one that is UNAVAILABLE has happened
// nobody knows, and each can be repeated.
func (a *actor) write(field, doc string, vars map[string]any) (payload gjson.Result, reader int) {
	for range 100 {
		writer, reader := a.pick()
		got := a.ask(writer, doc, vars)
		if payload := got.Data().Get(field); payload.IsObject() {
			a.tally.answered.Add(1)
			return payload, reader
		}
		if got.Code() != "UNAVAILABLE" {
			a.t.Errorf("%s: %d %s", field, got.Status, got.Body)
			break
		}
		a.tally.unavailable.Add(1)
	}
	a.t.Errorf("%s was never answered", field)
	return gjson.Result{}, 0
}

// read holds what the person sees against what they must see.
func (a *actor) read(server int, after, doc string, vars map[string]any, want string) {
	if a.tally.isCached(server, a.id) {
		a.tally.cached.Add(1)
	}
	got := a.ask(server, doc, vars)
	if got.Data().Raw != want || gjson.Get(got.Body, "errors").Exists() {
		a.t.Errorf("%d, after %s, reads through server %d\n     %s\nwant %s", a.id, after, server, got.Body, want)
	}
}

func (a *actor) follow(who int, to bool) {
	field := "unfollow"
	if to {
		field = "follow"
	}
	of := &a.authors[who]
	_, reader := a.write(field, `mutation($u: ID!) { `+field+`(input: {userId: $u}) { changed } }`, map[string]any{"u": of.gid})
	of.followed = to

	var feed, following []string
	for _, x := range a.authors {
		if x.followed {
			feed, following = append(feed, x.blogs...), append(following, x.gid)
		}
	}
	slices.Sort(feed)
	slices.Reverse(feed) // of one length and type: as the ids are
	slices.Sort(following)
	var followers []string
	if to {
		followers = []string{a.gid}
	}
	const doc = `query($u: ID!) {
		viewer { followingCount following { totalCount nodes { id } } }
		node(id: $u) { ... on User { viewerIsFollowing followerCount followers { totalCount nodes { id } } } }
		followFeed(first: 40) { nodes { id } } }`
	got := a.ask
	a.ask = func(server int, doc string, vars map[string]any) socialtest.Answer {
		return sorted(got(server, doc, vars), "data.viewer.following.nodes")
	}
	defer func() { a.ask = got }()
	a.read(reader, field, doc, map[string]any{"u": of.gid}, fmt.Sprintf(
		`{"viewer":{"followingCount":%d,"following":{"totalCount":%[1]d,"nodes":%s}},"node":{"viewerIsFollowing":%t,"followerCount":%d,"followers":{"totalCount":%[4]d,"nodes":%s}},"followFeed":{"nodes":%s}}`,
		len(following), nodes(following), to, len(followers), nodes(followers), nodes(feed)))
}

func (a *actor) publish() {
	a.n++
	vars := map[string]any{"t": "a blog", "k": fmt.Sprint(a.n)}
	const doc = `mutation($t: String!, $k: String!) { publishBlog(input: {title: $t, content: "text", idempotencyKey: $k}) { blog { id } } }`
	payload, reader := a.write("publishBlog", doc, vars)
	blog := payload.Get("blog.id").String()
	a.blogs = append(a.blogs, blog)
	a.readBlogs(reader, "publishBlog", blog, fmt.Sprintf(`{"id":%q,"title":"a blog"}`, blog))
	if rand.IntN(4) == 0 {
		_, reader := a.write("publishBlog", doc, vars)
		a.readBlogs(reader, "publishBlog once more", blog, fmt.Sprintf(`{"id":%q,"title":"a blog"}`, blog))
	}
}

func (a *actor) delete() {
	if len(a.blogs) == 0 {
		return
	}
	blog := a.blogs[0]
	a.blogs = a.blogs[1:]
	for range 1 + rand.IntN(5)/4 {
		_, reader := a.write("deleteBlog", `mutation($b: ID!) { deleteBlog(input: {blogId: $b}) { deletedBlogId } }`, map[string]any{"b": blog})
		a.readBlogs(reader, "deleteBlog", blog, "null")
	}
}

func (a *actor) readBlogs(server int, after, blog, shown string) {
	kind := `null`
	if shown != "null" {
		kind = fmt.Sprintf(`{"id":%q}`, blog)
	}
	own := slices.Sorted(slices.Values(a.blogs))
	slices.Reverse(own)
	a.read(server, after, `query($b: ID!) { viewer { blogCount blogs { nodes { id } } } blog(id: $b) { id title } node(id: $b) { id } }`,
		map[string]any{"b": blog}, fmt.Sprintf(`{"viewer":{"blogCount":%d,"blogs":{"nodes":%s}},"blog":%s,"node":%s}`,
			len(own), nodes(own), shown, kind))
}

func (a *actor) rename() {
	a.n++
	a.name = fmt.Sprint("Name ", a.n)
	_, reader := a.write("updateProfile", `mutation($n: String!) { updateProfile(input: {name: $n}) { userId } }`, map[string]any{"n": a.name})
	a.read(reader, "updateProfile", `query($me: ID!) { viewer { name } node(id: $me) { ... on User { name } } }`,
		map[string]any{"me": a.gid}, fmt.Sprintf(`{"viewer":{"name":%q},"node":{"name":%[1]q}}`, a.name))
}

// nodes is a list of nodes as the server writes it.
func nodes(ids []string) string {
	text := "["
	for i, id := range ids {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"id":%q}`, id)
	}
	return text + "]"
}

// sorted sorts a list of nodes in an answer: those who were followed within one millisecond
// have no order that the reader could know.
func sorted(a socialtest.Answer, path string) socialtest.Answer {
	var ids []string
	list := gjson.Get(a.Body, path)
	for _, n := range list.Array() {
		ids = append(ids, n.Get("id").String())
	}
	if list.Exists() {
		slices.Sort(ids)
		a.Body = a.Body[:list.Index] + nodes(ids) + a.Body[list.Index+len(list.Raw):]
	}
	return a
}

// cast signs up actors with three authors each, of 7, 3 and 1 blogs. The clock of the
// servers is the true one.
func (w *cachedWorld) cast(t testing.TB, n int) []*actor {
	t.Helper()
	count := &tally{isCached: func(server int, who social.ID) bool {
		_, on := w.servers[server].caches.Epoch(rdb.Partition(who))
		return on
	}}
	actors := make([]*actor, n)
	var all sync.WaitGroup
	for i := range actors {
		p := w.person(t)
		a := &actor{t: t, id: p.id, gid: p.gid, tally: count, pick: w.twoServers}
		a.ask = func(server int, doc string, vars map[string]any) socialtest.Answer {
			return socialtest.Client{Handler: w.servers[server].handler, Token: p.Token}.Do(t, doc, vars)
		}
		for _, blogs := range []int{7, 3, 1} {
			p := w.person(t)
			x := author{gid: p.gid}
			for range blogs {
				x.blogs = append(x.blogs, p.publish(t, "a blog"))
			}
			a.authors = append(a.authors, x)
		}
		actors[i] = a
	}
	all.Wait()
	w.drained(t)
	return actors
}

// twoServers are two that work, not the same where there are two.
func (w *cachedWorld) twoServers() (writer, reader int) {
	n := min(2, len(w.servers))
	writer = rand.IntN(n)
	return writer, (writer + 1) % n
}

// play lets every actor do each mutation so many times.
func play(actors []*actor, times int) {
	var all sync.WaitGroup
	for _, a := range actors {
		all.Go(func() {
			for range times {
				for _, write := range a.writes() {
					if write(); a.t.Failed() {
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// trueTime lets servers go by the true clock: ids need one that goes on.
func trueTime(_ int, cfg *settings) { cfg.clock = nil }

// P2: what a mutation has answered, the same person reads at once through another server.
func TestAPersonReadsTheirWritesThroughAnotherServer(t *testing.T) {
	eachCached(t, 2, trueTime, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		const people, times = 20, 50
		actors := w.cast(t, people)
		began := time.Now()
		play(actors, times)
		n := actors[0].tally
		t.Logf("%d times each: %d mutations answered, %d not, %d reads with the caches on, in %v",
			people*times, n.answered.Load(), n.unavailable.Load(), n.cached.Load(), time.Since(began).Round(time.Millisecond))
		if n.unavailable.Load() > 0 || n.cached.Load() < n.answered.Load()*9/10 {
			t.Error("the caches were not on all the time")
		}
	})
}

// P2, while Redis is killed and started, emptied, frozen and thawed, or some servers are cut
// off from it and others are not. The caches come back each time before the next fault.
func TestAPersonReadsTheirWritesWhileRedisFails(t *testing.T) {
	links := make([]*socialtest.Proxy, 2)
	for name, open := range map[string]func(t *testing.T) (*cachedWorld, []fault){
		"mysql and redis": func(t *testing.T) (*cachedWorld, []fault) {
			r := socialtest.NewRedis(t)
			for i := range links {
				links[i] = socialtest.NewProxy(t, r.Addr())
			}
			w := newCachedWorld(t, socialtest.NewMySQL(t), r, 2, func(i int, cfg *settings) {
				cfg.clock, cfg.redis = nil, "redis://"+links[i].Addr()
			})
			faults := append(redisFaults(t, r), linkFaults(t, links)...)
			return w, faults
		},
		"mysql and cluster": func(t *testing.T) (*cachedWorld, []fault) {
			r := socialtest.NewRedisCluster(t)
			faults := redisFaults(t, r)[2:] // of all nodes: to start takes seconds
			for _, n := range r.Nodes() {
				faults = append(faults, fault{"freeze a node", func() { n.Freeze(t) }, func() { n.Thaw(t) }})
			}
			return newCachedWorld(t, socialtest.NewMySQL(t), r, 2, trueTime), faults
		},
		"embedded": func(t *testing.T) (*cachedWorld, []fault) {
			r := newEmbedded(t)
			return newCachedWorld(t, socialtest.NewSQLite(t), r, 1, trueTime), []fault{
				{"kill", func() { r.Kill(t) }, func() { r.Start(t) }}, {"flush", func() { r.Flush(t) }, func() {}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, faults := open(t)
			defer w.close()
			const people, times = 50, 20
			actors := w.cast(t, people)
			began := time.Now()
			done := make(chan struct{})
			go func() { defer close(done); play(actors, times) }()
			happened := w.breakAgain(t, done, faults)
			<-done
			n := actors[0].tally
			t.Logf("%d times each: %d mutations answered, %d not, %d reads with the caches on, in %v; %v", people*times,
				n.answered.Load(), n.unavailable.Load(), n.cached.Load(), time.Since(began).Round(time.Millisecond), happened)
			if n.cached.Load() < n.answered.Load()/10 || len(happened) == 0 {
				t.Error("the caches were hardly ever on, or nothing failed")
			}
		})
	}
}

// fault is something that happens to Redis, and its end.
type fault struct {
	name      string
	do, after func()
}

func redisFaults(t testing.TB, r *socialtest.Redis) []fault {
	return []fault{
		{"kill", func() { r.Kill(t) }, func() { r.Start(t) }},
		{"kill, started at once", func() { r.Kill(t); r.Start(t) }, func() {}},
		{"flush", func() { r.Flush(t) }, func() {}},
		{"freeze", func() { r.Freeze(t) }, func() { r.Thaw(t) }},
	}
}

// linkFaults are of one server alone: the other still reads what the first cannot change.
func linkFaults(t testing.TB, links []*socialtest.Proxy) (faults []fault) {
	for i, l := range links {
		mend := func() { l.Mend(t) }
		faults = append(faults, fault{fmt.Sprint("cut off ", i), l.Cut, mend},
			fault{fmt.Sprint("black hole of ", i), l.BlackHole, mend}, fault{fmt.Sprint("answers lost to ", i), l.LoseAnswers, mend})
	}
	return faults
}

// breakAgain does one fault after the other until done, each once the caches are on again,
// and tells how often each happened.
func (w *cachedWorld) breakAgain(t testing.TB, done <-chan struct{}, faults []fault) map[string]int {
	happened := map[string]int{}
	for !closed(done) {
		f := faults[rand.IntN(len(faults))]
		stop := w.freshGuard()
		if w.onAgain(t, done) && !closed(done) {
			pause(done, time.Duration(rand.IntN(400))*time.Millisecond)
			f.do()
			pause(done, time.Duration(rand.IntN(800))*time.Millisecond)
			f.after()
			happened[f.name]++
		}
		stop()
	}
	return happened
}

// freshGuard watches beside the servers' own, which grow patient with caches that fail
// again and again.
func (w *cachedWorld) freshGuard() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cache.NewGuard(w.servers[rand.IntN(len(w.servers))].caches.State).Run(ctx)
	}()
	return func() { cancel(); <-ended }
}

// onAgain waits until every server knows that all caches are on, or done.
func (w *cachedWorld) onAgain(t testing.TB, done <-chan struct{}) bool {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); pause(done, time.Millisecond) {
		if closed(done) || w.allOn() {
			return true
		}
	}
	t.Error("the caches do not come back")
	return false
}

func (w *cachedWorld) allOn() bool {
	for _, s := range w.servers {
		for part := range rdb.Parts {
			if _, on := s.caches.Epoch(part); !on {
				return false
			}
		}
	}
	return true
}

// pause lets the time pass that a fault lasts.
func pause(done <-chan struct{}, d time.Duration) {
	select {
	case <-done:
	case <-time.After(d):
	}
}
