package like

import (
	"fmt"
	"slices"
	"testing"

	"kith/db"
	"kith/social"
)

const (
	liked, notLiked, hiddenLike = social.Liked, social.NotLiked, social.HiddenLike

	now = social.Epoch + 1000
	// old is a blog of before now, of person 2; young one whose maker's clock is ahead.
	old, young = social.ID(100), social.ID(2000<<22 + 1)
	deleted    = social.ID(101) // also of 2
	private    = social.ID(103) // of 3, whom 1 does not follow, and 4 does
	blocking   = social.ID(105) // of 5, who blocks 1
	blocked    = social.ID(106) // of 6, whom 1 blocks
	gone       = social.ID(107) // of 7, who is not active
)

func call(who, blog social.ID, v verb) *change {
	return &change{pair: social.Pair{UserID: who, TargetID: blog}, verb: v}
}

func likeOf(who, blog social.ID, state social.LikeState, since social.Millis) social.Like {
	return social.Like{Pair: social.Pair{UserID: who, TargetID: blog}, State: state, Since: since}
}

// world is a state in which people 1 to 6 are active, of 1 to 9, whose versions are 100.
func world(likes ...social.Like) state {
	s := state{
		actors: map[social.ID]*db.Actor{}, likes: map[social.Pair]social.Like{}, people: map[social.ID]bool{},
		blogs: map[social.ID]db.Authorship{
			old: {AuthorID: 2}, young: {AuthorID: 2}, deleted: {AuthorID: 2, Deleted: true}, private: {AuthorID: 3},
			blocking: {AuthorID: 5}, blocked: {AuthorID: 6}, gone: {AuthorID: 7},
		},
		walls: db.Walls{
			Private: map[social.ID]bool{3: true},
			Blocks:  map[social.Pair]bool{{UserID: 5, TargetID: 1}: true, {UserID: 1, TargetID: 6}: true},
		},
		edges: map[social.Pair]social.Edge{
			{UserID: 4, TargetID: 3}: {State: social.Following}, {UserID: 2, TargetID: 3}: {State: social.Requested}, {UserID: 5, TargetID: 3}: {State: social.Hidden},
		},
	}
	for id := social.ID(1); id <= 9; id++ {
		s.actors[id] = &db.Actor{UserID: id, LikeVersion: 100}
		s.people[id] = id <= 6
	}
	for _, l := range likes {
		s.likes[l.Pair] = l
	}
	return s
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func answer(c *change) string {
	for _, code := range []social.Code{social.NotFound, social.Unauthenticated} {
		if social.HasCode(c.err, code) {
			return string(code)
		}
	}
	if c.err != nil {
		return c.err.Error()
	}
	text := map[social.LikeState]string{liked: "liked", notLiked: "not liked", hiddenLike: "hidden"}[c.state]
	if !c.changed {
		text += ", unchanged"
	}
	return text
}

// Each call in a batch of its own, on the like as it was before.
func TestEachCallDecidesOnTheLikeBeforeIt(t *testing.T) {
	t.Parallel()
	const before = now - 500
	for _, c := range []struct {
		what      string
		who, blog social.ID
		was       social.LikeState // -1: it never was
		verb      verb
		answer    string
		likes     int64 // by how much the blog's likes move
	}{
		{"like", 1, old, -1, toLike, "liked", 1},
		{"like again", 1, old, liked, toLike, "liked, unchanged", 0},
		{"like after an unlike", 1, old, notLiked, toLike, "liked", 1},
		{"unlike", 1, old, liked, toUnlike, "not liked", -1},
		{"unlike again", 1, old, notLiked, toUnlike, "not liked, unchanged", 0},
		{"unlike what was never liked", 1, old, -1, toUnlike, "not liked, unchanged", 0},
		{"like one's own", 2, old, -1, toLike, "liked", 1},
		{"like a blog of a clock ahead", 1, young, -1, toLike, "liked", 1},
		{"like what never was", 1, 999, -1, toLike, "NOT_FOUND", 0},
		{"unlike what never was", 1, 999, -1, toUnlike, "NOT_FOUND", 0},
		{"like what is deleted", 1, deleted, -1, toLike, "NOT_FOUND", 0},
		{"like again what is deleted", 1, deleted, liked, toLike, "NOT_FOUND", 0},
		{"unlike what is deleted", 1, deleted, liked, toUnlike, "not liked", -1},
		{"unlike again what is deleted", 1, deleted, notLiked, toUnlike, "not liked, unchanged", 0},
		{"unlike what is deleted and was never liked", 1, deleted, -1, toUnlike, "NOT_FOUND", 0},
		{"like of somebody private", 1, private, -1, toLike, "NOT_FOUND", 0},
		{"like of somebody private whom one asked", 2, private, -1, toLike, "NOT_FOUND", 0},
		{"like of somebody private, the follow hidden", 5, private, -1, toLike, "NOT_FOUND", 0},
		{"like of somebody private whom one follows", 4, private, -1, toLike, "liked", 1},
		{"like of oneself, private", 3, private, -1, toLike, "liked", 1},
		{"unlike of somebody private since", 1, private, liked, toUnlike, "not liked", -1},
		{"like of who blocks one", 1, blocking, -1, toLike, "NOT_FOUND", 0},
		{"unlike of who blocks one", 1, blocking, -1, toUnlike, "NOT_FOUND", 0},
		{"unlike of who blocks one since", 1, blocking, liked, toUnlike, "not liked", -1},
		{"like of whom one blocks", 1, blocked, -1, toLike, "NOT_FOUND", 0},
		{"like again of whom one blocks", 1, blocked, liked, toLike, "NOT_FOUND", 0},
		{"unlike of whom one blocks", 1, blocked, liked, toUnlike, "not liked", -1},
		{"like of who is not active", 1, gone, -1, toLike, "NOT_FOUND", 0},
		{"unlike of who is not active", 1, gone, liked, toUnlike, "not liked", -1},
		{"like by who is not active", 8, old, -1, toLike, "UNAUTHENTICATED", 0},
		{"unlike by who is not active", 8, old, hiddenLike, toUnlike, "UNAUTHENTICATED", 0},
		{"like by nobody", 77, old, -1, toLike, "UNAUTHENTICATED", 0},
		{"unlike a hidden one", 1, old, hiddenLike, toUnlike, "not liked", 0},
		{"like a hidden one", 1, old, hiddenLike, toLike, "liked", 1},
	} {
		s := world()
		pair := social.Pair{UserID: c.who, TargetID: c.blog}
		if c.was >= 0 {
			s.likes[pair] = likeOf(c.who, c.blog, c.was, before)
		}
		ch := call(c.who, c.blog, c.verb)
		o := decide([]*change{ch}, s, now)
		same(t, c.what, answer(ch), c.answer)
		if !ch.changed {
			same(t, c.what+" writes", o, outcome{})
			if ch.err == nil {
				same(t, c.what+" tells the version", ch.version, 100)
			}
			continue
		}
		since := max(now, c.blog.Time())
		if c.was == hiddenLike && c.verb == toLike {
			since = before // it stood all the time
		}
		after := likeOf(c.who, c.blog, ch.state, since)
		same(t, c.what+" writes", o.likes, []social.Like{after})
		same(t, c.what+" moves", *o.actors[0], db.Actor{UserID: c.who, LikeVersion: 101})
		same(t, c.what+" tells", o.events, []social.LikeChange{{UserID: c.who, BlogID: c.blog, State: ch.state, Since: since, Version: 101}})
		same(t, c.what+" answers", ch.call(), social.LikeCall{LikeChange: o.events[0], Changed: true})
		want := db.LikeCountChange{BlogID: c.blog, Likes: c.likes}
		switch c.likes {
		case -1:
			want.Warmth.Add(before, -1)
		case 1:
			want.Warmth.Add(since, 1)
		}
		same(t, c.what+" counts", o.counts, []db.LikeCountChange{want})
	}
}

func TestLikesAreSettledByTheStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was    social.LikeState
		status social.UserStatus
		answer string
		likes  int64
	}{
		{liked, social.Active, "liked, unchanged", 0}, {liked, social.Suspended, "hidden", -1}, {liked, social.Deleted, "not liked", -1},
		{hiddenLike, social.Active, "liked", 1}, {hiddenLike, social.Suspended, "hidden, unchanged", 0}, {hiddenLike, social.Deleted, "not liked", 0},
		{notLiked, social.Active, "not liked, unchanged", 0}, {notLiked, social.Suspended, "not liked, unchanged", 0}, {notLiked, social.Deleted, "not liked, unchanged", 0},
	} {
		for _, who := range []social.ID{1, 8} { // 8 is not active: whom it is about often is not
			ch := call(who, old, toSettle)
			ch.status = c.status
			o := decide([]*change{ch}, world(likeOf(who, old, c.was, 7)), now)
			what := fmt.Sprintf("%d of somebody who is %d", c.was, c.status)
			same(t, what, answer(ch), c.answer)
			if !ch.changed {
				continue
			}
			since := social.Millis(7) // a like that is hidden keeps its place
			if c.status == social.Deleted {
				since = now
			}
			same(t, what, o.likes[0], likeOf(who, old, ch.state, since))
			same(t, what, o.counts[0].Likes, c.likes)
		}
	}
}

