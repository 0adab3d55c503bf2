package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/like"
	"kith/rdb"
	"kith/social"
)

// likeOperations is how many random operations there are, 3,000 in all: each is followed by
// reading all likes of who acted.
func likeOperations(t *testing.T) int {
	switch path.Base(t.Name()) {
	case "mysql_and_redis":
		return 1000
	case "mysql_and_cluster":
		return 500
	}
	return 1500
}

// The model test of likes: people like and unlike, several at once and some of them twice,
// through servers that share their stores, one of them with its caches off, while keys are
// dropped, the newest likes without the filter of the others and the other way round, Redis is
// stopped, started and emptied, workers stop and events come again, servers die between commit
// and caches, blogs appear and are deleted; most of it in few milliseconds, with caches of two
// to five likes. Whoever acted last reads all at once, through any server, and it equals a
// plain map: what they like, the counts of all blogs, who likes one, what they like in order.
func TestLikesEqualTheOracle(t *testing.T) {
	rapidly(t)
	t.Parallel()
	kept := []int{3, 5, 2}
	set := func(i int, cfg *settings) { cfg.likesKept = kept[i] }
	eachCached(t, 3, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		if len(w.servers) > 1 {
			w.halt(2) // all its reads pass the caches by
		}
		operations := 0
		people := w.persons(t, 4)
		check := func(r *rapid.T) {
			if operations >= likeOperations(t) {
				return
			}
			m := &likesModel{stage: stage{t: t, world: w}, people: people, likes: map[social.Pair]social.Millis{}}
			for _, p := range people {
				m.ids = append(m.ids, p.id)
			}
			m.forget(r)
			w.Clock.Advance(time.Millisecond)
			for range 5 {
				m.publish(r)
			}
			actions := map[string]func(*rapid.T){
				"": m.look, "act": m.act, "act again": m.act, "act once more": m.act, "act dying": m.actDying,
				"publish": m.publish, "delete": m.delete, "clock": m.tick, "fault": m.fault, "drop likes": m.dropLikes,
			}
			for name, act := range actions {
				if name != "" {
					actions[name] = func(r *rapid.T) { act(r); operations++ } // but for one that is skipped
				}
			}
			r.Repeat(actions)
			m.mend()
			m.checkRows(r)
		}
		for operations < likeOperations(t) && !t.Failed() {
			rapid.Check(t, check)
		}
		t.Logf("%d operations", operations)
	})
}

// likesModel is the oracle: who likes what, since when.
type likesModel struct {
	stage
	people []person
	blogs  []social.ID // that are published
	gone   []social.ID // that are deleted
	likes  map[social.Pair]social.Millis
	last   int // who acted last
}

func (m *likesModel) publish(r *rapid.T) {
	if len(m.blogs) == 12 {
		r.Skip("enough blogs")
	}
	author := rapid.SampledFrom(m.people).Draw(r, "author")
	_, id, err := social.ParseGlobalID("", author.publish(m.t, "a blog"))
	if err != nil {
		r.Fatal(err)
	}
	m.blogs = append(m.blogs, id)
}

func (m *likesModel) delete(r *rapid.T) {
	if len(m.blogs) < 3 || rapid.Bool().Draw(r, "rarely") {
		r.Skip("few blogs")
	}
	i := rapid.IntRange(0, len(m.blogs)-1).Draw(r, "blog")
	var author social.ID
	if err := m.world.SQL.Get(&author, "SELECT author_id FROM blog WHERE id = ?", m.blogs[i]); err != nil {
		r.Fatal(err)
	}
	if err := m.server(r).feed.Delete(context.Background(), author, m.blogs[i]); err != nil {
		r.Fatal(err)
	}
	m.gone = append(m.gone, m.blogs[i])
	m.blogs = slices.Delete(m.blogs, i, i+1)
}

func (m *likesModel) tick(r *rapid.T) {
	steps := []time.Duration{time.Millisecond, time.Millisecond, time.Second, time.Hour}
	m.world.Clock.Advance(rapid.SampledFrom(steps).Draw(r, "step"))
}

