package rdb_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/rdb"
	"kith/social"
)

// tied are the places in a millisecond whose bytes a comparison could mistake: around 0x7f
// and 0x80 in every byte, and at the ends.
var tied = []social.ID{0, 1, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x17f, 0x180, 0x7fff, 0x8000, 0x8080, 0xff7f, 0xffff, 0x10000, 0x3fffff}

// crowd are blogs of some authors, many to a millisecond, newest first.
func crowd(authors ...social.ID) (refs []social.BlogRef) {
	for _, ms := range []social.Millis{1, 0x7f << 2, 1 << 33, 1<<33 + 1, 1<<41 - 2} { // up to the highest bytes
		for _, n := range tied {
			refs = append(refs, social.BlogRef{ID: at(ms, n), AuthorID: authors[rand.IntN(len(authors))]})
		}
	}
	slices.SortFunc(refs, func(a, b social.BlogRef) int { return cmp.Compare(b.ID, a.ID) })
	return refs
}

// walk is what a reading of refs, newest first, must give.
func walk(refs []social.BlogRef, past social.ID, up bool, n int) []social.BlogRef {
	got := []social.BlogRef{}
	for _, r := range refs {
		if !up && r.ID < past || up && r.ID > past {
			got = append(got, r)
		}
	}
	if up {
		slices.Reverse(got)
	}
	return got[:min(n, len(got))]
}

// From everywhere, both ways: among ties, at entries that are not there, beside those of
// people who are not followed.
func TestHomeReadsStrictlyPastAnIDThoseFollowed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		followed := []social.ID{1, 0x80, 0x7f80ff, 1<<62 + 0x80, anyone()}
		refs := crowd(append(followed, 2, 0x81, anyone(), anyone())...)
		p.has(500, true, refs...)
		p.follows(7, followed...)
		mine := slices.DeleteFunc(slices.Clone(refs), func(r social.BlogRef) bool { return !slices.Contains(followed, r.AuthorID) })
		places := []social.ID{head, 1, 0}
		for _, r := range refs {
			places = append(places, r.ID-1, r.ID, r.ID+1)
		}
		for i, past := range places {
			for _, up := range []bool{false, true} {
				if past == head && up {
					continue
				}
				n := []int{1, 2, 21, 500}[i%4]
				got := p.home(past, up, n, token())
				equal(t, "found", got.Refs, walk(mine, past, up, n))
				equal(t, "state", []any{got.Whole, got.Missing, got.Version, got.Floor}, []any{true, false, 7, 0})
			}
		}
	})
}

func TestHomeFindsWhoIsFollowedBehindHundredsWhoAreNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		refs := by(2, at(5, 1), at(5, 900))
		for n := range social.ID(498) {
			refs = append(refs, by(3, at(5, 2+n))...)
		}
		p.has(501, false, refs...)
		p.follows(1, 2)
		equal(t, "down", idsOf(p.home(head, false, 2, token()).Refs), []social.ID{at(5, 900), at(5, 1)})
		equal(t, "up", idsOf(p.home(0, true, 2, token()).Refs), []social.ID{at(5, 1), at(5, 900)})
		equal(t, "from between", idsOf(p.home(at(5, 900), false, 900, token()).Refs), []social.ID{at(5, 1)})
		equal(t, "to the top", idsOf(p.home(at(5, 1), true, 900, token()).Refs), []social.ID{at(5, 900)})
	})
}

func TestFloorIsTheLowestEntryAndTheSentinelIsNeverGiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, q := w.person(t), w.person(t)
		p.has(4, true, by(2, at(1, 1))...)
		p.follows(1, 2)
		q.has(4, false, by(3, at(1, 1))...)
		q.follows(1, 2)
		for _, up := range []bool{true, false} {
			past := social.ID(0)
			if !up {
				past = head
			}
			a := p.home(past, up, 9, token())
			equal(t, "complete", []any{a.Floor, idsOf(a.Refs)}, []any{0, []social.ID{at(1, 1)}})
			a = q.home(past, up, 9, token())
			equal(t, "goes on below, of one not followed", []any{a.Floor, idsOf(a.Refs)}, []any{at(1, 1), []social.ID{}})
		}
		empty := w.person(t)
		empty.has(4, true)
		empty.follows(1, 2)
		a := empty.home(head, false, 9, token())
		equal(t, "empty", []any{a.Whole, a.Floor, len(a.Refs)}, []any{true, 0, 0})
	})
}

func TestWhatIsBeingBuiltGivesNothingToOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.follows(4, 2)
		tok := p.begin()
		p.push(4, by(2, at(1, 1))...)
		for _, past := range []social.ID{head, at(1, 0)} {
			for _, up := range []bool{true, false} {
				a := p.home(past, up, 9, token())
				equal(t, "read", []any{a.Version, a.Whole, a.Missing, a.Floor, len(a.Refs)}, []any{4, false, false, 0, 0})
			}
		}
		equal(t, "inbox", p.inbox(), []social.ID{at(1, 1), building})
		p.does("build", rdb.Build(p.id, tok, 4, nil, true), int64(1))
		equal(t, "built", idsOf(p.home(head, false, 9, token()).Refs), []social.ID{at(1, 1)})
	})
}

func TestReadingFromTheMiddleDoesNotBuild(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		for _, up := range []bool{true, false} {
			a := p.home(at(9, 9), up, 9, token())
			equal(t, "state", []any{a.Version, a.Whole, a.Missing}, []any{-1, false, false})
		}
		equal(t, "inbox", p.inbox(), []social.ID(nil))
	})
}

func TestWithoutKnowingWhoIsFollowedNothingIsGiven(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.has(4, false, by(2, at(1, 1))...)
		a := p.home(head, false, 9, token())
		equal(t, "read", []any{a.Version, a.Whole, a.Floor, len(a.Refs)}, []any{-1, true, at(1, 1), 0})
	})
}