// Whose actor is lost cannot be settled until it is mended.
func TestLikesOfWhoseActorIsLostStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, status := range []social.UserStatus{social.Active, social.Suspended, social.Deleted} {
		for _, was := range []social.LikeState{liked, hiddenLike, notLiked} {
			s := world(likeOf(1, old, was, 7))
			delete(s.actors, 1)
			ch := call(1, old, toSettle)
			ch.status = status
			o := decide([]*change{ch}, s, now)
			same(t, fmt.Sprintf("%d of somebody who is %d", was, status), answer(ch), "UNAUTHENTICATED")
			same(t, "writes", o, outcome{})
		}
	}
}

// What is written is what is left, what is told is what happened.
func TestOneLikeSeveralTimesInABatch(t *testing.T) {
	t.Parallel()
	calls := []*change{
		call(1, old, toLike), call(1, old, toLike), call(1, old, toUnlike), call(2, old, toLike), call(1, old, toUnlike),
		call(1, deleted, toLike), call(1, old, toLike),
	}
	o := decide(calls, world(), now)
	var answers []string
	for _, c := range calls {
		answers = append(answers, fmt.Sprint(answer(c), " ", c.version))
	}
	same(t, "answers", answers, []string{
		"liked 101", "liked, unchanged 101", "not liked 102", "liked 101", "not liked, unchanged 102", "NOT_FOUND 0", "liked 103"})
	same(t, "likes", o.likes, []social.Like{likeOf(1, old, liked, now), likeOf(2, old, liked, now)})
	want := db.LikeCountChange{BlogID: old, Likes: 2}
	want.Warmth.Add(now, 2)
	same(t, "counts", o.counts, []db.LikeCountChange{want})
	var versions []int64
	for _, e := range o.events {
		versions = append(versions, e.Version)
	}
	same(t, "versions", versions, []int64{101, 102, 101, 103})
}

