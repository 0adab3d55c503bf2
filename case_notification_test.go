package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/events"
	"kith/notify"
	"kith/social"
	"kith/socialtest"
)

// BLK-5, and loops that end with nothing.
func TestTogglingTellsOnce(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		fan, author, fickle := u[0], u[1], u[2]
		blog := author.publish(t, "a blog")
		for i := range 50 {
			w.Clock.Advance(time.Millisecond)
			fickle.follow(t, author)
			fickle.like(t, blog)
			if i%10 == 0 {
				w.tell(t) // in the midst
			}
			fickle.unfollow(t, author)
			fickle.unlike(t, blog)
		}
		w.tell(t)
		author.tells(t, 0)
		for i := range 10 {
			w.Clock.Advance(time.Millisecond)
			fan.follow(t, author)
			fan.like(t, blog)
			if i < 9 {
				fan.unfollow(t, author)
				fan.unlike(t, blog)
			}
			if i%3 == 0 {
				w.tell(t)
			}
		}
		w.tell(t)
		lines, unread := author.told(t)
		if unread != 2 || len(lines) != 2 {
			t.Errorf("told %q, %d unread", lines, unread)
		}
	})
}

// FOL-1, FOL-6, FOL-2 and BLK-1, as those who are followed are told.
func TestFollowsAreToldOnce(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 5)
		u[0].follow(t, u[3])
		w.tell(t)
		u[3].markRead(t, "")
		u[0].Do(t, `mutation($u: ID!) { follow(input: {userId: $u}) { state } }`, map[string]any{"u": u[0].gid})
		u[0].OK(t, `mutation($u: [ID!]!) { followMany(input: {userIds: $u}) { results { errorCode } } }`,
			map[string]any{"u": []string{u[0].gid, u[1].gid, u[2].gid, u[1].gid, u[3].gid, u[2].gid}})
		w.tell(t)
		u[0].tells(t, 0)
		u[1].tells(t, 1, `FOLLOWED 1 ["u1_test"]`)
		u[2].tells(t, 1, `FOLLOWED 1 ["u1_test"]`)
		u[3].tells(t, 0, `FOLLOWED 1 ["u1_test"] read`)

		blog := u[1].publish(t, "a blog")
		for range 2 {
			atOnce(10, func(int) bool { u[4].like(t, blog); u[4].follow(t, u[1]); return true })
		}
		w.tell(t)
		lines, unread := u[1].told(t)
		if unread != 3 || len(lines) != 3 {
			t.Errorf("told %q, %d unread", lines, unread)
		}

		u[1].relate(t, "block", u[4])
		u[4].Do(t, `mutation($u: ID!) { follow(input: {userId: $u}) { state } }`, map[string]any{"u": u[1].gid})
		u[4].Do(t, likeDoc, map[string]any{"b": blog})
		w.tell(t)
		u[1].tells(t, 1, `FOLLOWED 1 ["u1_test"]`)
		u[1].relate(t, "unblock", u[4])
		w.Clock.Advance(time.Millisecond)
		u[4].follow(t, u[1])
		w.tell(t)
		u[1].tells(t, 3, `FOLLOWED 1 ["u5_test"]`, `BLOG_LIKED 1 ["u5_test"]`, `FOLLOWED 1 ["u1_test"]`) // the like was never undone
	})
}

