package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// relation is how an actor and somebody around them stand to each other, beside follows.
type relation struct {
	muted, blocked bool // by the actor
	asks, follows  bool // the actor, who is private
}

// step is one mutation of the actor's about somebody around them.
type step struct {
	field string
	who   int
	then  func(x *author)
}

// relate does all mutations of relations that end or answer something, each alone in one of
// five times, so that none profits from another that brings the same to the caches, and
// else some in one request with one reading after it, which takes less than half of the
// time.
func (a *actor) relate() {
	muted, asking := rand.IntN(len(a.authors)), rand.IntN(len(a.authors))
	blocked := (asking + 1 + rand.IntN(2)) % len(a.authors) // who is blocked cannot ask
	mute := step{"mute", muted, func(x *author) { x.muted = true }}
	unmute := step{"unmute", muted, func(x *author) { x.muted = false }}
	accept := step{"acceptFollowRequest", asking, func(x *author) { x.asks, x.follows = false, true }}
	remove := step{"removeFollower", asking, func(x *author) { x.follows = false }}
	reject := step{"rejectFollowRequest", asking, func(x *author) { x.asks = false }}
	block := step{"block", blocked, func(x *author) { x.blocked, x.followed = true, false }}
	unblock := step{"unblock", blocked, func(x *author) { x.blocked = false }}
	requests := [][]step{{mute}, {accept}, {unmute}, {remove}, {block}, {unblock}, {reject}}
	if rand.IntN(5) > 0 {
		requests = [][]step{{mute, accept}, {unmute, remove, block}, {unblock, reject}}
	}
	for _, steps := range requests {
		if slices.ContainsFunc(steps, func(s step) bool { return isOf(s.field, "acceptFollowRequest", "rejectFollowRequest") }) {
			a.isAsked(asking)
		}
		a.take(steps)
	}
}

// isAsked lets somebody ask to follow the actor.
func (a *actor) isAsked(who int) {
	x := &a.authors[who]
	a.send(x.ask, `mutation($u: ID!) { follow(input: {userId: $u}) { state } }`, object{"u": a.gid}, "follow")
	x.asks = true
}

// take sends the steps in one request and reads what they have left.
func (a *actor) take(steps []step) {
	var doc, args strings.Builder
	var fields []string
	vars := object{}
	for i, s := range steps {
		fmt.Fprintf(&args, "$u%d: ID! ", i)
		fmt.Fprintf(&doc, "%s(input: {userId: $u%d}) { userId } ", s.field, i)
		fields = append(fields, s.field)
		vars[fmt.Sprint("u", i)] = a.authors[s.who].gid
	}
	_, reader := a.send(a.ask, "mutation("+args.String()+") { "+doc.String()+"}", vars, fields...)
	a.tally.answered.Add(1)
	a.tally.mutations.Add(int64(len(steps)))
	for _, s := range steps {
		s.then(&a.authors[s.who])
	}
	a.look(reader, fields, steps[len(steps)-1].who)
}

// followTwo follows two by one mutation.
func (a *actor) followTwo() {
	i := rand.IntN(len(a.authors))
	k := (i + 1) % len(a.authors)
	_, reader := a.write("followMany", `mutation($u: [ID!]!) { followMany(input: {userIds: $u}) { results { state } } }`,
		object{"u": []string{a.authors[i].gid, a.authors[k].gid}})
	a.authors[i].followed, a.authors[k].followed = true, true
	a.look(reader, []string{"followMany"}, k)
}

// look reads all that the actor knows of relations, and of one of those around them; of the
// lists that the actor alone sees those that these mutations move.
func (a *actor) look(server int, after []string, who int) {
	var feed, following, followers, asking, blocked, muted []string
	for _, x := range a.authors {
		if x.followed {
			following = append(following, x.gid)
			if !x.muted {
				feed = append(feed, x.blogs...)
			}
		}
		for list, isIn := range map[*[]string]bool{&followers: x.follows, &asking: x.asks, &blocked: x.blocked, &muted: x.muted} {
			if isIn {
				*list = append(*list, x.gid)
			}
		}
	}
	newestFirst(feed)
	slices.Sort(following)
	list := func(ids []string) string { return fmt.Sprintf(`{"totalCount":%d,"nodes":%s}`, len(ids), nodes(ids)) }
	var doc, want string
	for _, own := range []struct {
		name, movedBy, alsoBy string
		ids                   []string
	}{
		{"followRequests", "acceptFollowRequest", "rejectFollowRequest", asking},
		{"blockedUsers", "block", "unblock", blocked},
		{"mutedUsers", "mute", "unmute", muted},
	} {
		if isOf(own.movedBy, after...) || isOf(own.alsoBy, after...) {
			doc += own.name + " { totalCount nodes { id } } "
			want += fmt.Sprintf("%q:%s,", own.name, list(own.ids))
		}
	}
	x := a.authors[who]
	var theirs []string // followers
	if x.followed {
		theirs = []string{a.gid}
	}
	a.read(server, strings.Join(after, ", "), `query($u: ID!) {
		viewer { followingCount following { totalCount nodes { id } } followerCount followers { totalCount nodes { id } } } `+doc+`
		node(id: $u) { ... on User { viewerIsFollowing isFollowingViewer viewerIsBlocking viewerIsMuting viewerCanFollow followerCount followers { totalCount nodes { id } } } }
		followFeed(first: 40) { nodes { id } } }`, object{"u": x.gid}, fmt.Sprintf(
		`{"viewer":{"followingCount":%d,"following":%s,"followerCount":%d,"followers":%s},%s`+
			`"node":{"viewerIsFollowing":%t,"isFollowingViewer":%t,"viewerIsBlocking":%t,"viewerIsMuting":%t,"viewerCanFollow":%t,"followerCount":%d,"followers":%s},`+
			`"followFeed":{"nodes":%s}}`,
		len(following), list(following), len(followers), list(followers), want,
		x.followed, x.follows, x.blocked, x.muted, !x.followed && !x.blocked, len(theirs), list(theirs), nodes(feed)))
}
