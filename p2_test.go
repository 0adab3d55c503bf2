package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/db"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// actor is a person who writes through one server and at once reads through another. Only
// they change what they look at, so they know exactly what every later read must show.
type actor struct {
	t      testing.TB
	ask    ask
	pick   func() (writer, reader int)
	id     social.ID
	gid    string
	handle string
	// authors are followed by this person alone. Their blogs were there before.
	authors []author
	blogs   []string // own, that are not deleted
	name    string
	n       int // for keys and names

	tally *tally
}

// ask sends a request as one person; an answer of status 0 did not come.
type ask = func(server int, doc string, vars map[string]any) socialtest.Answer

// speak gives the actor, and those around them, their ways to ask.
func (a *actor) speak(as func(handle string) ask) {
	a.ask = as(a.handle)
	for i := range a.authors {
		a.authors[i].ask = as(a.authors[i].handle)
	}
}

// author is somebody to be followed, who asks to follow the actor at times.
type author struct {
	gid      string
	handle   string
	ask      ask
	blogs    []string
	followed bool
	relation
}

// tally counts what all actors have done.
type tally struct {
	mutations, answered, unavailable, cached atomic.Int64 // answered are requests
	// isCached tells whether a read of the person through the server may use caches now.
	isCached func(server int, who social.ID) bool
}

func (n *tally) String() string {
	return fmt.Sprintf("%d mutations answered in %d requests, %d not, %d reads with the caches on",
		n.mutations.Load(), n.answered.Load(), n.unavailable.Load(), n.cached.Load())
}

// writes has every mutation but those of tokens and accounts, and the repetition of each that can be repeated: one
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
	all := []func(){again(follow), a.publish, again(unfollow), a.delete, a.rename}
	if rand.IntN(10) == 0 { // these take as long as all others
		all = append(all, again(a.followTwo), a.relate)
	}
	return all
}

// write sends a mutation, and gives its payload and where to read what it has left.
func (a *actor) write(field, doc string, vars map[string]any) (payload gjson.Result, reader int) {
	data, reader := a.send(a.ask, doc, vars, field)
	a.tally.answered.Add(1)
	a.tally.mutations.Add(1)
	return data.Get(field), reader
}

// send sends mutations until all are answered. Whether one that is UNAVAILABLE has happened
// nobody knows, and each can be repeated.
func (a *actor) send(as ask, doc string, vars map[string]any, fields ...string) (data gjson.Result, reader int) {
	for range 100 {
		writer, reader := a.pick()
		got := as(writer, doc, vars)
		data := got.Data()
		if !slices.ContainsFunc(fields, func(f string) bool { return !data.Get(f).IsObject() }) {
			return data, reader
		}
		if got.Status != 0 && got.Code() != "UNAVAILABLE" {
			a.t.Errorf("%v: %d %s", fields, got.Status, got.Body)
			break
		}
		a.tally.unavailable.Add(1)
	}
	a.t.Errorf("%v was never answered", fields)
	return gjson.Result{}, 0
}

