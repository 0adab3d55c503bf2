package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/like"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

const (
	likeDoc   = `mutation($b: ID!) { likeBlog(input: {blogId: $b}) { blogId changed blog { id likeCount viewerHasLiked } } }`
	unlikeDoc = `mutation($b: ID!) { unlikeBlog(input: {blogId: $b}) { blogId changed blog { id likeCount viewerHasLiked } } }`
)

// like makes p like a blog and gives the payload.
func (p person) like(t testing.TB, blog string) gjson.Result {
	t.Helper()
	return p.OK(t, likeDoc, map[string]any{"b": blog}).Get("likeBlog")
}

// unlike ends that p likes a blog.
func (p person) unlike(t testing.TB, blog string) gjson.Result {
	t.Helper()
	return p.OK(t, unlikeDoc, map[string]any{"b": blog}).Get("unlikeBlog")
}

// liking is what is to be seen of a blog's likes.
type liking struct {
	count  int64
	mine   bool
	likers string
}

func (p person) liking(t testing.TB, blog string) liking {
	t.Helper()
	b := p.OK(t, `query($b: ID!) { blog(id: $b) { likeCount viewerHasLiked likers(first: 10) { totalCount nodes { handle } } } }`,
		map[string]any{"b": blog}).Get("blog")
	if b.Get("likers.totalCount").Int() != b.Get("likeCount").Int() {
		t.Errorf("two counts: %s", b)
	}
	return liking{b.Get("likeCount").Int(), b.Get("viewerHasLiked").Bool(), b.Get("likers.nodes.#.handle").String()}
}

// CNT-1
func TestLikesAndUnlikesCountWhatTheyChange(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		servers := []*server{w.server}
		if w.IsMySQL() {
			servers = append(servers, wiredServer(t, w.Store, 3))
		}
		u := w.persons(t, 2)
		blog := u[1].publish(t, "p1")
		all := func(n int, doc string) (changed int) {
			for _, a := range atOnce(n, func(i int) socialtest.Answer {
				return u[0].at(servers[i%len(servers)]).Do(t, doc, map[string]any{"b": blog})
			}) {
				if a.Code() != "" {
					t.Errorf("answered %s", a.Body)
				}
				for _, name := range []string{"likeBlog", "unlikeBlog"} {
					if a.Data().Get(name + ".changed").Bool() {
						changed++
					}
				}
			}
			return changed
		}
		same(t, "changed by two likes", all(2, likeDoc), 1)
		same(t, "changed by a third", all(1, likeDoc), 0)
		same(t, "liked", u[0].liking(t, blog), liking{1, true, `["u1_test"]`})
		same(t, "changed by three unlikes", all(3, unlikeDoc), 1)
		same(t, "unliked", u[0].liking(t, blog), liking{0, false, `[]`})
		same(t, "rows", w.Int(t, "SELECT COUNT(*) FROM blog_like WHERE state = 1")+w.Int(t, "SELECT COUNT(*) FROM blog_liker WHERE state = 1"), 0)
		same(t, "heat that is left", w.Int(t, "SELECT COUNT(*) FROM blog_count WHERE heat IS NOT NULL"), 0)
	})
}

// FOL-2, of likes.
func TestTenEqualLikesAtOnceAreOne(t *testing.T) {
	t.Parallel()
	const rounds, copies = 30, 10
	eachWorld(t, func(t *testing.T, w *world) {
		servers := []*server{w.server}
		if w.IsMySQL() {
			servers = append(servers, wiredServer(t, w.Store, 3))
		}
		u := w.persons(t, rounds+1)
		for round := range rounds {
			me := u[round]
			blog := u[round+1].publish(t, "a blog")
			w.takeEvents(t, social.LikeEvent)
			changed := 0
			for _, a := range atOnce(copies, func(i int) socialtest.Answer {
				return me.at(servers[i%len(servers)]).Do(t, likeDoc, map[string]any{"b": blog})
			}) {
				l := a.Data().Get("likeBlog")
				if a.Code() != "" || !l.Get("blog.viewerHasLiked").Bool() || l.Get("blog.likeCount").Int() != 1 {
					t.Errorf("round %d answered %s", round, a.Body)
				}
				if l.Get("changed").Bool() {
					changed++
				}
			}
			events := w.takeEvents(t, social.LikeEvent)
			if changed != 1 || len(events) != 1 || events[0].Get("changes.#").Int() != 1 {
				t.Errorf("round %d: %d changed something, events %v", round, changed, events)
			}
			same(t, "liked", me.liking(t, blog), liking{1, true, fmt.Sprintf(`["u%d_test"]`, round+1)})
		}
	})
}

