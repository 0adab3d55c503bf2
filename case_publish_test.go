package main

import (
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

const publishDoc = `mutation($i: PublishBlogInput!) { publishBlog(input: $i) {
	blog { id title createdAt imageUrls author { id } } blogEdge { cursor node { id } } viewer { id blogCount } } }`

// draft is the input of publishBlog; a key that is "" is none.
func draft(title, key string) map[string]any {
	return map[string]any{"i": map[string]any{"title": title, "content": "text", "idempotencyKey": orNull(key)}}
}

func (p person) publishWith(t testing.TB, title, key string) gjson.Result {
	t.Helper()
	return p.OK(t, publishDoc, draft(title, key)).Get("publishBlog")
}

func TestOneKeyIsOneBlogHoweverManyAtOnce(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		servers := []*server{w.server}
		if w.IsMySQL() {
			servers = append(servers, wiredServer(t, w.Store, 3))
		}
		me, other := w.person(t), w.person(t)
		answers := atOnce(20, func(i int) socialtest.Answer {
			return me.at(servers[i%len(servers)]).Do(t, publishDoc, draft("one", "key"))
		})
		first := answers[0].Data().Get("publishBlog.blog")
		for _, a := range answers {
			p := a.Data().Get("publishBlog")
			if a.Code() != "" || p.Get("blog").Raw != first.Raw || p.Get("viewer.blogCount").Int() != 1 {
				t.Errorf("answered %s, the first %s", a.Body, first)
			}
		}
		if got := counts(t, me.Client, me.gid); got[2] != 1 {
			t.Errorf("%d blogs", got[2])
		}
		if l := blogsOf(t, me.Client, me.gid, 10, ""); len(l.ids) != 1 || l.ids[0] != first.Get("id").String() {
			t.Errorf("the list has %v", l.ids)
		}
		if events := w.takeEvents(t, social.BlogEvent); len(events) != 1 {
			t.Errorf("events %v", events)
		}
		if p := other.publishWith(t, "one", "key"); p.Get("blog.id").String() == first.Get("id").String() || p.Get("blog.author.id").String() != other.gid {
			t.Errorf("another's same key gave %s", p)
		}
		for _, key := range []string{"key ", "KEY", "kéy", "ke\u0301y"} { // other keys, to the byte
			if p := me.publishWith(t, "one", key); p.Get("blog.id").String() == first.Get("id").String() {
				t.Errorf("%q stands for %q", key, "key")
			}
		}
	})
}

func TestAKeyLastsADayAndStandsForOneContent(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		first := me.publishWith(t, "one", "key").Get("blog.id").String()
		before := w.rowCounts(t)
		for name, i := range map[string]map[string]any{
			"title":   {"title": "two", "content": "text", "idempotencyKey": "key"},
			"content": {"title": "one", "content": "text ", "idempotencyKey": "key"},
			"images":  {"title": "one", "content": "text", "imageUrls": []string{"https://example.com/a"}, "idempotencyKey": "key"},
		} {
			a := me.Do(t, publishDoc, map[string]any{"i": i})
			wantError(t, a, social.Conflict, "idempotencyKey")
			if a.Data().Get("publishBlog").Type != gjson.Null {
				t.Errorf("other %s answered %s", name, a.Body)
			}
		}
		// No images is no images, whether absent, null or empty.
		for _, none := range []any{nil, []string{}} {
			i := map[string]any{"title": "one", "content": "text", "imageUrls": none, "idempotencyKey": "key"}
			if p := me.OK(t, publishDoc, map[string]any{"i": i}).Get("publishBlog"); p.Get("blog.id").String() != first {
				t.Errorf("images %v gave %s", none, p)
			}
		}
		w.Clock.Advance(24*time.Hour - time.Millisecond)
		if again := me.publishWith(t, "one", "key"); again.Get("blog.id").String() != first {
			t.Errorf("within the day: %s", again)
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
		w.Clock.Advance(time.Millisecond)
		second := me.publishWith(t, "two", "key")
		if second.Get("blog.id").String() == first || second.Get("viewer.blogCount").Int() != 2 {
			t.Errorf("after a day: %s", second)
		}
		me.delete(t, second.Get("blog.id").String())
		wantError(t, me.Do(t, publishDoc, draft("two", "key")), social.Conflict, "idempotencyKey")
		if got := counts(t, me.Client, me.gid); got[2] != 1 {
			t.Errorf("%d blogs", got[2])
		}
		// Without a key, twice is two.
		a, b := me.publishWith(t, "same", ""), me.publishWith(t, "same", "")
		if a.Get("blog.id").String() == b.Get("blog.id").String() || b.Get("viewer.blogCount").Int() != 3 {
			t.Errorf("without a key: %s and %s", a, b)
		}
	})
}

const deleteDoc = `mutation($b: ID!) { deleteBlog(input: {blogId: $b}) { deletedBlogId viewer { id blogCount } } }`

