package rdb_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

const yes, no = social.Liked, social.NotLiked

func TestLikesAreFilledUnderTheirLeaseAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		fill := func(tok string, version int64) *rdb.Call { return rdb.FillLikes(p.id, tok, 2, version, at9(3, 5, 7)) }
		tok, late := token(), token()
		p.does("no lease", fill(tok, 1), int64(0))
		equal(t, "read", p.liked(tok, at(7, 9)), "?")
		equal(t, "read by another", p.liked(late, at(7, 9)), "?")
		p.does("another's lease", fill(late, 1), int64(0))
		p.isDropped("so far")
		p.does("its lease", fill(tok, 2), int64(1))
		p.does("the key is there", fill(tok, 3), int64(0))
		p.isKept("filled", 2, 3, "room for 1", 5, 7)
		equal(t, "read", p.liked(token(), at(7, 9), at(5, 9), at(3, 9), at(8, 1), at(4, 1)), "yymnn")

		lease := rdb.LeaseOf(rdb.LikesKey(1, p.id))
		noError(t, w.a.Client().Set(t.Context(), lease, late, time.Minute).Err())
		p.does("leased, but the key is there", fill(late, 4), int64(0))
		p.isKept("as it was", 2, 3, "room for 1", 5, 7)
		equal(t, "leases left", w.a.Client().Exists(t.Context(), lease).Val(), 0)
		p.run(rdb.DropLikes(p.id))
		p.isDropped("dropped")
	})
}

// What was evicted may come back beside a filter of before.
func TestAFillReplacesTheFilterOfBefore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, tok := w.person(t), token()
		for name, c := range map[string]struct {
			ms     []social.Millis
			filter string
		}{
			"old ones": {[]social.Millis{3, 5, 7, 9}, "room for 1"}, "none": {[]social.Millis{5, 7}, "none"}, "nothing": {nil, "none"},
		} {
			p.likes(2, 1, 1, 2, 3)
			noError(t, w.a.Client().Del(t.Context(), rdb.LikesKey(1, p.id)).Err())
			equal(t, "read", p.liked(tok, 1), "?")
			p.does("fill", rdb.FillLikes(p.id, tok, 2, 2, at9(c.ms...)), int64(1))
			equal(t, name, p.kept().filter(), c.filter)
		}
	})
}

func TestLikesOfTheNextVersionAreApplied(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.likes(9, 5, 2, 3)
		for _, c := range []struct {
			what    string
			change  change
			version int64
			ms      []social.Millis
		}{
			{"liked", change{v: 6, blog: at(7, 9), is: yes, at: 8}, 6, []social.Millis{2, 3, 7}},
			{"liked in the millisecond of another", change{v: 7, blog: at(6, 9), is: yes, at: 8}, 7, []social.Millis{2, 3, 6, 7}},
			{"unliked", change{v: 8, blog: at(2, 9), at: 9}, 8, []social.Millis{3, 6, 7}},
			{"hidden", change{v: 9, blog: at(6, 9), is: social.HiddenLike, at: 9}, 9, []social.Millis{3, 7}},
			{"repeated", change{v: 9, blog: at(6, 9), is: social.HiddenLike, at: 9}, 9, []social.Millis{3, 7}},
			{"late", change{v: 7, blog: at(6, 9), is: yes, at: 8}, 9, []social.Millis{3, 7}},
			{"late, and nothing changed", change{v: 3, blog: at(3, 9), idle: true}, 9, []social.Millis{3, 7}},
			{"nothing changed", change{v: 9, blog: at(3, 9), is: yes, idle: true}, 9, []social.Millis{3, 7}},
			{"unliked what it has not", change{v: 10, blog: at(1, 9), at: 9}, 10, []social.Millis{3, 7}},
			{"liked since before it was known", change{v: 11, blog: at(1, 9), is: yes, at: 1}, 11, []social.Millis{1, 3, 7}},
		} {
			p.like(9, c.change)
			p.isKept(c.what, c.version, 0, "none", c.ms...)
		}
	})
}