// BLK-4, and all others who do not see the blog.
func TestWhoDoesNotSeeABlogCannotLikeIt(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		author, other, fan := u[0], u[1], u[2]
		blog := author.publish(t, "p1")
		fan.follow(t, author)
		act := func(p person, mutation, input string) {
			t.Helper()
			p.OK(t, `mutation { `+mutation+`(input: {`+input+`}) { __typename } }`, nil)
		}
		user := func(p person) string { return fmt.Sprintf("userId: %q", p.gid) }
		refused := func(p person) {
			t.Helper()
			wantError(t, p.Do(t, likeDoc, map[string]any{"b": blog}), social.NotFound, "blogId")
		}
		act(author, "block", user(other))
		refused(other)
		a := other.Do(t, `mutation($b: ID!) { `+fmt.Sprintf("a: %[1]s b: %[1]s c: %[1]s d: %[1]s e: %[1]s",
			`likeBlog(input: {blogId: $b}) { changed }`)+` }`, map[string]any{"b": blog})
		if n := len(gjson.Get(a.Body, "errors").Array()); n != 5 || a.Code() != "NOT_FOUND" {
			t.Errorf("five likes: %s", a.Body)
		}
		same(t, "blocked", author.liking(t, blog), liking{0, false, `[]`})
		act(author, "unblock", user(other))
		act(other, "block", user(author))
		refused(other)
		act(other, "unblock", user(author))
		act(author, "updateProfile", "isPrivate: true")
		refused(other)
		fan.like(t, blog)
		act(author, "updateProfile", "isPrivate: false")
		w.Exec(t, "UPDATE user SET status = 1 WHERE id = ?", author.id)
		refused(other)
		w.Exec(t, "UPDATE user SET status = 0 WHERE id = ?", author.id)
		w.Clock.Advance(time.Millisecond)
		other.like(t, blog)
		same(t, "seen", author.liking(t, blog), liking{2, false, `["u2_test","u3_test"]`})

		// What was liked can be unliked whatever has become of it; never more.
		act(author, "block", user(other))
		author.delete(t, blog)
		refused(fan)
		for changed := range 2 {
			for _, p := range []person{other, fan} {
				if l := p.unlike(t, blog); l.Get("changed").Bool() != (changed == 0) || l.Get("blog").Type != gjson.Null {
					t.Errorf("unlike of a blog that is gone: %s", l)
				}
			}
		}
		wantError(t, author.Do(t, unlikeDoc, map[string]any{"b": blog}), social.NotFound, "blogId")
		same(t, "likes that are left", w.Int(t, "SELECT SUM(likes) FROM blog_count"), 0)
	})
}

// GQL-3
func TestLikesOfOneOperationRunInOrder(t *testing.T) {
	t.Parallel()
	const runs = 100
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 2)
		for run := range runs {
			blog := u[1].publish(t, fmt.Sprint(run))
			d := u[0].OK(t, `mutation($b: ID!) { a: likeBlog(input: {blogId: $b}) { ...p } b: unlikeBlog(input: {blogId: $b}) { ...p } c: likeBlog(input: {blogId: $b}) { ...p } }
				fragment p on LikePayload { changed blog { viewerHasLiked likeCount } }`, map[string]any{"b": blog})
			const liked, not = `{"changed":true,"blog":{"viewerHasLiked":true,"likeCount":1}}`, `{"changed":true,"blog":{"viewerHasLiked":false,"likeCount":0}}`
			same(t, "answer", d.Raw, `{"a":`+liked+`,"b":`+not+`,"c":`+liked+`}`)
		}
	})
}