func TestOnlyItsAuthorDeletesABlogAndOnce(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		other.follow(t, me)
		blog, kept := me.publish(t, "gone"), me.publish(t, "kept")
		v := map[string]any{"b": blog}
		wantError(t, other.Do(t, deleteDoc, v), social.Forbidden, "blogId")
		unknown := map[string]any{"b": social.GlobalID(social.BlogNode, 12345)}
		wantError(t, me.Do(t, deleteDoc, unknown), social.NotFound, "blogId")
		wantError(t, me.Do(t, deleteDoc, map[string]any{"b": me.gid}), social.BadUserInput, "blogId")
		w.takeEvents(t, social.BlogEvent)

		for i := range 3 {
			p := me.OK(t, deleteDoc, v).Get("deleteBlog")
			if p.Get("deletedBlogId").String() != blog || p.Get("viewer.blogCount").Int() != 1 || p.Get("viewer.id").String() != me.gid {
				t.Errorf("time %d: %s", i, p)
			}
		}
		for _, a := range atOnce(5, func(int) socialtest.Answer { return me.Do(t, deleteDoc, v) }) {
			if a.Code() != "" {
				t.Errorf("at once: %s", a.Body)
			}
		}
		if events := w.takeEvents(t, social.BlogEvent); len(events) != 1 || !events[0].Get("deleted").Bool() {
			t.Errorf("events %v", events)
		}
		wantError(t, other.Do(t, deleteDoc, v), social.NotFound, "blogId")
		if got := counts(t, other.Client, me.gid); got[2] != 1 {
			t.Errorf("%d blogs", got[2])
		}
		for name, l := range map[string]listed{"feed": other.readFeed(t, ""), "blogs": blogsOf(t, other.Client, me.gid, 10, "")} {
			if len(l.ids) != 1 || l.ids[0] != kept {
				t.Errorf("%s: %v", name, l.ids)
			}
		}
		if d := other.OK(t, `query($b: ID!) { blog(id: $b) { id } node(id: $b) { id } nodes(ids: [$b]) { id } }`, v); d.Raw != `{"blog":null,"node":null,"nodes":[null]}` {
			t.Errorf("the deleted reads %s", d)
		}
	})
}

func TestPayloadsOfBlogsFitTheLists(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, reads := w.person(t), w.person(t)
		reads.follow(t, me)
		old := me.publish(t, "old")
		p := me.publishWith(t, "new", "")
		id := p.Get("blog.id").String()
		if p.Get("blogEdge.node.id").String() != id || p.Get("viewer.id").String() != me.gid || p.Get("blog.author.id").String() != me.gid || p.Get("blog.imageUrls").Raw != "[]" {
			t.Errorf("payload %s", p)
		}
		if at, want := p.Get("blog.createdAt").String(), w.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"); at != want {
			t.Errorf("created at %s, want %s", at, want)
		}
		for _, c := range []socialtest.Client{me.Client, reads.Client, w.nobody()} {
			l := blogsOf(t, c, me.gid, 10, p.Get("blogEdge.cursor").String())
			if len(l.ids) != 1 || l.ids[0] != old || !l.info.Get("hasPreviousPage").Bool() {
				t.Errorf("behind the edge's cursor: %v %s", l.ids, l.info)
			}
		}
	})
}

// What was committed is told so, though its payload could not be filled: a client that is
// told it failed would do it again. Each field that was asked is told of by the client's own
// name for it, and one that was not asked is neither read nor told of.
func TestACommittedChangeIsToldThoughItsPayloadFails(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		blog := other.publish(t, "a blog")
		fails := func(call, fill, paths string) {
			ids := strings.NewReplacer("$blog", blog, "$other", other.gid, "$mine", me.publish(t, "another"), "...", fill)
			w.Exec(t, "ALTER TABLE user RENAME COLUMN avatar_url TO away") // which bodies alone have
			a := me.Do(t, `mutation { change: `+ids.Replace(call)+` }`, nil)
			w.Exec(t, "ALTER TABLE user RENAME COLUMN away TO avatar_url")
			told := "[]"
			if p := gjson.Get(a.Body, "errors.#.path"); p.Exists() {
				told = p.Raw
			}
			if !a.Data().Get("change.done").Exists() || told != paths {
				t.Errorf("%s with %q: %s", call, fill, a.Body)
			}
		}
		for _, c := range []struct{ call, fill, paths string }{
			{`deleteBlog(input: {blogId: "$mine"}) { done: deletedBlogId ... }`, `me: viewer { name }`, `[["change","me"]]`},
			{`follow(input: {userId: "$other"}) { done: userId ... }`, `user { name } me: viewer { name }`, `[["change","user"],["change","me"]]`},
			{`followMany(input: {userIds: ["$other"]}) { done: results { userId ... } }`, `user { name }`, `[["change","done"]]`},
			{`likeBlog(input: {blogId: "$blog"}) { done: blogId ... }`, `blog { id }`, `[["change","blog"]]`},
		} {
			fails(c.call, c.fill, c.paths)
			fails(c.call, "", `[]`)
			fails(c.call, strings.ReplaceAll(c.fill, " {", " @skip(if: true) {"), `[]`)
		}
	})
}

// That somebody else's blog is FORBIDDEN tells that it is there: of a blog that one does not
// see it is NOT_FOUND, word for word as of one that never was.
func TestWhatOneDoesNotSeeIsNotThereForDeleting(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 5)
		me, open, blocker, private, suspended := u[0], u[1], u[2], u[3], u[4]
		tell := func(author person) (string, socialtest.Answer) {
			a := me.Do(t, deleteDoc, map[string]any{"b": author.publish(t, "a blog")})
			return gjson.Get(a.Body, "errors.0.message").String(), a
		}
		never := me.Do(t, deleteDoc, map[string]any{"b": social.GlobalID(social.BlogNode, 12345)})
		unknown := gjson.Get(never.Body, "errors.0.message").String()
		_, a := tell(open)
		wantError(t, a, social.Forbidden, "blogId")
		blocker.about(t, "block", me)
		private.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		of := suspended.publish(t, "a blog")
		w.setStatus(t, suspended, social.Suspended)
		for _, author := range []person{blocker, private} {
			message, a := tell(author)
			wantError(t, a, social.NotFound, "blogId")
			same(t, "told", message, unknown)
		}
		wantError(t, me.Do(t, deleteDoc, map[string]any{"b": of}), social.NotFound, "blogId")
	})
}