// Lines of those who are muted, suspended or deleted, and of blogs that are, go when they
// become so, and those that can come back do.
func TestWhoIsHiddenIsNotTold(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		me, fan, other, asker := u[0], u[1], u[2], u[3]
		blog, gone := me.publish(t, "a blog"), me.publish(t, "one more")
		me.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		asker.follow(t, me)
		me.OK(t, `mutation { updateProfile(input: {isPrivate: false}) { userId } }`, nil)
		w.Clock.Advance(time.Millisecond)
		other.like(t, blog)
		w.Clock.Advance(time.Millisecond)
		for _, p := range []person{other, fan} {
			w.Clock.Advance(time.Millisecond)
			p.like(t, gone)
		}
		fan.like(t, blog)
		w.Clock.Advance(time.Millisecond)
		fan.follow(t, me)
		w.tell(t)
		all := []string{`FOLLOWED 1 ["u2_test"]`, `BLOG_LIKED 2 ["u2_test","u3_test"]`, `BLOG_LIKED 2 ["u2_test","u3_test"]`, `FOLLOW_REQUESTED 1 ["u4_test"]`}
		me.tells(t, 4, all...)

		me.relate(t, "mute", fan)
		if lines, _ := me.told(t); strings.Contains(fmt.Sprint(lines), "u2_test") { // at once
			t.Errorf("told %q of somebody muted", lines)
		}
		w.tell(t)
		me.tells(t, 3, `BLOG_LIKED 1 ["u3_test"]`, `BLOG_LIKED 1 ["u3_test"]`, `FOLLOW_REQUESTED 1 ["u4_test"]`)
		me.relate(t, "unmute", fan)
		w.tell(t)
		me.tells(t, 4, all...)

		me.delete(t, gone)
		w.setStatus(t, fan, social.Suspended)
		w.setStatus(t, asker, social.Suspended)
		w.settleAll(t)
		w.tell(t)
		me.tells(t, 1, `BLOG_LIKED 1 ["u3_test"]`)
		w.setStatus(t, fan, social.Active)
		w.setStatus(t, asker, social.Active)
		w.settleAll(t)
		w.tell(t)
		me.tells(t, 3, all[0], all[1], all[3])
		w.setStatus(t, fan, social.Deleted)
		w.settleAll(t)
		w.tell(t)
		me.tells(t, 2, `BLOG_LIKED 1 ["u3_test"]`, all[3])
		w.setStatus(t, me, social.Deleted)
		w.settleAll(t)
		if err := w.server.told.Trim(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "rows of somebody deleted", w.Int(t, `SELECT COUNT(*) FROM notification WHERE user_id = ?`, me.id)+
			w.Int(t, `SELECT COUNT(*) FROM notification_actor WHERE user_id = ?`, me.id), 0)
	})
}

// 40 likes of one blog are one line; what grew after a page was read stays unread, whatever
// the page's cursor.
func TestLikesOfABlogAreGathered(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		author, fans := w.person(t), w.persons(t, 41)
		blog, other := author.publish(t, "a blog"), author.publish(t, "another")
		for _, f := range fans[:40] {
			w.Clock.Advance(time.Millisecond)
			f.like(t, blog)
		}
		w.Clock.Advance(time.Millisecond)
		fans[0].like(t, other)
		w.tell(t)
		author.tells(t, 2, `BLOG_LIKED 1 ["u2_test"]`, `BLOG_LIKED 40 ["u41_test","u40_test","u39_test"]`)
		page := author.notices(t, 1, "")
		fans[40].like(t, blog)
		w.tell(t)
		same(t, "left unread", author.markRead(t, page.Get("edges.0.cursor").String()), 1)
		author.tells(t, 1, `BLOG_LIKED 1 ["u2_test"] read`, `BLOG_LIKED 41 ["u42_test","u41_test","u40_test"]`)
		same(t, "left unread", author.markRead(t, page.Get("edges.0.cursor").String()), 1) // again
		same(t, "left unread", author.markRead(t, ""), 0)
	})
}