// DAT-1, of likes.
func TestLikesOfIdsBeyond2To53AreExact(t *testing.T) {
	t.Parallel()
	const blogID = social.ID(9007199254740993)
	eachWorld(t, func(t *testing.T, w *world) {
		me, author := w.person(t), w.person(t)
		for id := blogID - 1; id <= blogID+1; id++ {
			w.Exec(t, `INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES (?, ?, 0, 'b', 'c', '[]')`, id, author.id)
		}
		blog := social.GlobalID(social.BlogNode, blogID)
		for _, raw := range []any{"9007199254740993", int64(blogID)} {
			wantError(t, me.Do(t, likeDoc, map[string]any{"b": raw}), social.BadUserInput, "blogId")
		}
		l := me.like(t, blog)
		if l.Get("blogId").Raw != `"`+blog+`"` || l.Get("blog.id").String() != blog {
			t.Errorf("like answered %s", l)
		}
		events := w.takeEvents(t, social.LikeEvent)
		if len(events) != 1 || events[0].Get("changes.0.blog").Raw != `"9007199254740993"` {
			t.Errorf("events are %v", events)
		}
		for id := blogID - 1; id <= blogID+1; id++ {
			got := me.liking(t, social.GlobalID(social.BlogNode, id))
			same(t, fmt.Sprint(id), got.mine, id == blogID)
		}
		liked := me.OK(t, `{ viewer { likedBlogs { nodes { id } edges { cursor } } } }`, nil).Get("viewer.likedBlogs")
		same(t, "liked", liked.Get("nodes.#.id").String(), `["`+blog+`"]`)
	})
}

// Lists page both ways of a like to the end, latest first, with ties.
func TestLikersAndLikedBlogsPageToTheEnd(t *testing.T) {
	t.Parallel()
	const n = 23
	eachWorld(t, func(t *testing.T, w *world) {
		author, fans := w.person(t), w.persons(t, n)
		var blogs []string
		for i := range n {
			blogs = append(blogs, author.publish(t, fmt.Sprint(i)))
		}
		w.Clock.Advance(time.Second)
		for i, f := range fans {
			if i%4 == 0 {
				w.Clock.Advance(time.Millisecond)
			}
			f.like(t, blogs[0])
			fans[0].like(t, blogs[i])
		}
		var people, liked []string
		for _, f := range fans {
			people = append(people, f.gid)
		}
		liked = slices.Clone(blogs)
		order := func(table, column, of string, node social.NodeType, id social.ID) (ids []string) {
			var found []social.ID
			if err := w.SQL.Select(&found, `SELECT `+column+` FROM `+table+` WHERE `+of+` = ? AND state = 1 ORDER BY since DESC, `+column+` DESC`, id); err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				ids = append(ids, social.GlobalID(node, f))
			}
			return ids
		}
		_, first, _ := social.ParseGlobalID("", blogs[0])
		for size := range 7 {
			read := func(id, on, list string) (ids []string) {
				for after := ""; ; {
					l := fans[1].OK(t, `query($id: ID!, $n: Int, $a: String) { node(id: $id) { ... on `+on+` { `+list+`(first: $n, after: $a) { nodes { id } pageInfo { hasNextPage endCursor } } } } }`,
						map[string]any{"id": id, "n": size + 1, "a": orNull(after)}).Get("node." + list)
					for _, node := range l.Get("nodes").Array() {
						ids = append(ids, node.Get("id").String())
					}
					if after = l.Get("pageInfo.endCursor").String(); !l.Get("pageInfo.hasNextPage").Bool() {
						return ids
					}
				}
			}
			same(t, "likers", fmt.Sprint(read(blogs[0], "Blog", "likers")), fmt.Sprint(order("blog_liker", "user_id", "blog_id", social.UserNode, first)))
			same(t, "liked", fmt.Sprint(read(fans[0].gid, "User", "likedBlogs")), fmt.Sprint(order("blog_like", "blog_id", "user_id", social.BlogNode, fans[0].id)))
		}
		same(t, "likers", len(people), n)
		same(t, "liked", len(liked), n)
	})
}

