package main

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kith/db"
	"kith/events"
	"kith/social"
)

// notificationOperations is how many random operations there are, 5,000 in all: a third of them
// read a list to its end, or mark it.
func notificationOperations(t *testing.T) int {
	if path.Base(t.Name()) == "mysql" {
		return 2000
	}
	return 3000
}

// The model test of notifications: random people follow, block, mute, like, publish and delete,
// operators suspend, restore and delete people, and the events of it all reach notifications
// late, in any order, some of them twice and some of them again much later, in pieces, through
// any server, now and then two at once or while somebody acts. Whenever all have come, what a
// person is told equals a plain map, as one page and page by page; and so it does when they
// have marked all of it, or what they had read before some of it grew. At the end the rows do,
// too: those of people who see nothing now, and who is hidden in them.
func TestNotificationsEqualTheOracle(t *testing.T) {
	rapidly(t)
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		c := &cachedWorld{world: w, t: t, servers: []*server{w.server}}
		if w.IsMySQL() {
			c.servers = append(c.servers, wiredServer(t, w.Store, 3))
		}
		operations, people := 0, 0
		check := func(r *rapid.T) {
			if operations >= notificationOperations(t) {
				return
			}
			m := beginTold(r, &model{stage: stage{t: t, world: c}, bonds: newBonds(), clock: w.Clock, people: &people, late: map[social.ID]bool{}})
			actions := map[string]func(*rapid.T){
				"deliver": m.deliver, "deliver again": m.deliver, "look": m.look, "mark": m.markAll, "mark what was read": m.markWhatWasRead,
				"publish": m.publish, "delete": m.delete, "status": m.setStatus, "privacy": m.setPrivacy, "clock": m.tick,
			}
			for _, again := range []string{"", " again", " once more", " and on"} {
				actions["relate"+again], actions["like"+again] = m.relate, m.like
			}
			for name, act := range actions {
				actions[name] = func(r *rapid.T) { act(r); operations++ } // but for one that is skipped
			}
			r.Repeat(actions)
			m.checkAll(r)
		}
		for operations < notificationOperations(t) && !t.Failed() {
			checkApart(t, check)
		}
		t.Logf("%d operations of %d people", operations, people)
	})
}

// toldModel is the oracle: what stands, as of the last time that all events had come, and
// behind which line it is.
type toldModel struct {
	*model
	wrote []modelBlog // also those that are deleted
	likes map[social.Pair]social.Millis
	// began is since when causes were so the last time: one that begins anew in the same
	// millisecond nobody tells from the one before.
	began map[db.NotificationCause]social.Millis

	lines []*toldLine
	of    map[db.NotificationCause]*toldLine
	rests int // how often all events had come

	pending, old []events.Event
}

// toldLine is a line, or the beginning of one that shows nobody.
type toldLine struct {
	social.NotificationSubject
	id     social.ID // once it was seen
	isRead bool
	behind map[social.ID]behind
	grown  int // the rest at which somebody to be seen was added last
}

// behind is somebody behind a line.
type behind struct {
	since  social.Millis
	hidden bool
}

func beginTold(r *rapid.T, base *model) *toldModel {
	m := &toldModel{
		model: base, likes: map[social.Pair]social.Millis{},
		began: map[db.NotificationCause]social.Millis{}, of: map[db.NotificationCause]*toldLine{},
	}
	m.clock.Advance(time.Millisecond)
	for range 6 {
		m.signUp(r)
	}
	for range 5 {
		m.publish(r)
	}
	return m
}

func (m *toldModel) publish(r *rapid.T) {
	if len(m.blogs) >= 8 {
		r.Skip("enough blogs")
	}
	m.model.publish(r)
	m.wrote = append(m.wrote, m.blogs[len(m.blogs)-1])
}

func (m *toldModel) delete(r *rapid.T) {
	if len(m.blogs) < 4 || rapid.Bool().Draw(r, "rarely") {
		r.Skip("few blogs")
	}
	m.model.delete(r)
}

func (m *toldModel) setStatus(r *rapid.T) {
	m.model.setStatus(r)
	if rapid.Bool().Draw(r, "settled at once") {
		m.settleStatuses(r)
	}
}

func (m *toldModel) tick(r *rapid.T) {
	m.clock.Advance(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Millisecond, time.Second}).Draw(r, "step"))
}