func TestLikesThatMissedAVersionAreDroppedWithTheirFilter(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		for name, changes := range map[string][]change{
			"one left out":         {{v: 7, blog: at(9, 9), is: yes, at: 9}},
			"an unlike":            {{v: 7, blog: at(3, 9), at: 9}},
			"unchanged, but newer": {{v: 6, blog: at(9, 9), is: yes, idle: true}},
			"far ahead":            {{v: 1 << 40, blog: at(9, 9), is: yes, at: 9}},
			"out of order":         {{v: 7, blog: at(9, 9), is: yes, at: 9}, {v: 6, blog: at(8, 9), is: yes, at: 8}},
		} {
			p.likes(2, 5, 1, 2, 3)
			p.isKept("before", 5, 1, "room for 1", 2, 3)
			p.like(2, changes...)
			p.isDropped(name)
		}
		p.like(2, change{v: 6, blog: at(9, 9), is: yes, at: 9})
		p.isDropped("where nothing is")
	})
}

func TestEveryLikeEndsTheFillingOfLikes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for name, end := range map[string]func(p *person){
			"a like":     func(p *person) { p.like(9, change{v: 9, blog: 2, is: yes, at: 9}) },
			"an unlike":  func(p *person) { p.like(9, change{v: 9, blog: 2, at: 9}) },
			"a late one": func(p *person) { p.like(9, change{v: 1, blog: 2, at: 9}) },
			"idle":       func(p *person) { p.like(9, change{v: 9, blog: 2, idle: true}) },
			"a drop":     func(p *person) { p.run(rdb.DropLikes(p.id)) },
		} {
			p, tok := w.person(t), token()
			equal(t, "read", p.liked(tok, 1), "?")
			end(p)
			p.does(name, rdb.FillLikes(p.id, tok, 9, 8, at9(2, 3)), int64(0))
			p.isDropped(name)
		}
	})
}

// Of a whole set the first trim makes a filter; from then on each sets its bits and takes of
// the room. Where it is used up, both go: a filter that says maybe to all is of no use.
func TestTrimmedLikesGoFromTheSetToTheFilter(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.likes(3, 1, 1, 2, 3)
		p.isKept("whole", 1, 0, "none", 1, 2, 3)
		equal(t, "not liked", p.liked(token(), at(1, 8), 1), "nn")
		for _, c := range []struct {
			change change
			floor  social.Millis
			filter string
			ms     []social.Millis
		}{
			{change{v: 2, blog: at(4, 9), is: yes, at: 5}, 1, "room for 1", []social.Millis{2, 3, 4}},
			{change{v: 3, blog: at(3, 9)}, 1, "room for 1", []social.Millis{2, 4}},
			{change{v: 4, blog: at(5, 9), is: yes, at: 5}, 1, "room for 1", []social.Millis{2, 4, 5}},
			{change{v: 5, blog: at(6, 9), is: yes, at: 6}, 2, "room for 0", []social.Millis{4, 5, 6}},
		} {
			p.like(3, c.change)
			p.isKept(fmt.Sprint("version ", c.change.v), c.change.v, c.floor, c.filter, c.ms...)
		}
		equal(t, "trimmed", p.liked(token(), at(1, 9), at(2, 9)), "mm")
		equal(t, "unliked, which it learnt above the floor", p.liked(token(), at(3, 9)), "n")
		p.like(3, change{v: 6, blog: at(7, 9), is: yes, at: 7})
		p.isDropped("no room")
	})
}

// A clock that is behind, or a like that is there again, brings one below the floor.
func TestTheFloorNeverFalls(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.likes(2, 1, 3, 5, 7, 9)
		p.isKept("filled", 1, 5, "room for 1", 7, 9)
		p.like(2, change{v: 2, blog: at(4, 9), is: yes, at: 4})
		p.isKept("liked below", 2, 5, "room for 0", 7, 9)
		equal(t, "trimmed at once", p.liked(token(), at(4, 9)), "m")
		p.like(2, change{v: 3, blog: at(9, 9)}, change{v: 4, blog: at(2, 9), is: yes, at: 2})
		p.isKept("where there was room", 4, 5, "room for 0", 2, 7)
		equal(t, "read", p.liked(token(), at(2, 9), at(6, 1)), "yn")
	})
}

// Whoever likes a blog in its own millisecond leaves it as old as the floor.
func TestABlogOfTheFloorsMillisecondMayBeLiked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		p.likes(1, 1, 5, 6)
		noError(t, w.a.Client().Del(t.Context(), rdb.OldLikesKey(1, p.id)).Err())
		equal(t, "around the floor", p.liked(token(), at(4, 0x3fffff), at(5, 0), at(5, 9), at(5, 0x3fffff), at(6, 0)), "mmmmn")
		p.likes(1, 1, 5, 6)
		equal(t, "in the filter", p.liked(token(), at(5, 9)), "m")
	})
}

