package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// shown are those to be seen, latest first.
func (l *toldLine) shown() (peers []social.Peer) {
	for id, b := range l.behind {
		if !b.hidden {
			peers = append(peers, social.Peer{ID: id, Since: b.since})
		}
	}
	slices.SortFunc(peers, func(a, b social.Peer) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(b.ID, a.ID))
	})
	return peers
}

// text is a line as it is to be shown; no other line of its person has the same.
func (l *toldLine) text() string {
	peers := l.shown()
	ids := make([]social.ID, 0, len(peers))
	for _, p := range peers {
		ids = append(ids, p.ID)
	}
	kind := []string{"", "FOLLOWED", "FOLLOW_REQUESTED", "FOLLOW_ACCEPTED", "BLOG_LIKED"}[l.Kind]
	blog := "null"
	if l.Kind == social.BlogLiked {
		blog = fmt.Sprintf(`{"id":%q}`, social.GlobalID(social.BlogNode, l.Subject))
	}
	return fmt.Sprintf(`"kind":%q,"actorCount":%d,"actors":%s,"blog":%s,"isRead":%v,"updatedAt":%q}`, kind, len(peers),
		globalIDs(social.UserNode, ids[:min(3, len(ids))]), blog, l.isRead, peers[0].Since.Time().Format("2006-01-02T15:04:05.000Z"))
}

// toldTo are the lines of a person that show somebody, and how many are not read.
func (m *toldModel) toldTo(who social.ID) (lines map[string]*toldLine, unread int64) {
	lines = map[string]*toldLine{}
	for _, line := range m.lines {
		if line.UserID == who && len(line.shown()) > 0 {
			lines[line.text()] = line
			if !line.isRead {
				unread++
			}
		}
	}
	return lines, unread
}

func (m *toldModel) as(r *rapid.T, who social.ID) person {
	var handle string
	if err := m.world.SQL.Get(&handle, "SELECT handle FROM user WHERE id = ?", who); err != nil {
		r.Fatal(err)
	}
	at := m.server(r)
	s, err := at.accounts.SessionOf(context.Background(), handle)
	if err != nil {
		r.Fatal(err)
	}
	return person{id: who, Client: socialtest.Client{Handler: at.handler, Token: s.Token}}
}

const toldDoc = `query($n: Int, $a: String) {
	viewer { unreadNotificationCount }
	notifications(first: $n, after: $a) {
		unreadCount
		edges { cursor node { id kind actorCount actors { id } blog { id } isRead updatedAt } }
		pageInfo { hasNextPage startCursor endCursor }
	}
}`

func (m *toldModel) look(r *rapid.T) {
	m.rest(r)
	m.compare(r, m.active(r, "who", m.ids))
}

// spot is the place of a line in the list when it was read.
type spot struct {
	cursor string
	at     social.Millis
	id     social.ID
}

// isBehind tells that it is later in the list.
func (p spot) isBehind(q spot) bool { return p.at < q.at || p.at == q.at && p.id < q.id }

// compare holds what somebody is told at rest against the oracle.
func (m *toldModel) compare(r *rapid.T, who social.ID) (spots []spot) {
	got := m.as(r, who).OK(m.t, toldDoc, object{"n": 100})
	want, unread := m.toldTo(who)
	if n := got.Get("notifications.unreadCount").Int(); n != unread || got.Get("viewer.unreadNotificationCount").Int() != n {
		r.Fatalf("%d has %d unread: %s", who, unread, got)
	}
	for _, e := range got.Get("notifications.edges").Array() {
		_, id, err := social.ParseGlobalID("", e.Get("node.id").String())
		text := e.Get("node").Raw[len(`{"id":"",`)+len(e.Get("node.id").String()):]
		line := want[text]
		if err != nil || line == nil || line.id != 0 && line.id != id {
			r.Fatalf("%d is told %s (%v), want %q of %v", who, e, err, slices.Collect(maps.Keys(want)), line)
		}
		delete(want, text)
		line.id = id
		spots = append(spots, spot{e.Get("cursor").String(), line.shown()[0].Since, id})
		if n := len(spots); n > 1 && !spots[n-1].isBehind(spots[n-2]) {
			r.Fatalf("%d is told in no order: %s", who, got)
		}
	}
	if len(want) > 0 {
		r.Fatalf("%d is not told %q but %s", who, slices.Collect(maps.Keys(want)), got)
	}
	m.comparePages(r, who, got.Get("notifications"))
	return spots
}

// comparePages reads the list once more, in small pages, each through any server.
func (m *toldModel) comparePages(r *rapid.T, who social.ID, whole gjson.Result) {
	want := whole.Get("edges").Array()
	after := ""
	for more := true; more; {
		got := m.as(r, who).OK(m.t, toldDoc, object{"n": 3, "a": orNull(after)}).Get("notifications")
		edges := got.Get("edges").Array()
		for i, e := range edges {
			if i >= len(want) || e.Raw != want[i].Raw {
				r.Fatalf("%d pages: %s after %q, want %v", who, got, after, want)
			}
		}
		want = want[len(edges):]
		more, after = got.Get("pageInfo.hasNextPage").Bool(), got.Get("pageInfo.endCursor").String()
		if more != (len(want) > 0) || more && (len(edges) != 3 || after != edges[2].Get("cursor").String()) {
			r.Fatalf("%d pages: %s with %v left", who, got, want)
		}
	}
}

func (m *toldModel) markAll(r *rapid.T) {
	m.rest(r)
	m.mark(r, m.active(r, "reader", m.ids), "", func(*toldLine, spot) bool { return true })
}