// There and back again: the like is renewed, and so the heat; the count does not move.
func TestNetZeroOfALikeMovesNoCount(t *testing.T) {
	t.Parallel()
	for _, was := range []social.LikeState{liked, notLiked} {
		verbs := []verb{toUnlike, toLike}
		if was == notLiked {
			slices.Reverse(verbs)
		}
		o := decide([]*change{call(1, old, verbs[0]), call(1, old, verbs[1])}, world(likeOf(1, old, was, now-1000)), now)
		want := db.LikeCountChange{BlogID: old}
		if was == liked {
			want.Warmth.Add(now-1000, -1)
			want.Warmth.Add(now, 1)
		}
		same(t, "counts", o.counts, []db.LikeCountChange{want})
		same(t, "likes", o.likes, []social.Like{likeOf(1, old, was, now)})
		same(t, "events", len(o.events), 2)
		same(t, "actor", *o.actors[0], db.Actor{UserID: 1, LikeVersion: 102})
	}
}

// Rows are locked in the order in which they are written: that order is one for all.
func TestOutcomeOfLikesIsSorted(t *testing.T) {
	t.Parallel()
	for range 20 { // maps have another order each time
		var calls []*change
		for who := social.ID(6); who >= 1; who-- {
			calls = append(calls, call(who, young, toLike), call(who, old, toLike))
		}
		o := decide(calls, world(), now)
		var pairs, people, blogs []social.ID
		for _, l := range o.likes {
			pairs = append(pairs, l.UserID*10+l.TargetID/young)
		}
		for _, a := range o.actors {
			people = append(people, a.UserID)
		}
		for _, c := range o.counts {
			blogs = append(blogs, c.BlogID)
		}
		same(t, "likes", pairs, []social.ID{10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61})
		same(t, "people", people, []social.ID{1, 2, 3, 4, 5, 6})
		same(t, "blogs", blogs, []social.ID{old, young})
		same(t, "the first event", o.events[0].UserID, 6)
	}
}