func TestWithoutItsOwnFilterWhatIsOldMayBeLiked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, q := w.person(t), w.person(t)
		q.likes(2, 1, 1, 2, 3)
		key := rdb.OldLikesKey(1, p.id)
		for name, c := range map[string]struct{ old, after string }{
			"evicted":                     {"", "none"},
			"of another generation":       {q.kept().old, "none"},
			"cut within its head":         {"12345", "none"},
			"of something else":           {strings.Repeat("x", 50), "none"},
			"of another, and of no bytes": {fmt.Sprintf("%030d", 0), "none"},
		} {
			p.likes(2, 1, 2, 4, 6)
			equal(t, "its own", p.liked(token(), at(2, 8)), "n")
			noError(t, w.a.Client().Del(t.Context(), key).Err())
			if c.old != "" {
				noError(t, w.a.Client().Set(t.Context(), key, c.old, time.Hour).Err())
			}
			equal(t, name, p.liked(token(), at(2, 8), at(2, 9), at(4, 9), at(4, 8), at(3, 9)), "mmynn")
			p.like(2, change{v: 2, blog: at(8, 9), is: yes, at: 8})
			p.isKept(name+", after a trim", 2, 4, c.after, 6, 8)
			equal(t, name+", after a trim", p.liked(token(), at(4, 9), at(4, 8), at(5, 1)), "mmn")
		}
	})
}

// Go and Lua must set and look for the same bits: what Go fills Lua reads, and what Lua trims
// is there for Go.
func TestTheFilterOfGoIsThatOfTheScripts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const size, trims = 120, 60
		p := w.person(t)
		old := make([]social.Peer, size+trims) // so far ahead that all are below the floor of later trims
		for i := range old {
			old[i] = social.Peer{ID: anyone(), Since: social.Epoch + 1<<42 - social.Millis(i)}
		}
		others := make([]social.ID, 900)
		for i := range others {
			others[i] = anyone()
		}
		agree := func(what string, k keptLikes, in []social.Peer) {
			t.Helper()
			for _, o := range in {
				if !k.has(o.ID) {
					t.Errorf("%s: %d is not in it", what, o.ID)
				}
			}
			letters := p.liked(token(), others...)
			for i, id := range others {
				if k.has(id) != (letters[i] == 'm') {
					t.Errorf("%s: Lua says %c of %d", what, letters[i], id)
				}
			}
		}

		tok := token()
		p.liked(tok, 1)
		p.does("fill", rdb.FillLikes(p.id, tok, size, 1, old[trims:]), int64(1)) // whole
		for i := range trims {
			p.like(size, change{v: int64(i + 2), blog: anyone(), is: yes, at: 1<<42 + social.Millis(i)})
		}
		trimmed := p.kept()
		equal(t, "room", trimmed.filter(), "room for 0")
		agree("trimmed", trimmed, old[size:])
		want := rdb.OldLikes(trimmed.gen, size, old[size:])
		equal(t, "bits", trimmed.old[30:] == string(want[30:]), true)

		p.run(rdb.DropLikes(p.id))
		p.liked(tok, 1)
		p.does("fill", rdb.FillLikes(p.id, tok, trims, 1, old), int64(1))
		agree("filled", p.kept(), old[trims:])
	})
}

func TestWhoHasTooManyOldLikesHasNoFilter(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		all := make([]social.Peer, rdb.MaxLikes+2)
		for i := range all {
			all[i] = social.Peer{ID: at(social.Millis(len(all)-i), 9), Since: social.Epoch + social.Millis(len(all)-i)}
		}
		for extra, bytes := range []int{30 + rdb.MaxOldLikes*10/8, 0} {
			n := 2 + rdb.MaxOldLikes + extra
			p.run(rdb.DropLikes(p.id))
			tok := token()
			p.liked(tok, 1)
			p.does("fill", rdb.FillLikes(p.id, tok, 2, 1, all[:n]), int64(1))
			equal(t, "bytes", len(p.kept().old), bytes)
			equal(t, "newest", p.liked(token(), all[0].ID, all[1].ID, all[n-1].ID), "yym")
		}
		p.like(2, change{v: 2, blog: at(1<<40, 9), is: yes, at: 1 << 40})
		equal(t, "no trim makes one", p.kept().filter(), "none")
	})
}