// markWhatWasRead reads a page, and marks what is on it, from some line on, when something has
// happened; each thing is told at once, so that it is known which lines grew.
func (m *toldModel) markWhatWasRead(r *rapid.T) {
	m.rest(r)
	who := m.active(r, "reader", m.ids)
	page := m.compare(r, who)
	if len(page) == 0 {
		r.Skip("there is nothing to mark")
	}
	upTo, rests := page[rapid.IntRange(0, min(3, len(page)-1)).Draw(r, "line")], m.rests
	for range rapid.IntRange(0, 3).Draw(r, "happens") {
		rapid.SampledFrom([]func(*rapid.T){
			func(r *rapid.T) { m.likeOf(r, who) }, func(r *rapid.T) { m.likeOf(r, who) }, m.relate, m.relate, m.setStatus, m.tick,
		}).Draw(r, "what")(r)
		m.rest(r)
	}
	if !m.isActive(who) {
		r.Skip("who read is away")
	}
	m.compare(r, who) // which tells the ids of new lines
	m.mark(r, who, upTo.cursor, func(line *toldLine, p spot) bool {
		return line.grown <= rests && !upTo.isBehind(p)
	})
}

// likeOf has somebody like a blog of who is told.
func (m *toldModel) likeOf(r *rapid.T, who social.ID) {
	theirs := slices.DeleteFunc(slices.Clone(m.blogs), func(b modelBlog) bool { return b.author != who })
	if len(theirs) == 0 {
		theirs = m.wrote
	}
	m.likeOne(r, rapid.SampledFrom(theirs).Draw(r, "blog"))
}

// mark marks what somebody is told as read, now and then twice.
func (m *toldModel) mark(r *rapid.T, who social.ID, upTo string, isMarked func(*toldLine, spot) bool) {
	lines, _ := m.toldTo(who)
	for _, line := range lines {
		if isMarked(line, spot{at: line.shown()[0].Since, id: line.id}) {
			line.isRead = true
		}
	}
	_, unread := m.toldTo(who)
	for range rapid.IntRange(1, 2).Draw(r, "times") {
		if n := m.as(r, who).markRead(m.t, upTo); n != unread {
			r.Fatalf("%d marked up to %q: %d are left, want %d", who, upTo, n, unread)
		}
	}
	m.compare(r, who)
}

// checkAll holds what everybody is told against the oracle, and the rows, once those of people
// who are deleted have gone.
func (m *toldModel) checkAll(r *rapid.T) {
	m.rest(r)
	if err := m.server(r).told.Trim(context.Background()); err != nil {
		r.Fatal(err)
	}
	for _, who := range m.ids {
		if m.isActive(who) {
			m.compare(r, who)
		}
		m.checkRows(r, who)
	}
	for what, query := range map[string]string{
		"a wrong number of actors": `SELECT COUNT(*) FROM notification n WHERE n.actor_count <> (SELECT COUNT(*)
			FROM notification_actor a WHERE a.user_id = n.user_id AND a.notification_id = n.id AND a.hidden = 0)`,
		"a line wrongly shown": `SELECT COUNT(*) FROM notification WHERE (shown = 1) <> (actor_count > 0)`,
		"an actor of no line": `SELECT COUNT(*) FROM notification_actor a LEFT JOIN notification n ON n.user_id = a.user_id
			AND n.id = a.notification_id AND n.kind = a.kind AND n.subject = a.subject WHERE n.id IS NULL`,
		"a wrong number of lines": `SELECT COUNT(*) FROM notification_list l WHERE l.line_count <> (SELECT COUNT(*)
			FROM notification n WHERE n.user_id = l.user_id)`,
		"a line of somebody deleted":     `SELECT COUNT(*) FROM notification n JOIN user u ON u.id = n.user_id WHERE u.status = 2`,
		"somebody deleted behind a line": `SELECT COUNT(*) FROM notification_actor a JOIN user u ON u.id = a.actor_id WHERE u.status = 2`,
		"a version ahead of its list": `SELECT COUNT(*) FROM notification n JOIN notification_list l ON l.user_id = n.user_id
			WHERE n.grown > n.version OR n.version > l.version OR l.read_version > l.version`,
	} {
		if n := m.world.Int(m.t, query); n != 0 {
			r.Fatalf("%s: %d times", what, n)
		}
	}
}

// checkRows holds who is behind somebody's lines against the oracle, also who is hidden there.
func (m *toldModel) checkRows(r *rapid.T, who social.ID) {
	var rows []db.NotificationActor
	err := m.world.SQL.Select(&rows, `SELECT user_id, kind, subject, actor_id, notification_id, since, hidden FROM notification_actor WHERE user_id = ?`, who)
	if err != nil {
		r.Fatal(err)
	}
	got, want := map[db.NotificationCause]behind{}, map[db.NotificationCause]behind{}
	for _, a := range rows {
		c := db.NotificationCause{NotificationSubject: a.NotificationSubject, ActorID: a.ActorID}
		got[c] = behind{a.Since, a.Hidden}
		if line := m.of[c]; line != nil && line.id != 0 && line.id != a.LineID {
			r.Fatalf("%+v is behind %d, want %d", c, a.LineID, line.id)
		}
	}
	for c, line := range m.of {
		if c.UserID == who {
			want[c] = line.behind[c.ActorID]
		}
	}
	if !maps.Equal(got, want) {
		r.Fatalf("behind the lines of %d are %v, want %v", who, got, want)
	}
}