// read holds what the person sees against what they must see.
func (a *actor) read(server int, after, doc string, vars map[string]any, want string) {
	if a.tally.isCached(server, a.id) {
		a.tally.cached.Add(1)
	}
	got := a.ask(server, doc, vars)
	for range 10 {
		if got.Status != 0 { // else it was not answered
			break
		}
		got = a.ask(server, doc, vars)
	}
	// Those who were followed within one millisecond have no order that can be known.
	got = sorted(got, "data.viewer.following.nodes")
	if got.Data().Raw != want || gjson.Get(got.Body, "errors").Exists() {
		a.t.Errorf("%d, after %s, reads through server %d\n     %.1500s\nwant %.1500s", a.id, after, server, got.Body, want)
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
	newestFirst(feed)
	slices.Sort(following)
	var followers []string
	if to {
		followers = []string{a.gid}
	}
	const doc = `query($u: ID!) {
		viewer { followingCount following { totalCount nodes { id } } }
		node(id: $u) { ... on User { viewerIsFollowing followerCount followers { totalCount nodes { id } } } }
		followFeed(first: 40) { nodes { id } } }`
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
	own := slices.Clone(a.blogs)
	newestFirst(own)
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

// newestFirst sorts global ids by what they stand for.
func newestFirst(gids []string) {
	key := func(gid string) social.ID {
		_, id, _ := social.ParseGlobalID("id", gid) // 0 where it is none, which shows
		return id
	}
	slices.SortFunc(gids, func(a, b string) int { return cmp.Compare(key(b), key(a)) })
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

// sorted sorts a list of nodes in an answer.
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

// cast makes actors with three authors each, of 7, 3 and 1 blogs.
func (w *cachedWorld) cast(t testing.TB, n int) []*actor {
	t.Helper()
	actors := newActors(t, w.Store, n)
	count := &tally{isCached: func(server int, who social.ID) bool {
		_, on := w.servers[server].caches.Epoch(rdb.Partition(who))
		return on
	}}
	for _, a := range actors {
		a.tally, a.pick = count, w.twoServers
		a.speak(func(handle string) ask {
			session, err := w.accounts.SessionOf(context.Background(), handle)
			if err != nil {
				t.Fatal(err)
			}
			return func(server int, doc string, vars map[string]any) socialtest.Answer {
				return socialtest.Client{Handler: w.servers[server].handler, Token: session.Token}.Do(t, doc, vars)
			}
		})
	}
	return actors
}

// newActors writes actors, who are private, and their authors into the store at once.
func newActors(t testing.TB, s *socialtest.Store, n int) (actors []*actor) {
	t.Helper()
	ids := social.NewSnowflake(time.Now, socialtest.Node(1))
	insert := func(tx *db.Tx, isPrivate bool) (*social.User, error) {
		id, err := ids.Next(t.Context())
		u := &social.User{ID: id, Handle: fmt.Sprintf("a_%d", id), Name: "Somebody", IsPrivate: isPrivate}
		return u, errors.Join(err, tx.InsertUser(t.Context(), u, "no hash"))
	}
	err := s.OpenServer(t).Transact(t.Context(), func(tx *db.Tx) error {
		actors = nil
		for range n {
			me, err := insert(tx, true)
			if err != nil {
				return err
			}
			a := &actor{t: t, id: me.ID, gid: me.GlobalID(), handle: me.Handle}
			for _, blogs := range []int64{7, 3, 1} {
				u, err := insert(tx, false)
				if err != nil {
					return err
				}
				x := author{gid: u.GlobalID(), handle: u.Handle}
				for range blogs {
					id, err := ids.Next(t.Context())
					b := &social.Blog{ID: id, AuthorID: u.ID, Title: "a blog", Content: "text"}
					if err := errors.Join(err, tx.InsertBlog(t.Context(), b)); err != nil {
						return err
					}
					x.blogs = append(x.blogs, b.GlobalID())
				}
				if err := tx.AddCounts(t.Context(), []db.CountChange{{UserID: u.ID, Blogs: blogs}}); err != nil {
					return err
				}
				a.authors = append(a.authors, x)
			}
			actors = append(actors, a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return actors
}

// twoServers are two that work, not the same where there are two.
func (w *cachedWorld) twoServers() (writer, reader int) {
	n := min(2, len(w.servers))
	writer = rand.IntN(n)
	return writer, (writer + 1) % n
}

// play lets every actor do each mutation so many times, or until done.
func play(actors []*actor, times int, done <-chan struct{}) {
	var all sync.WaitGroup
	for _, a := range actors {
		all.Go(func() {
			for range times {
				for _, write := range a.writes() {
					if closed(done) || a.t.Failed() {
						return
					}
					write()
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
	t.Parallel()
	set := func(_ int, cfg *settings) {
		cfg.clock = nil
		cfg.cache.Trust = 0 // production's: that the state is read late makes no mutation fail
		if cfg.store.MySQL == "" {
			cfg.redis = "" // in process, and given time as in production
		}
	}
	eachCached(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		actors, times := w.cast(t, 25), timesOn(t)
		began := time.Now()
		play(actors, times, nil)
		n := actors[0].tally
		t.Logf("%d times each: %s in %v", len(actors)*times, n, time.Since(began).Round(time.Millisecond))
		// On a busy machine Redis may be late, and the caches go off for a while.
		if n.cached.Load() < n.answered.Load()/2 {
			t.Error("the caches were off most of the time")
		}
	})
}

// timesOn is how often each of 25 people does each mutation: a thousand times in all on the
// stores of production, and enough to see that the others do not differ. SQLite writes to
// the disk each time.
func timesOn(t *testing.T) int {
	switch path.Base(t.Name()) {
	case "mysql_and_redis":
		return 40
	case "mysql_and_cluster":
		return 4
	}
	return 3
}
