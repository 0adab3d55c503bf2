package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"kith/events"
	"kith/follow"
	"kith/notify"
)

const noticesDoc = `query($n: Int, $a: String) {
	viewer { unreadNotificationCount }
	notifications(first: $n, after: $a) {
		unreadCount
		edges { cursor node { id kind actorCount isRead updatedAt actors { handle } blog { id } } }
		pageInfo { hasNextPage endCursor }
	}
}`

// notices reads a page of what p is told.
func (p person) notices(t testing.TB, first int, after string) gjson.Result {
	t.Helper()
	vars := map[string]any{"n": first}
	if after != "" {
		vars["a"] = after
	}
	got := p.OK(t, noticesDoc, vars)
	if a, b := got.Get("viewer.unreadNotificationCount"), got.Get("notifications.unreadCount"); a.Raw != b.Raw {
		t.Errorf("two counts: %s and %s", a, b)
	}
	return got.Get("notifications")
}

// told is what p is told, a line each: the kind, how many, who, and whether it is read.
func (p person) told(t testing.TB) (lines []string, unread int64) {
	t.Helper()
	got := p.notices(t, 100, "")
	for _, e := range got.Get("edges").Array() {
		n := e.Get("node")
		line := fmt.Sprintf("%s %d %s", n.Get("kind"), n.Get("actorCount").Int(), n.Get("actors.#.handle"))
		if n.Get("isRead").Bool() {
			line += " read"
		}
		lines = append(lines, line)
	}
	return lines, got.Get("unreadCount").Int()
}

// markRead marks what p is told as read, up to a cursor or, with "", all, and gives how many
// lines are left.
func (p person) markRead(t testing.TB, upTo string) int64 {
	t.Helper()
	in := map[string]any{}
	if upTo != "" {
		in["upTo"] = upTo
	}
	got := p.OK(t, `mutation($in: MarkNotificationsReadInput!) { markNotificationsRead(input: $in) { unreadCount viewer { unreadNotificationCount } } }`,
		map[string]any{"in": in}).Get("markNotificationsRead")
	same(t, "two counts of what is unread", got.Get("viewer.unreadNotificationCount").Int(), got.Get("unreadCount").Int())
	return got.Get("unreadCount").Int()
}

// tell brings to notifications what happened since it did so last: a worker begins, and ends
// once it has passed all events.
func (w *world) tell(t testing.TB) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	c := events.NewConsumer(w.DB, w.bell, w.log, notify.Consumer, w.server.told.Consume)
	go func() { ended <- c.Run(ctx) }()
	w.Await(t, `SELECT COUNT(*) = (SELECT COUNT(*) FROM lane) FROM lane l JOIN consumed c ON c.lane = l.lane
		WHERE c.consumer = '`+notify.Consumer+`' AND c.position >= l.seq`)
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// tells holds what p is told against lines, and that so many of them are not read.
func (p person) tells(t testing.TB, unread int64, lines ...string) {
	t.Helper()
	got, n := p.told(t)
	if !slices.Equal(got, lines) || n != unread {
		t.Errorf("told %q, %d unread; want %q, %d", got, n, lines, unread)
	}
}

// Each relation tells the one whom it is about, and nobody else; what is undone is gone.
func TestWhatIsSoIsTold(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 4)
		step := func() { w.Clock.Advance(time.Millisecond) }
		ada, bob, cy, dan := u[0], u[1], u[2], u[3]
		ada.tells(t, 0)
		bob.follow(t, ada)
		step()
		blog := ada.publish(t, "a blog")
		bob.like(t, blog)
		ada.like(t, blog) // tells nobody
		step()
		cy.like(t, blog)
		ada.OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
		step()
		dan.follow(t, ada)
		w.tell(t)
		ada.tells(t, 3, `FOLLOW_REQUESTED 1 ["u4_test"]`, `BLOG_LIKED 2 ["u3_test","u2_test"]`, `FOLLOWED 1 ["u2_test"]`)
		for _, p := range u[1:] {
			p.tells(t, 0)
		}

		step()
		ada.relate(t, "acceptFollowRequest", dan)
		w.tell(t)
		ada.tells(t, 2, `BLOG_LIKED 2 ["u3_test","u2_test"]`, `FOLLOWED 1 ["u2_test"]`)
		dan.tells(t, 1, `FOLLOW_ACCEPTED 1 ["u1_test"]`)

		same(t, "left unread", ada.markRead(t, ""), 0)
		ada.tells(t, 0, `BLOG_LIKED 2 ["u3_test","u2_test"] read`, `FOLLOWED 1 ["u2_test"] read`)
		step()
		dan.like(t, blog) // a new line, since the other is read
		bob.unlike(t, blog)
		bob.unfollow(t, ada)
		dan.unfollow(t, ada)
		w.tell(t)
		ada.tells(t, 1, `BLOG_LIKED 1 ["u4_test"]`, `BLOG_LIKED 1 ["u3_test"] read`)
		dan.tells(t, 0)
	})
}

// settleAll has edges and likes match statuses.
func (w *world) settleAll(t testing.TB) {
	t.Helper()
	if err := follow.NewSettler(w.graph, w.log, w.settle).Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Whoever is hidden takes no place of the three who are shown.
func TestWhoIsHiddenTakesNoPlaceInALine(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 7)
		me := u[0]
		blog := me.publish(t, "a blog")
		for _, fan := range u[1:] {
			w.Clock.Advance(time.Millisecond)
			fan.like(t, blog)
		}
		w.tell(t)
		me.tells(t, 1, `BLOG_LIKED 6 ["u7_test","u6_test","u5_test"]`)
		for _, hidden := range u[4:] {
			me.relate(t, "mute", hidden)
		}
		w.tell(t)
		me.tells(t, 1, `BLOG_LIKED 3 ["u4_test","u3_test","u2_test"]`)
	})
}
