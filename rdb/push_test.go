package rdb_test

import (
	"slices"
	"testing"

	"kith/rdb"
	"kith/social"
)

func TestPushReachesInboxesThatAreThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.push(4, by(2, at(1, 1))...)
		equal(t, "absent", p.inbox(), []social.ID(nil))
		tok := p.begin()
		p.push(4, by(2, at(1, 1), at(1, 2))...)
		p.push(4, by(2, at(1, 2), at(1, 3))...)
		equal(t, "building", p.inbox(), []social.ID{at(1, 1), at(1, 2), at(1, 3), building})
		p.does("build", rdb.Build(p.id, tok, 4, by(2, at(1, 2)), true), int64(1))
		equal(t, "built", p.inbox(), []social.ID{at(1, 1), at(1, 2), at(1, 3)})
		p.push(4, by(2, at(2, 1), at(2, 1), at(1, 2))...)
		equal(t, "one more than it keeps", p.inbox(), []social.ID{at(1, 1), at(1, 2), at(1, 3), at(2, 1)})
		p.push(4, by(2, at(2, 2), at(1, 4), at(1, 0))...)
		equal(t, "trimmed by rank", p.inbox(), []social.ID{at(1, 3), at(1, 4), at(2, 1), at(2, 2)})
		p.push(2, by(2, at(3, 3))...)
		equal(t, "a server that keeps fewer", p.inbox(), []social.ID{at(2, 2), at(3, 3)})
	})
}

func TestOnePushServesManyOfAPartition(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var people []*person
		var ids []social.ID
		for len(people) < 5 {
			p := w.person(t)
			if len(people) > 0 && rdb.Partition(p.id) != rdb.Partition(people[0].id) {
				continue
			}
			people, ids = append(people, p), append(ids, p.id)
		}
		people[0].has(4, true)
		people[1].has(4, false, by(9, at(5, 5))...)
		people[2].begin()
		people[3].has(4, false, by(9, at(1, 1))...)
		p, ref := people[0], by(2, at(3, 3))[0]
		p.run(rdb.Push(rdb.Partition(p.id), ids, 4, ref))
		for i, want := range [][]social.ID{{0, at(3, 3)}, {at(5, 5)}, {at(3, 3), building}, {at(1, 1), at(3, 3)}, nil} {
			equal(t, "inbox", people[i].inbox(), want)
		}
		p.does("remove another's", rdb.Remove(rdb.Partition(p.id), ids, by(9, at(3, 3))[0]), int64(0))
		p.does("remove", rdb.Remove(rdb.Partition(p.id), ids, ref), int64(3))
		p.does("again", rdb.Remove(rdb.Partition(p.id), ids, ref), int64(0))
		for i, want := range [][]social.ID{{0}, {at(5, 5)}, {building}, {at(1, 1)}, nil} {
			equal(t, "removed", people[i].inbox(), want)
		}
	})
}

// Below the floor SQL is read: an entry there would be a floor that lies.
func TestWhatIsBelowTheFloorIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, floor := range tied {
			p := w.person(t)
			p.has(500, false, by(0xff, at(5, floor), at(9, 0))...)
			kept := []social.ID{}
			for _, n := range tied {
				p.push(500, by(3, at(4, n))...)                     // a time below
				p.push(500, by(3, at(5, n), at(6, n))...)           // the floor's own, and above
				p.push(500, by(3, at(5, n))...)                     // repeated
				p.push(500, by(0xff, at(5, floor))...)              // the floor itself
				p.push(500, by(3, at(0, n), at(6, n), at(1, n))...) // mixed
				if n > floor {
					kept = append(kept, at(5, n))
				}
			}
			p.run(rdb.Remove(rdb.Partition(p.id), []social.ID{p.id}, by(3, at(5, floor))[0])) // of the floor's very id
			got := slices.DeleteFunc(p.inbox(), func(id social.ID) bool { return id >= at(6, 0) })
			equal(t, "of the floor's time", got, append([]social.ID{at(5, floor)}, kept...))
			equal(t, "all", len(p.inbox()), len(kept)+len(tied)+2)
		}
	})
}