// dropLikes takes keys of likes, of one kind.
func (m *likesModel) dropLikes(r *rapid.T) {
	if !m.down {
		m.world.redis.DropKeys(m.t, rapid.SampledFrom([]string{"likes:*", "oldlikes:*", "likecount:*", "lease:*"}).Draw(r, "keys"))
	}
}

// deed is a call of somebody's.
type deed struct {
	who    int
	blog   social.ID
	unlike bool

	changed int // how many of its copies
	err     error
}

func (m *likesModel) pair(d *deed) social.Pair {
	return social.Pair{UserID: m.people[d.who].id, TargetID: d.blog}
}

func (m *likesModel) draw(r *rapid.T) *deed {
	return &deed{
		who:    rapid.IntRange(0, len(m.people)-1).Draw(r, "who"),
		blog:   rapid.SampledFrom(slices.Concat(m.blogs, m.blogs, m.gone)).Draw(r, "blog"),
		unlike: rapid.IntRange(0, 2).Draw(r, "unlike") == 0,
	}
}

func (m *likesModel) do(d *deed, l *like.Likes) (changed bool, err error) {
	p := m.pair(d)
	if d.unlike {
		return l.Unlike(context.Background(), p.UserID, p.TargetID)
	}
	return l.Like(context.Background(), p.UserID, p.TargetID)
}

// act has some people do something at once, each thing one to three times.
func (m *likesModel) act(r *rapid.T) {
	var deeds []*deed
	for range rapid.IntRange(1, 4).Draw(r, "deeds") {
		d := m.draw(r)
		if !slices.ContainsFunc(deeds, func(other *deed) bool { return m.pair(d) == m.pair(other) }) {
			deeds = append(deeds, d)
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, d := range deeds {
		for range rapid.IntRange(1, 3).Draw(r, "copies") {
			l := m.server(r).likes
			all.Go(func() {
				changed, err := m.do(d, l)
				mu.Lock()
				defer mu.Unlock()
				if changed {
					d.changed++
				}
				if err != nil {
					d.err = err
				}
			})
		}
	}
	all.Wait()
	for _, d := range deeds {
		m.took(r, d)
	}
}

// actDying is a deed through a server that dies between its commit and what it owes the
// caches: nobody got an answer. Whoever repeats it through another gets one.
func (m *likesModel) actDying(r *rapid.T) {
	d := m.draw(r)
	s := m.server(r)
	dying := like.New(s.store.db, s.caches, m.world.Clock.Now, like.Config{
		Settle: func(context.Context, ...*rdb.Call) error { return nil },
	})
	var changed bool
	if changed, d.err = m.do(d, dying); changed {
		d.changed = 1
	}
	again, err := m.do(d, s.likes)
	if again || (err == nil) != (d.err == nil) {
		r.Fatalf("%+v again: %v, %v", d, again, err)
	}
	m.took(r, d)
}

// took holds what a deed answered against the oracle, and brings it there.
func (m *likesModel) took(r *rapid.T, d *deed) {
	p := m.pair(d)
	since, known := m.likes[p]
	isLiked, isGone := since > 0, slices.Contains(m.gone, d.blog)
	refused := isGone && (!d.unlike || !known)
	if refused != social.HasCode(d.err, social.NotFound) || !refused && d.err != nil {
		r.Fatalf("%+v of %v (gone: %v): %v; want refused: %v", d, p, isGone, d.err, refused)
	}
	if refused {
		return
	}
	want := 0
	if isLiked == d.unlike {
		want = 1
	}
	if d.changed != want {
		r.Fatalf("%+v of %v, liked before: %v: want %d changes", d, p, isLiked, want)
	}
	m.last = d.who
	switch {
	case d.unlike && isLiked: // else it may never have been
		m.likes[p] = 0
	case !d.unlike && !isLiked:
		m.likes[p] = max(social.Millis(m.world.Clock.Now().UnixMilli()), d.blog.Time())
	}
}

// of lists likes, latest first: of a blog, or of a person.
func (m *likesModel) of(isIn func(social.Pair) (social.ID, bool)) (ids []social.ID) {
	var peers []social.Peer
	for p, since := range m.likes {
		if id, ok := isIn(p); ok && since > 0 {
			peers = append(peers, social.Peer{ID: id, Since: since})
		}
	}
	slices.SortFunc(peers, func(a, b social.Peer) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(b.ID, a.ID))
	})
	for _, p := range peers {
		ids = append(ids, p.ID)
	}
	return ids
}