// relate does a mutation about another person.
func (m *toldModel) relate(r *rapid.T) {
	m.settleStatuses(r)
	verb := rapid.SampledFrom(verbs).Draw(r, "verb")
	p := m.pairFor(r, verb, m.ids)
	for _, e := range []social.Edge{
		{Pair: p, State: social.Following}, {Pair: p, State: social.Requested}, {Pair: p.Reversed(), State: social.Following, Accepted: true},
	} {
		if m.began[causeOf(e)] == m.clock.NowMS() {
			m.clock.Advance(time.Millisecond)
		}
	}
	before := maps.Clone(m.edges)
	m.call(r, m.server(r).graph, verb, p)
	for _, p := range []social.Pair{p, p.Reversed()} {
		e := m.edges[p]
		if e == before[p] {
			continue
		}
		e.Accepted = verb == "acceptFollowRequest"
		m.edges[p] = e
		if e.State != social.NotFollowing {
			m.began[causeOf(e)] = e.Since
		}
	}
}

// causeOf is what an edge is told as.
func causeOf(e social.Edge) db.NotificationCause {
	told, kind, by := e.TargetID, social.Followed, e.UserID
	switch {
	case e.State == social.Requested:
		kind = social.FollowRequested
	case e.Accepted:
		told, kind, by = e.UserID, social.FollowAccepted, e.TargetID
	}
	return db.NotificationCause{NotificationSubject: social.NotificationSubject{UserID: told, Kind: kind, Subject: by}, ActorID: by}
}

func likeCause(b modelBlog, by social.ID) db.NotificationCause {
	return db.NotificationCause{NotificationSubject: social.NotificationSubject{UserID: b.author, Kind: social.BlogLiked, Subject: b.id}, ActorID: by}
}

// like has somebody like a blog or, less often, end that they do.
func (m *toldModel) like(r *rapid.T) {
	m.likeOne(r, rapid.SampledFrom(slices.Concat(m.blogs, m.blogs, m.wrote)).Draw(r, "blog"))
}

func (m *toldModel) likeOne(r *rapid.T, b modelBlog) {
	m.settleStatuses(r)
	p := social.Pair{UserID: m.active(r, "liker", m.ids), TargetID: b.id}
	unlike := rapid.IntRange(0, 3).Draw(r, "unlike") == 0
	likes := m.server(r).likes
	since, known := m.likes[p]
	sees := slices.Contains(m.blogs, b) && m.see(p.UserID, b.author) == social.Everything
	refused, want := !sees && (!unlike || !known), (since > 0) == unlike
	var changed bool
	var err error
	if unlike {
		changed, err = likes.Unlike(context.Background(), p.UserID, p.TargetID)
	} else {
		for m.began[likeCause(b, p.UserID)] >= max(m.clock.NowMS(), b.id.Time()) {
			m.clock.Advance(time.Millisecond)
		}
		changed, err = likes.Like(context.Background(), p.UserID, p.TargetID)
	}
	if refused != (refusal(err) == social.NotFound) || !refused && (err != nil || changed != want) {
		r.Fatalf("like of %v (unlike: %v): %v, %v; want %v, refused: %v", p, unlike, changed, err, want, refused)
	}
	switch {
	case !changed:
	case unlike:
		m.likes[p] = 0
	default:
		m.likes[p] = max(m.clock.NowMS(), b.id.Time())
		m.began[likeCause(b, p.UserID)] = m.likes[p]
	}
}

// standing is all that is so now, since when, and whether it is hidden from who is told.
func (m *toldModel) standing() map[db.NotificationCause]behind {
	stands := map[db.NotificationCause]behind{}
	for _, e := range m.edges {
		if e.State != social.NotFollowing {
			c := causeOf(e)
			// A request stands as it did while who is asked is away.
			isAway := e.State == social.Following && !m.isActive(c.UserID)
			stands[c] = behind{e.Since, isAway || m.isHidden(c)}
		}
	}
	for _, b := range m.blogs {
		for _, liker := range m.ids {
			c := likeCause(b, liker)
			if since := m.likes[social.Pair{UserID: liker, TargetID: b.id}]; since > 0 && liker != b.author {
				stands[c] = behind{since, m.isHidden(c)}
			}
		}
	}
	return stands
}

func (m *toldModel) isHidden(c db.NotificationCause) bool {
	p := social.Pair{UserID: c.UserID, TargetID: c.ActorID}
	return !m.isActive(c.ActorID) || has(m.blocks, p) || has(m.blocks, p.Reversed()) || has(m.mutes, p)
}