func TestTrimmingCutsATieByID(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.has(5, true)
		want := []social.ID{0}
		for _, n := range append(slices.Clone(tied[8:]), tied[:8]...) {
			p.push(5, by(2, at(5, n))...)
			want = append(want, at(5, n))
			slices.Sort(want)
			want = want[max(0, len(want)-5):]
			equal(t, "inbox", p.inbox(), want)
		}
	})
}

func TestBuildIsRefusedOnceItsTokenIsGone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		build := func(tok string) *rdb.Call { return rdb.Build(p.id, tok, 4, by(2, at(1, 1)), true) }
		p.does("never begun", build(token()), int64(0))
		tok := p.begin()
		p.does("another's", build(token()), int64(0))
		equal(t, "goes on", p.inbox(), []social.ID{building})
		p.does("drop", rdb.DropInbox(p.id), int64(1))
		p.does("dropped", build(tok), int64(0))
		later := p.begin()
		p.does("begun anew by another", build(tok), int64(0))
		p.does("the other", build(later), int64(1))
		p.does("twice", rdb.Build(p.id, later, 4, by(3, at(2, 2)), false), int64(0))
		equal(t, "built once", p.inbox(), []social.ID{0, at(1, 1)})
	})
}

func TestBuildKeepsTheNewestOfWhatWasReadAndPushed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		tok := p.begin()
		p.push(5, by(3, at(2, 0x80), at(9, 0x80))...)
		p.does("build", rdb.Build(p.id, tok, 5, by(2, at(8, 1), at(2, 0x7f), at(1, 1)), true), int64(1))
		equal(t, "inbox", p.inbox(), []social.ID{at(2, 0x7f), at(2, 0x80), at(8, 1), at(9, 0x80)})

		q := w.person(t)
		var many []social.BlogRef // more than one ZADD takes
		for n := range social.ID(1501) {
			many = append(many, by(2, at(3, n))...)
		}
		q.does("build", rdb.Build(q.id, q.begin(), 1502, many, false), int64(1))
		equal(t, "entries", len(q.inbox()), 1501)
	})
}

// What would be trimmed while an inbox is being built may in the end lie above its floor,
// once others are taken out or fewer are read. So the building is given up.
func TestBuildingThatIsTooFullIsGivenUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, q, r := w.person(t), w.person(t), w.person(t)
		build := func(p *person) *rdb.Call {
			p.follows(1, 2, 3)
			return rdb.Build(p.id, p.begin(), 4, by(2, at(1, 1)), true)
		}
		first, second, third := build(p), build(q), build(r)
		for _, x := range []*person{p, q, r} {
			x.push(4, by(3, at(5, 1), at(5, 2), at(5, 3))...)
		}
		q.run(rdb.Remove(rdb.Partition(q.id), []social.ID{q.id}, by(3, at(5, 2))[0]))
		p.does("one less than it keeps", first, int64(1))
		equal(t, "inbox", p.inbox(), []social.ID{at(5, 1), at(5, 2), at(5, 3)})
		q.does("after a deletion", second, int64(1))
		equal(t, "inbox", q.inbox(), []social.ID{at(1, 1), at(5, 1), at(5, 3)})
		r.push(4, by(3, at(5, 4), at(5, 5), at(4, 1))...)
		r.does("too full", third, int64(0))
		equal(t, "given up", []any{r.home(at(9, 9), true, 9, token()).Whole, r.inbox()}, []any{false, []social.ID(nil)})
		r.push(4, by(3, at(9, 9))...)
		r.has(4, true, by(2, at(1, 1))...)
		r.does("long after", third, int64(0))
		equal(t, "built anew", r.inbox(), []social.ID{0, at(1, 1)})
	})
}

// A follow brings as many of the author's newest blogs as the size says: if there are more,
// whatever lies below these must be gone, also the word that nothing is below.
func TestAFollowsBlogsLeaveNothingBelowThem(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for size := 2; size < 5; size++ {
			var newest []social.BlogRef
			want := []social.ID{}
			for n := range social.ID(size) {
				newest, want = append(newest, by(3, at(5, n))...), append(want, at(5, n))
			}
			p, q := w.person(t), w.person(t)
			p.has(size, true)
			q.has(size, false, by(2, at(4, 0xff))...)
			for _, x := range []*person{p, q} {
				x.push(size, newest...)
				x.push(size, newest...)
			}
			equal(t, "complete before", p.inbox(), want)
			equal(t, "whole before", q.inbox(), want)
		}
	})
}