// Somebody suspended likes nothing, and again what they liked when they are restored; of
// somebody deleted nothing is left.
func TestLikesFollowTheStatusOfWhoLikes(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		author, fans := w.person(t), w.persons(t, 2)
		var blogs []string
		for i := range 150 {
			blogs = append(blogs, author.publish(t, fmt.Sprint(i)))
			fans[0].like(t, blogs[i])
		}
		w.Clock.Advance(time.Millisecond)
		fans[1].like(t, blogs[0])
		heat := func() float64 {
			var h float64
			if err := w.SQL.Get(&h, "SELECT SUM(COALESCE(heat, 0)) FROM blog_count"); err != nil {
				t.Fatal(err)
			}
			return h
		}
		hot := heat()
		settle := func(status social.UserStatus) {
			w.Exec(t, "UPDATE user SET status = ? WHERE id = ?", status, fans[0].id)
			if moved, err := w.likes.Settle(t.Context(), fans[0].id, status); err != nil || !moved {
				t.Fatal(moved, err)
			}
			if moved, err := w.likes.Settle(t.Context(), fans[0].id, status); err != nil || moved {
				t.Fatal("twice", moved, err)
			}
		}
		is := func(what string, likes int64, first liking) {
			t.Helper()
			same(t, what, w.Int(t, "SELECT SUM(likes) FROM blog_count"), likes)
			same(t, what, author.liking(t, blogs[0]), first)
		}
		both := liking{2, false, `["u3_test","u2_test"]`}
		is("at first", 151, both)
		settle(social.Suspended)
		is("suspended", 1, liking{1, false, `["u3_test"]`})
		settle(social.Active)
		is("restored", 151, both)
		if got := heat(); got < hot-1e-3 || got > hot+1e-3 {
			t.Errorf("heat %v, before %v", got, hot)
		}
		settle(social.Deleted)
		is("deleted", 1, liking{1, false, `["u3_test"]`})
		same(t, "rows of somebody deleted", w.Int(t, "SELECT COUNT(*) FROM blog_like WHERE user_id = ? AND state <> 0", fans[0].id), 0)
	})
}

// Whose actor is lost is settled once it is mended; nothing ends over it until then.
func TestLikesOfWhoseActorIsLostAreSettledOnceItIsMended(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		author, fan := w.person(t), w.person(t)
		blog := author.publish(t, "a blog")
		fan.like(t, blog)
		w.Exec(t, "UPDATE user SET status = ? WHERE id = ?", social.Suspended, fan.id)
		w.Exec(t, "UPDATE actor SET user_id = -user_id WHERE user_id = ?", fan.id)
		if moved, err := w.likes.Settle(t.Context(), fan.id, social.Suspended); moved || err == nil {
			t.Errorf("without an actor: %v, %v", moved, err)
		}
		w.Exec(t, "UPDATE actor SET user_id = -user_id WHERE user_id = ?", -fan.id)
		if moved, err := w.likes.Settle(t.Context(), fan.id, social.Suspended); !moved || err != nil {
			t.Errorf("with one: %v, %v", moved, err)
		}
		same(t, "likes that are left", author.liking(t, blog), liking{0, false, `[]`})
	})
}

// Who dies between the commit and the caches leaves it to the consumer: nobody was answered,
// and yet nobody reads what was before for longer than that takes.
func TestLikesOfAServerThatDiedReachTheCaches(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		u := w.persons(t, 2)
		blog := u[1].publish(t, "a blog")
		_, id, _ := social.ParseGlobalID("", blog)
		dying := like.New(w.DB, w.caches, w.Clock.Now, like.Config{
			Settle: func(context.Context, ...*rdb.Call) error { return nil },
		})
		for i := range 4 {
			mine := i%2 == 1
			want := liking{int64(i % 2), mine, `[]`}
			move := dying.Unlike
			if mine {
				move, want.likers = dying.Like, `["u1_test"]`
			}
			if _, err := move(t.Context(), u[0].id, id); err != nil && i > 0 {
				t.Fatal(err)
			}
			w.drained(t)
			for _, s := range w.servers {
				eventually(t, "seen", want, func() liking { return u[0].at(s).liking(t, blog) })
			}
		}
	})
}