// As full as it gets it has half as many again as it was made for. A maybe costs a look-up in
// SQL, and must be rare.
func TestTheFullestFilterIsSeldomWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, old, more int }{
		{1000, 0, 500}, {1000, 1000, 500}, {1000, 6000, 3000}, {1000, 50_000, 25_000},
	} {
		n := social.ID(0)
		next := func() social.Peer { // of 12 servers, some in a millisecond
			n++
			return social.Peer{ID: at(1<<36+social.Millis(n*7/5), n%12<<12+rand.N[social.ID](3))}
		}
		in := make([]social.Peer, c.old+c.more)
		for i := range in {
			in[i] = next()
			for range rand.IntN(3) { // between them are blogs that nobody likes
				next()
			}
		}
		if c.old == 0 { // made by the first trim
			in = in[:c.more]
		}
		filter := keptLikes{old: string(rdb.OldLikes(1, c.size, in))}
		if made := max(c.size, c.old); len(in) > made { // the same bits as if trimmed since
			bits := make([]byte, made*10/8)
			for _, p := range in {
				for _, at := range rdb.BloomBits(p.ID, uint64(len(bits))*8) {
					bits[at/8] |= 0x80 >> (at % 8)
				}
			}
			filter.old = filter.old[:30] + string(bits)
		}
		const asked = 20_000
		wrong := 0
		for range asked {
			if filter.has(next().ID) {
				wrong++
			}
		}
		if share := float64(wrong) / asked; share > 0.08 {
			t.Errorf("%+v: says maybe of %.1f %% that are not in it", c, 100*share)
		}
	}
}

// A page has 100 at most; a request may ask for more. The likes kept are more than go into one
// ZADD of a fill.
func TestManyBlogsAreAskedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		var ms []social.Millis
		var blogs []social.ID
		for m := range social.Millis(900) {
			blogs = append(blogs, at(m, 9))
			if m >= 200 {
				ms = append(ms, m)
			}
		}
		p.likes(600, 1, ms...)
		letters := p.liked(token(), blogs...)
		equal(t, "in the set", letters[300:], strings.Repeat("y", 600))
		equal(t, "in the filter", letters[200:300], strings.Repeat("m", 100))
		if n := strings.Count(letters[:200], "n"); n < 160 {
			t.Errorf("%d of 200 are known not to be liked", n)
		}
		equal(t, "none", p.liked(token()), "")
	})
}

func TestKeysOfLikesHaveTheirLifetime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, tok := w.person(t), token()
		likes, old, count := rdb.LikesKey(1, p.id), rdb.OldLikesKey(1, p.id), rdb.LikeCountKey(1, p.id)
		lives := func(what, key string, want time.Duration) {
			t.Helper()
			if got := w.a.Client().PTTL(t.Context(), key).Val(); got > want || got < want-time.Minute && got < want/20 {
				t.Errorf("%s lives %v, want %v", what, got, want)
			}
		}
		const week = 7 * 24 * time.Hour
		p.liked(tok, 1)
		lives("a lease", rdb.LeaseOf(likes), 10*time.Second)
		p.does("fill", rdb.FillLikes(p.id, tok, 1, 1, at9(1, 2)), int64(1))
		lives("likes", likes, week)
		lives("a filter", old, week)
		expire := func() {
			for _, key := range []string{likes, old} {
				noError(t, w.a.Client().Expire(t.Context(), key, time.Hour).Err())
			}
		}
		expire()
		p.like(1, change{v: 2, blog: at(3, 9), is: yes, at: 3})
		lives("likes that changed", likes, time.Hour)
		lives("a filter that was added to", old, time.Hour)
		p.liked(token(), 1)
		lives("likes that are read", likes, week)
		lives("their filter", old, week)

		p.likes(1, 1, 1)
		expire()
		p.like(1, change{v: 2, blog: at(3, 9), is: yes, at: 3})
		lives("a filter that a trim made", old, time.Hour)

		p.run(rdb.TakeLikeCount(p.id, tok).Call)
		lives("a lease of a count", rdb.LeaseOf(count), 10*time.Second)
		p.does("fill", rdb.FillLikeCount(p.id, tok, social.LikeCount{}), int64(1))
		lives("a count", count, time.Hour)
		noError(t, w.a.Client().Expire(t.Context(), count, time.Minute).Err())
		p.run(rdb.RenewLikeCount(p.id, social.LikeCount{Version: 1}))
		lives("a count that was renewed", count, time.Hour)
	})
}