// PAG-1 and SEC-7, of notifications.
func TestNotificationsArePagedExactly(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, fans := w.person(t), w.persons(t, 25)
		for _, f := range fans { // in one millisecond
			f.follow(t, me)
		}
		w.tell(t)
		seen := map[string]bool{}
		after := ""
		for _, want := range []int{10, 10, 5} {
			p := me.notices(t, 10, after)
			edges := p.Get("edges").Array()
			if len(edges) != want || p.Get("pageInfo.hasNextPage").Bool() != (want == 10) {
				t.Errorf("%d lines, want %d: %s", len(edges), want, p)
			}
			for _, e := range edges {
				seen[e.Get("node.id").String()] = true
			}
			after = p.Get("pageInfo.endCursor").String()
		}
		same(t, "lines", len(seen), 25)

		line := me.notices(t, 1, "").Get("edges.0")
		read := `query($id: ID!) { node(id: $id) { id ... on Notification { kind actorCount } } }`
		same(t, "a line by id", me.OK(t, read, map[string]any{"id": line.Get("node.id").String()}).Get("node.actorCount").Int(), 1)
		for _, c := range []struct {
			who   person
			field string
		}{{fans[0], "after"}, {me, "foreign"}, {me, "flipped"}} {
			cursor := line.Get("cursor").String()
			switch c.field {
			case "foreign":
				cursor = me.OK(t, `{ viewer { followers(first: 1) { pageInfo { endCursor } } } }`, nil).Get("viewer.followers.pageInfo.endCursor").String()
			case "flipped":
				cursor = cursor[:5] + "AA" + cursor[7:]
			}
			same(t, c.field, c.who.Do(t, noticesDoc, map[string]any{"a": cursor}).Code(), string(social.BadUserInput))
			same(t, c.field, c.who.Do(t, `mutation($c: String) { markNotificationsRead(input: {upTo: $c}) { unreadCount } }`,
				map[string]any{"c": cursor}).Code(), string(social.BadUserInput))
		}
		if n := fans[0].OK(t, read, map[string]any{"id": line.Get("node.id").String()}).Get("node"); n.Raw != "null" {
			t.Errorf("somebody else sees %s", n)
		}
		for _, f := range fans {
			f.unfollow(t, me)
		}
		w.tell(t)
		if n := me.OK(t, read, map[string]any{"id": line.Get("node.id").String()}).Get("node"); n.Raw != "null" {
			t.Errorf("a line that went is %s", n)
		}
		other := fans[0].OK(t, `query($id: ID!) { node(id: $id) { ... on User { unreadNotificationCount } } }`, map[string]any{"id": me.gid})
		same(t, "unread, to somebody else", other.Get("node.unreadNotificationCount").Raw, "null")
	})
}

// INF-6: events that are repeated tell nothing again, even after a reading.
func TestRepeatedEventsTellNothing(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		me, fans := w.person(t), w.persons(t, 20)
		blog := me.publish(t, "a blog")
		for _, f := range fans {
			f.follow(t, me)
			f.like(t, blog)
		}
		for i := range 3 {
			w.tell(t)
			w.Exec(t, "UPDATE consumed SET position = 0 WHERE consumer = ?", notify.Consumer)
			lines, unread := me.told(t)
			if want := int64(21); len(lines) != 21 || i < 2 && unread != want || i == 2 && unread != 0 {
				t.Errorf("round %d: %d lines, %d unread", i, len(lines), unread)
			}
			if i == 1 {
				me.markRead(t, "")
			}
		}
		same(t, "followers", counts(t, me.Client, me.gid)[0], 20)
	})
}

// What is told late is left unread by a reading up to a page from before, though it lies below;
// and whoever listens hears of it after the reading.
func TestWhatIsToldLateIsNotReadUnseen(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me := u[0]
		blog := me.publish(t, "a blog")
		u[1].follow(t, me)
		w.tell(t)
		cursor := me.notices(t, 1, "").Get("edges.0.cursor").String()
		watch, err := w.news.Watch(t.Context(), me.id)
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Close()
		u[2].like(t, blog)
		w.Exec(t, "UPDATE blog_like SET since = since - 1000")
		w.tell(t)
		me.tells(t, 2, `FOLLOWED 1 ["u2_test"]`, `BLOG_LIKED 1 ["u3_test"]`)
		same(t, "left unread", me.markRead(t, cursor), 1)
		me.tells(t, 1, `FOLLOWED 1 ["u2_test"] read`, `BLOG_LIKED 1 ["u3_test"]`)
		news, err := watch.News(t.Context())
		if err != nil || len(news) != 2 || news[0].ReadUpTo == nil || news[1].Line == nil || news[1].Line.IsRead {
			t.Errorf("heard %+v, %v", news, err)
		}
		if news, err := watch.News(t.Context()); err != nil || len(news) != 0 {
			t.Errorf("heard %+v, %v once more", news, err)
		}
	})
}

