package rdb_test

import (
	"slices"
	"testing"

	"kith/rdb"
	"kith/social"
)

// move brings a change of the person's edges. The floor is -1 where no blogs are needed.
func (p *person) move(version int64, to social.FollowState, target social.ID, changed bool) (floor social.ID) {
	p.Helper()
	c := social.FollowChange{UserID: p.id, TargetID: target, State: to, Since: social.Epoch + social.Millis(version), Version: version}
	m := rdb.NewMove(social.FollowCall{FollowChange: c, Changed: changed})
	p.run(m.Call)
	floor, needed := m.Floor()
	if !needed {
		return -1
	}
	return floor
}

func (p *person) knows(what string, version int64, ids ...social.ID) {
	p.Helper()
	v, got := p.following()
	slices.Sort(ids)
	equal(p, what, []any{v, got}, []any{version, ids})
}

const follow, unfollow = social.Following, social.NotFollowing

func TestChangesOfTheNextVersionAreApplied(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		x := social.ID(0x80ff7f00_ff807f01 >> 1)
		p.follows(5, 2, 3)
		p.move(6, follow, x, true)
		p.knows("followed", 6, 2, 3, x)
		p.move(7, unfollow, 2, true)
		p.knows("unfollowed", 7, 3, x)
		p.move(7, unfollow, 2, true)
		p.move(6, follow, x, true)
		p.knows("repeated", 7, 3, x)
		p.move(6, unfollow, 3, true)
		p.knows("late", 7, 3, x)
		p.move(7, unfollow, 3, false)
		p.knows("nothing changed", 7, 3, x)
	})
}

func TestListThatMissedAVersionIsDropped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		for name, move := range map[string]func(){
			"one left out":         func() { p.move(7, follow, 9, true) },
			"unchanged, but newer": func() { p.move(6, follow, 9, false) },
			"far ahead":            func() { p.move(1<<40, unfollow, 2, true) },
		} {
			p.follows(5, 2, 3)
			move()
			p.knows(name, -1)
		}
		p.move(1, follow, 2, true)
		p.knows("where nothing is", -1)
		p.follows(1, 2)
		p.move(3, follow, 4, true)
		p.move(2, follow, 3, true)
		p.knows("out of order", -1)
	})
}

// A crash may leave a change undone that a later, idle call finds done.
func TestFollowTellsWhichBlogsTheInboxNeeds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		equal(t, "no inbox", p.move(1, follow, 2, true), social.ID(-1))
		tok := p.begin()
		equal(t, "building", p.move(2, follow, 2, true), social.ID(0))
		p.push(4, by(9, at(5, 5))...)
		equal(t, "building, with one", p.move(2, follow, 2, true), social.ID(0))
		p.does("build", rdb.Build(p.id, tok, 4, nil, false), int64(1))
		for _, changed := range []bool{true, false} {
			equal(t, "whole, list unknown", p.move(2, follow, 2, changed), at(5, 5))
		}
		p.follows(2, 2)
		for _, changed := range []bool{true, false} {
			equal(t, "whole", p.move(2, follow, 2, changed), at(5, 5))
		}
		equal(t, "unfollowed since", p.move(1, follow, 3, true), social.ID(-1))
		equal(t, "an unfollow", p.move(3, unfollow, 2, true), social.ID(-1))
		p.does("drop", rdb.DropInbox(p.id), int64(1))
		p.has(4, true)
		equal(t, "complete", p.move(4, follow, 2, true), social.ID(0))
	})
}

func TestUnfollowPurgesOnlyByTheListItself(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const a, b = 0x8000000000000080 >> 1, 0x7f
		all := append(by(a, at(1, 1), at(2, 0x80)), by(b, at(2, 0x81), at(3, 1))...)
		ids := []social.ID{at(1, 1), at(2, 0x80), at(2, 0x81), at(3, 1)}
		p := w.person(t)
		p.has(9, false, all...)
		p.move(6, unfollow, a, true)
		equal(t, "list unknown", p.inbox(), ids)
		p.follows(8, a, b)
		p.move(6, unfollow, a, true)
		equal(t, "late, followed again since", p.inbox(), ids)
		p.move(8, unfollow, a, false)
		equal(t, "still followed", p.inbox(), ids)
		p.move(10, unfollow, a, true)
		equal(t, "list dropped, for it missed one", p.inbox(), ids)
		p.follows(10, b)
		p.move(10, unfollow, a, false)
		equal(t, "whole, without them", p.inbox(), ids[2:])
	})
}

func TestEveryMoveEndsTheFillingOfTheList(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, move := range map[string]func(p *person){
			"a follow":      func(p *person) { p.move(9, follow, 2, true) },
			"an unfollow":   func(p *person) { p.move(9, unfollow, 2, true) },
			"a late one":    func(p *person) { p.move(1, unfollow, 2, true) },
			"an idle one":   func(p *person) { p.move(9, follow, 2, false) },
			"a late repeat": func(p *person) { p.move(1, follow, 2, true); p.move(1, follow, 2, true) },
		} {
			p, tok := w.person(t), token()
			p.home(head, false, 1, tok)
			move(p)
			p.does(name, rdb.FillFollowing(p.id, tok, 8, peers(2, 3)), int64(0))
			p.knows(name, -1)
		}
	})
}
