package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"kith/social"
)

// DAT-1
func TestIdsBeyond2To53AreExactEverywhere(t *testing.T) {
	t.Parallel()
	const userID, blogID = social.ID(653247040368672769), social.ID(9007199254740993)
	eachWorld(t, func(t *testing.T, w *world) {
		me := w.person(t)
		w.Exec(t, `INSERT INTO user (id, handle, name, bio, password_hash) VALUES (?, 'snowflake', 'Snow Flake', '', '')`, userID)
		w.Exec(t, `INSERT INTO actor (user_id, graph_version, following) VALUES (?, 0, 0)`, userID)
		w.Exec(t, `INSERT INTO user_count (user_id, followers, blogs, version) VALUES (?, 0, 1, 0)`, userID)
		w.Exec(t, `INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES (?, ?, 0, 'b', 'c', '[]')`, blogID, userID)

		id := me.OK(t, `{ user(handle: "snowflake") { id } }`, nil).Get("user.id")
		if id.Type != gjson.String || id.String() != social.GlobalID(social.UserNode, userID) {
			t.Fatalf("the id is %s", id.Raw)
		}
		neighbour := social.GlobalID(social.UserNode, userID-1)
		wantError(t, me.Do(t, followDoc, map[string]any{"u": neighbour}), social.NotFound, "userId")
		for _, raw := range []any{"653247040368672769", int64(userID)} {
			wantError(t, me.Do(t, followDoc, map[string]any{"u": raw}), social.BadUserInput, "userId")
		}
		f := me.OK(t, followDoc, map[string]any{"u": id.String()}).Get("follow")
		if f.Get("userId").Raw != id.Raw || f.Get("user.id").Raw != id.Raw || !f.Get("changed").Bool() {
			t.Errorf("follow answered %s", f)
		}
		events := w.takeEvents(t, social.FollowEvent)
		if len(events) != 1 || events[0].Get("changes.0.target").Raw != `"653247040368672769"` {
			t.Errorf("events are %v", events)
		}

		feed := me.readFeed(t, "")
		blog := social.GlobalID(social.BlogNode, blogID)
		if !slices.Equal(feed.ids, []string{blog}) || feed.edges[0].Get("node.id").Type != gjson.String {
			t.Fatalf("the feed is %v", feed.edges)
		}
		if c := decoded(t, feed.cursors[0], "feed", me.id); c.ID != blogID || c.MinTime != blogID.Time() {
			t.Errorf("the feed's cursor holds %v", c)
		}
		if back := me.OK(t, `query($b: ID!) { blog(id: $b) { id author { id } } }`, map[string]any{"b": blog}); back.Get("blog.id").String() != blog || back.Get("blog.author.id").Raw != id.Raw {
			t.Errorf("the blog reads %s", back)
		}
		following := list(t, me.Client, me.gid, "following", 10, "")
		if !slices.Equal(following.ids, []string{id.String()}) {
			t.Fatalf("following is %v", following.ids)
		}
		if c := decoded(t, following.cursors[0], "following", me.id); c.ID != userID {
			t.Errorf("the list's cursor holds %v", c)
		}
		if n := w.Int(t, "SELECT COUNT(*) FROM following WHERE user_id = ? AND target_id = ?", me.id, userID); n != 1 {
			t.Errorf("%d rows of the edge", n)
		}
		if l := blogsOf(t, me.Client, id.String(), 10, feedCursorAbove(blogID).Encode(social.BlogsCursor, userID)); !slices.Equal(l.ids, []string{blog}) {
			t.Errorf("blogs below the next id: %v", l.ids)
		}
	})
}

func feedCursorAbove(id social.ID) social.Cursor {
	return social.Cursor{MinTime: id.Time(), ID: id + 1}
}

// DAT-3
func TestWhatCannotBeStoredIsRefusedWhole(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, other := w.person(t), w.person(t)
		other.follow(t, me)
		me.publish(t, "good")
		before := w.rowCounts(t)

		const publish = `mutation($v: String!) { publishBlog(input: {title: \"t\", content: $v}) { blog { id } } }`
		const profile = `mutation($v: String!) { updateProfile(input: {name: $v}) { userId } }`
		const signUp = `mutation($v: String!) { signUp(input: {handle: \"nul\", name: $v, password: \"password\"}) { token } }`
		for field, query := range map[string]string{"content": publish, "name": profile, "name ": signUp} {
			field = strings.TrimSpace(field)
			for _, v := range []string{`a\u0000b`, `\u0000`, `a\u0008b`, `\u007f\u0085`} {
				wantError(t, post(me.Client, `{"query": "`+query+`", "variables": {"v": "`+v+`"}}`), social.BadUserInput, field)
				literal := strings.ReplaceAll(strings.ReplaceAll(query, "($v: String!)", ""), "$v", `\"`+strings.ReplaceAll(v, `\`, `\\`)+`\"`)
				wantError(t, post(me.Client, `{"query": "`+literal+`"}`), social.BadUserInput, field)
			}
			// Bytes that are no UTF-8, and half of a surrogate pair: no JSON to begin with.
			for _, v := range []string{"\xc3\x28", `\ud800`, `a\udfffb`, "\xed\xa0\x80", "\xff"} {
				for _, body := range []string{
					`{"query": "` + query + `", "variables": {"v": "` + v + `"}}`,
					`{"query": "` + strings.ReplaceAll(strings.ReplaceAll(query, "($v: String!)", ""), "$v", `\"`+v+`\"`) + `"}`,
				} {
					if a := post(me.Client, body); a.Status != 400 || a.Code() != "BAD_USER_INPUT" {
						t.Errorf("%q answered %d: %s", body, a.Status, a.Body)
					}
				}
			}
			// The half as an escape of GraphQL's own.
			literal := strings.ReplaceAll(strings.ReplaceAll(query, "($v: String!)", ""), "$v", `\"\\ud800\"`)
			if a := post(me.Client, `{"query": "`+literal+`"}`); a.Status >= 500 || a.Code() != "BAD_USER_INPUT" {
				t.Errorf("%s answered %d: %s", literal, a.Status, a.Body)
			}
		}
		if after := w.rowCounts(t); after != before {
			t.Errorf("rows were written: %s, before %s", after, before)
		}
		if f := other.feed(t, 10, ""); !slices.Equal(f.titles, []string{"good"}) {
			t.Errorf("the feed is %v", f.titles)
		}
		if u := other.OK(t, `{ user(handle: "u1_test") { name } none: user(handle: "nul") { id } }`, nil); u.Raw != `{"user":{"name":"User 1"},"none":null}` {
			t.Errorf("people read %s", u)
		}
	})
}