// rest has all events come, and brings the oracle's lines to what is so then.
func (m *toldModel) rest(r *rapid.T) {
	m.settleStatuses(r)
	m.fetch(r)
	m.hand(r, len(m.pending), nil)
	m.rests++
	stands := m.standing()
	for c, line := range m.of {
		if is, ok := stands[c]; !ok || is.since != line.behind[c.ActorID].since {
			delete(line.behind, c.ActorID)
			delete(m.of, c)
		}
	}
	for c, is := range stands {
		line, isTold := m.of[c]
		if !isTold {
			line = m.unreadLine(c.NotificationSubject)
		}
		if !is.hidden && (!isTold || line.behind[c.ActorID].hidden) {
			line.grown = m.rests
		}
		m.of[c], line.behind[c.ActorID] = line, is
	}
}

func (m *toldModel) unreadLine(s social.NotificationSubject) *toldLine {
	for _, line := range m.lines {
		if line.NotificationSubject == s && !line.isRead {
			return line
		}
	}
	line := &toldLine{NotificationSubject: s, behind: map[social.ID]behind{}}
	m.lines = append(m.lines, line)
	return line
}

// fetch takes what events there are out of the outbox.
func (m *toldModel) fetch(r *rapid.T) {
	var rows []db.StoredEvent
	if err := m.world.SQL.Select(&rows, "SELECT lane, seq, kind, body, created_at FROM outbox ORDER BY lane, seq"); err != nil {
		r.Fatal(err)
	}
	m.world.Exec(m.t, "DELETE FROM outbox")
	for _, row := range rows {
		body, known := map[social.EventKind]func(string) (any, error){
			social.FollowEvent: bodyOf[social.FollowBody], social.LikeEvent: bodyOf[social.LikeBody],
			social.BlogEvent: bodyOf[social.BlogBody], social.UserEvent: bodyOf[social.UserBody],
		}[row.Kind]
		if !known {
			continue
		}
		e := events.Event{Lane: row.Lane, Seq: row.Seq, At: row.CreatedAt, Event: social.Event{Kind: row.Kind}}
		var err error
		if e.Body, err = body(row.Body); err != nil {
			r.Fatal(err)
		}
		m.pending = append(m.pending, e)
	}
}

func bodyOf[T any](text string) (any, error) {
	var b T
	err := json.Unmarshal([]byte(text), &b)
	return b, err
}

// deliver hands on some events, now and then while somebody acts.
func (m *toldModel) deliver(r *rapid.T) {
	m.fetch(r)
	n := rapid.IntRange(0, len(m.pending)).Draw(r, "events")
	m.hand(r, n, rapid.SampledFrom([]func(*rapid.T){nil, nil, m.relate, m.like}).Draw(r, "meanwhile"))
}

// hand hands n of the events on, in any order, with some that come again, in pieces, and does
// something meanwhile.
func (m *toldModel) hand(r *rapid.T, n int, meanwhile func(*rapid.T)) {
	order := make([]int, len(m.pending))
	for i := range order {
		order[i] = i
	}
	var evs, left []events.Event
	for i, at := range rapid.Permutation(order).Draw(r, "order") {
		if i < n {
			evs = append(evs, m.pending[at])
		} else {
			left = append(left, m.pending[at])
		}
	}
	m.pending, m.old = left, append(m.old, evs...)
	for range rapid.IntRange(0, 3).Draw(r, "come again") {
		if len(m.old) > 0 {
			again := m.old[len(m.old)-1-rapid.IntRange(0, len(m.old)-1).Draw(r, "how old")]
			evs = slices.Insert(evs, rapid.IntRange(0, len(evs)).Draw(r, "where"), again)
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	errs := [2]error{}
	for i, jobs := range m.pieces(r, evs) {
		all.Go(func() {
			for _, job := range jobs {
				errs[i] = cmp.Or(errs[i], job())
			}
		})
	}
	if meanwhile != nil {
		meanwhile(r)
	}
	all.Wait()
	if err := cmp.Or(errs[:]...); err != nil {
		r.Fatal(err)
	}
}

// pieces cuts events up for servers, and mostly for one at a time.
func (m *toldModel) pieces(r *rapid.T, evs []events.Event) (jobs [2][]func() error) {
	most := rapid.IntRange(0, 3).Draw(r, "at once") / 3
	for len(evs) > 0 {
		n := rapid.IntRange(1, min(8, len(evs))).Draw(r, "piece")
		told, piece := m.server(r).told, evs[:n]
		i := rapid.IntRange(0, most).Draw(r, "by which")
		jobs[i] = append(jobs[i], func() error { return told.Consume(context.Background(), piece) })
		evs = evs[n:]
	}
	return jobs
}
