package main

import (
	"context"
	"slices"

	"pgregory.net/rapid"

	"kith/account"
	"kith/follow"
	"kith/social"
)

// verbs are mutations about another person, some more often than others: a feed of which
// everybody is blocked or has only asked to follow shows little.
var verbs = []string{
	"follow", "follow", "follow", "follow", "unfollow", "unfollow", "mute", "mute", "unmute", "unmute", "block", "unblock", "unblock",
	"acceptFollowRequest", "acceptFollowRequest", "acceptFollowRequest", "rejectFollowRequest", "removeFollower",
}

// pairFor draws who does the mutation, and about whom: mostly two of whom it changes
// something.
func (b *bonds) pairFor(r *rapid.T, verb string, people []social.ID) social.Pair {
	if ripe := b.ripe(verb); len(ripe) > 0 && rapid.IntRange(0, 3).Draw(r, "blindly") > 0 {
		return rapid.SampledFrom(ripe).Draw(r, "pair")
	}
	return social.Pair{UserID: rapid.SampledFrom(people).Draw(r, "viewer"), TargetID: rapid.SampledFrom(people).Draw(r, "other")}
}

func (m *model) follow(r *rapid.T) { m.relate(r, "follow") }

func (m *model) relateAny(r *rapid.T) { m.relate(r, rapid.SampledFrom(verbs).Draw(r, "verb")) }

func (m *model) relate(r *rapid.T, verb string) {
	m.settleStatuses(r)
	p := m.pairFor(r, verb, m.ids)
	m.call(r, m.server(r).graph, verb, p)
}

// call does one mutation, and holds what it answers against the oracle.
func (m *model) call(r *rapid.T, g *follow.Graph, verb string, p social.Pair) {
	ctx := context.Background()
	changed, refused := m.do(verb, p.UserID, p.TargetID, social.Millis(m.clock.Now().UnixMilli()))
	got := follow.Result{State: m.edges[p].State, Changed: changed} // which only two of them tell
	var err error
	switch verb {
	case "follow":
		got, err = g.Follow(ctx, p.UserID, p.TargetID)
	case "unfollow":
		got, err = g.Unfollow(ctx, p.UserID, p.TargetID)
	default:
		err = map[string]func(context.Context, social.ID, social.ID) error{
			"removeFollower": g.RemoveFollower, "acceptFollowRequest": g.Accept, "rejectFollowRequest": g.Reject,
			"block": g.Block, "unblock": g.Unblock, "mute": g.Mute, "unmute": g.Unmute,
		}[verb](ctx, p.UserID, p.TargetID)
	}
	isWrong := err == nil && (got.Changed != changed || got.State != m.edges[p].State)
	if refusal(err) != refused || err != nil && refused == "" || isWrong {
		r.Fatalf("%s %v: %+v, %v; want %v, refused by %q", verb, p, got, err, changed, refused)
	}
}

// relateDying is a mutation through a server that dies between its commit and what it owes
// the caches: nobody got an answer. Whoever repeats it through another gets one, and must
// see it.
func (m *model) relateDying(r *rapid.T) {
	m.settleStatuses(r)
	verb := rapid.SampledFrom(verbs).Draw(r, "verb")
	p := m.pairFor(r, verb, m.ids)
	s := m.server(r)
	m.call(r, follow.New(s.store.db, m.clock.Now, follow.Config{}), verb, p)
	m.call(r, s.graph, verb, p)
}

// followMany names some people twice, and the viewer now and then.
func (m *model) followMany(r *rapid.T) {
	m.settleStatuses(r)
	viewer := m.person(r, "viewer")
	targets := rapid.SliceOfN(rapid.SampledFrom(m.ids), 1, 10).Draw(r, "targets")
	got, err := m.server(r).graph.FollowMany(context.Background(), viewer, targets)
	if err != nil {
		r.Fatal(err)
	}
	seen := map[social.ID]bool{}
	for _, target := range targets {
		if seen[target] {
			continue
		}
		if len(got) == 0 {
			r.Fatalf("%d follows %v: no result for %d", viewer, targets, target)
		}
		seen[target] = true
		changed, refused := m.do("follow", viewer, target, social.Millis(m.clock.Now().UnixMilli()))
		one := got[0]
		got = got[1:]
		isWrong := refused == "" && (one.Changed != changed || one.State != m.edges[social.Pair{UserID: viewer, TargetID: target}].State)
		if one.Target != target || refusal(one.Err) != refused || isWrong {
			r.Fatalf("%d follows %v: %+v; want %d, %v, refused by %q", viewer, targets, one, target, changed, refused)
		}
	}
	if len(got) > 0 {
		r.Fatalf("%d follows %v: results beyond: %v", viewer, targets, got)
	}
}

// setPrivacy lets somebody approve their followers, or no more; less often than not, so
// that most follow at once.
func (m *model) setPrivacy(r *rapid.T) {
	who, to := m.active(r, "who", m.ids), rapid.IntRange(0, 3).Draw(r, "private") == 0
	if err := m.server(r).accounts.UpdateProfile(context.Background(), who, account.ProfilePatch{IsPrivate: &to}); err != nil {
		r.Fatal(err)
	}
	m.private[who] = to
}

// setStatus suspends, restores or deletes somebody, as an operator does. Whoever is away is
// in no feed at once; their edges may be made to match later.
func (m *model) setStatus(r *rapid.T) {
	if rapid.Bool().Draw(r, "rarely") {
		return
	}
	who, to := m.otherStatus(r, m.ids)
	m.world.setStatusOf(r, who, to)
	m.isUnsettled = true
	m.bonds.setStatus(who, to, social.Millis(m.clock.Now().UnixMilli()))
	if to == social.Deleted {
		isTheirs := func(s *session) bool { return s.viewer == who }
		m.sessions = slices.DeleteFunc(m.sessions, isTheirs)
		m.blogs = slices.DeleteFunc(m.blogs, func(b modelBlog) bool { return b.author == who })
		m.ids = slices.DeleteFunc(m.ids, func(id social.ID) bool { return id == who })
	}
}

// setStatusOf does what an operator's command does.
func (w *cachedWorld) setStatusOf(r *rapid.T, who social.ID, to social.UserStatus) {
	var handle string
	if err := w.SQL.Get(&handle, "SELECT handle FROM user WHERE id = ?", who); err != nil {
		r.Fatal(err)
	}
	if changed, err := account.SetStatus(context.Background(), w.DB, w.Clock.Now, handle, to); err != nil || !changed {
		r.Fatalf("%s to %v: changed %v, %v", handle, to, changed, err)
	}
}

// settleStatuses has edges match statuses before anything is done about them, whether or not
// a worker came first: what a mutation changes of an edge that is half settled nobody knows.
func (m *model) settleStatuses(r *rapid.T) {
	if m.isUnsettled {
		m.world.settle(r, m.server(r))
		m.isUnsettled = false
	}
}

// settle has edges match statuses. Nobody needs to be looked at again, as workers else do for
// ten seconds: it waits for those workers whose transaction may have read a status of before,
// which hold the actor of each edge that they will write.
func (w *cachedWorld) settle(r *rapid.T, s *server) {
	w.Exec(w.t, "UPDATE actor SET graph_version = graph_version")
	if err := follow.NewSettler(s.graph, s.log, s.settle).Settle(context.Background()); err != nil {
		r.Fatal(err)
	}
	w.Exec(w.t, "DELETE FROM settling")
}