// INF-3: no work waits in Redis, so one that is full, or empty, loses no line.
func TestNoLineWaitsInRedis(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, trueTime)
	defer w.close()
	me, fans := w.person(t), w.persons(t, 100)
	w.haltAll()
	for _, f := range fans {
		f.follow(t, me)
	}
	w.redis.Flush(t)
	w.begin(0)
	me.awaitLines(t, 100)
	same(t, "followers", counts(t, me.Client, me.gid)[0], 100)
}

// The likes of a blog cost its author's lines few statements, however many they are.
func TestLikesAreToldByThePiece(t *testing.T) {
	t.Parallel()
	w := newWorld(t, socialtest.NewMySQL(t))
	const likes, perEvent = 9000, 90
	author := w.person(t)
	blog := author.publish(t, "a blog")
	evs := w.likedByRows(t, blog, likes, perEvent)
	before := w.store.db.Statements()
	for chunk := range slices.Chunk(evs, 100) {
		if err := w.server.told.Consume(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
	sent := w.store.db.Statements() - before
	node := author.notices(t, 1, "").Get("edges.0.node")
	same(t, "likes told", node.Get("actorCount").Int(), likes)
	t.Logf("%d statements for %d likes, %d to an event", sent, likes, perEvent)
	if sent > 20*likes/1000 {
		t.Errorf("%d statements for %d likes", sent, likes)
	}
	author.delete(t, blog)
	if err := w.consume(t, social.BlogEvent, social.BlogBody{BlogID: mustID(t, blog), AuthorID: author.id, Deleted: true})(); err != nil {
		t.Fatal(err)
	}
	author.tells(t, 0)
	same(t, "behind the line of a blog that is deleted", w.Int(t, "SELECT COUNT(*) FROM notification_actor"), 0)
}

// likedByRows has so many people who are rows alone like a blog, and gives the events of that,
// as many likes to each.
func (w *world) likedByRows(t testing.TB, blog string, n, perEvent int) (evs []events.Event) {
	t.Helper()
	_, id, err := social.ParseGlobalID("", blog)
	if err != nil {
		t.Fatal(err)
	}
	first := w.person(t).id + 1000
	now := social.Millis(w.Clock.Now().UnixMilli())
	for ids := range slices.Chunk(upTo(n), perEvent) {
		var users, likes []string
		var body social.LikeBody
		for _, i := range ids {
			fan := first + social.ID(i)
			users = append(users, fmt.Sprintf("(%d,'f%d','Fan','','x')", fan, fan))
			likes = append(likes, fmt.Sprintf("(%d,%d,1,%d)", fan, id, now))
			body.Changes = append(body.Changes, social.LikeChange{UserID: fan, BlogID: id, State: social.Liked, Since: now, Version: 1})
		}
		w.Exec(t, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES "+strings.Join(users, ","))
		w.Exec(t, "INSERT INTO blog_like (user_id, blog_id, state, since) VALUES "+strings.Join(likes, ","))
		evs = append(evs, events.Event{Event: social.Event{Kind: social.LikeEvent, Body: body}})
	}
	return evs
}

// upTo is 0, 1, ... n-1.
func upTo(n int) []int {
	ns := make([]int, n)
	for i := range ns {
		ns[i] = i
	}
	return ns
}