func (m *likesModel) likers(blog social.ID) []social.ID {
	return m.of(func(p social.Pair) (social.ID, bool) { return p.UserID, p.TargetID == blog })
}

const likesDoc = `query($ids: [ID!]!, $b: ID!) {
	nodes(ids: $ids) { ... on Blog { likeCount viewerHasLiked } }
	blog(id: $b) { likeCount likers(first: 100) { totalCount nodes { id } } }
	viewer { likedBlogs(first: 100) { nodes { id } } }
}`

// look reads what who acted last sees.
func (m *likesModel) look(r *rapid.T) {
	me, s := m.people[m.last], m.server(r)
	one := rapid.SampledFrom(m.blogs).Draw(r, "blog")
	ids := make([]string, len(m.blogs))
	var want strings.Builder
	for i, b := range m.blogs {
		ids[i] = social.GlobalID(social.BlogNode, b)
		fmt.Fprintf(&want, `{"likeCount":%d,"viewerHasLiked":%v},`, len(m.likers(b)), m.likes[social.Pair{UserID: me.id, TargetID: b}] > 0)
	}
	got := me.at(s).OK(m.t, likesDoc, map[string]any{"ids": ids, "b": social.GlobalID(social.BlogNode, one)})
	if now := got.Get("nodes").Raw; now != "["+strings.TrimSuffix(want.String(), ",")+"]" {
		r.Fatalf("%d sees %s, want %s", me.id, now, want.String())
	}
	likers := m.likers(one)
	wantOne := fmt.Sprintf(`{"likeCount":%d,"likers":{"totalCount":%[1]d,"nodes":%s}}`, len(likers), globalIDs(social.UserNode, likers))
	if now := got.Get("blog").Raw; now != wantOne {
		r.Fatalf("%d sees %s, want %s", me.id, now, wantOne)
	}
	liked := m.of(func(p social.Pair) (social.ID, bool) {
		return p.TargetID, p.UserID == me.id && !slices.Contains(m.gone, p.TargetID)
	})
	if now := got.Get("viewer.likedBlogs.nodes").Raw; now != globalIDs(social.BlogNode, liked) {
		r.Fatalf("%d likes %s, want %s", me.id, now, globalIDs(social.BlogNode, liked))
	}
}

// globalIDs are nodes of which only the id was asked.
func globalIDs(of social.NodeType, ids []social.ID) string {
	nodes := make([]string, len(ids))
	for i, id := range ids {
		nodes[i] = fmt.Sprintf(`{"id":%q}`, social.GlobalID(of, id))
	}
	return "[" + strings.Join(nodes, ",") + "]"
}

// checkRows holds the rows of both sides, and the counts, against the oracle.
func (m *likesModel) checkRows(r *rapid.T) {
	for _, b := range slices.Concat(m.blogs, m.gone) {
		likers := m.likers(b)
		for table, row := range map[string]string{"blog_like": "user_id", "blog_liker": "user_id"} {
			var found []social.ID
			err := m.world.SQL.Select(&found, `SELECT `+row+` FROM `+table+` WHERE blog_id = ? AND state = 1 ORDER BY since DESC, user_id DESC`, b)
			if err != nil || !slices.Equal(found, likers) {
				r.Fatalf("%s of %d: %v, %v; want %v", table, b, found, err, likers)
			}
		}
		if n := m.world.Int(m.t, "SELECT COALESCE(SUM(likes), 0) FROM blog_count WHERE blog_id = ?", b); n != int64(len(likers)) {
			r.Fatalf("%d likes of %d, want %d", n, b, len(likers))
		}
	}
}

// forget ends the likes of the check before.
func (m *likesModel) forget(r *rapid.T) {
	var old []struct{ User, Blog social.ID }
	if err := m.world.SQL.Select(&old, "SELECT user_id AS user, blog_id AS blog FROM blog_like WHERE state = 1"); err != nil {
		r.Fatal(err)
	}
	for _, o := range old {
		if _, err := m.world.servers[0].likes.Unlike(context.Background(), o.User, o.Blog); err != nil {
			r.Fatal(err)
		}
	}
}
