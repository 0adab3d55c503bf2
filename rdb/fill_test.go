package rdb_test

import (
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

func TestFillIsRefusedWithoutItsLease(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, tok, late := w.person(t), token(), token()
		fill := func(tok string, version int64) *rdb.Call { return rdb.FillFollowing(p.id, tok, version, peers(2)) }
		p.does("no lease", fill(tok, 1), int64(0))
		p.home(head, false, 1, tok)
		p.home(head, false, 1, late)
		p.does("another's lease", fill(late, 1), int64(0))
		p.does("its lease", fill(tok, 2), int64(1))
		p.does("the key is there", fill(tok, 3), int64(0))
		p.knows("stored once", 2, 2)

		// A lease from before the key was filled ends without effect.
		lease := rdb.LeaseOf(rdb.FollowingKey(1, p.id))
		noError(t, w.a.Client().Set(t.Context(), lease, late, time.Minute).Err())
		p.does("leased, but the key is there", fill(late, 4), int64(0))
		p.knows("as it was", 2, 2)
		equal(t, "leases left", w.a.Client().Exists(t.Context(), lease).Val(), 0)
	})
}

// One ZADD takes a bounded number of arguments; chunks must not split a pair.
func TestAnyNumberFollowedIsStored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, n := range []social.ID{0, 1, 2, 498, 499, 500, 501, 998, 999, 1000, 1001, 4999, 5000} {
			p, ids := w.person(t), []social.ID{}
			for i := range n {
				ids = append(ids, i<<40|i+1)
			}
			p.follows(1<<52, ids...)
			p.knows("stored", 1<<52, ids...)
		}
	})
}

func TestCountsAreFilledUnderLeaseAndDropped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		take := func(tok string) (social.Counts, bool) {
			c := rdb.TakeCounts(p.id, tok)
			p.run(c.Call)
			return c.Answer()
		}
		known := func(what string, want social.Counts, there bool) {
			n, ok := take(token())
			equal(t, what, []any{n, ok}, []any{want, there})
		}
		want := social.Counts{Followers: 1 << 40, Following: 5000, Blogs: 0}
		tok, second := token(), token()
		take(tok)
		take(second)
		p.does("second", rdb.FillCounts(p.id, second, social.Counts{}), int64(0))
		p.does("first", rdb.FillCounts(p.id, tok, want), int64(1))
		known("filled", want, true)
		p.run(rdb.DropCounts(p.id))
		known("dropped", social.Counts{}, false)
		p.run(rdb.DropCounts(p.id)) // between a reading in SQL and its filling
		take(second)
		p.does("the lease was ended", rdb.FillCounts(p.id, tok, want), int64(0))
		p.does("the next", rdb.FillCounts(p.id, second, social.Counts{Blogs: 1}), int64(1))
		known("filled", social.Counts{Blogs: 1}, true)
	})
}

func TestWroteIsPerhapsJustNowUnlessItIsKnown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		since := func() time.Duration { x := rdb.NewWrote(p.id); p.run(x.Call); return x.Since() }
		equal(t, "unknown", since(), time.Duration(0))
		key := rdb.WroteKey(1, p.id)
		expire := func(ttl time.Duration) { noError(t, w.a.Client().Expire(t.Context(), key, ttl).Err()) }
		expire(20 * time.Hour)
		if got := since(); got < 4*time.Hour || got > 5*time.Hour {
			t.Errorf("4 h ago is %v", got)
		}
		if got := p.home(head, false, 1, token()).SinceWrote; got < 4*time.Hour || got > 5*time.Hour {
			t.Errorf("read with the feed, 4 h ago is %v", got)
		}
		p.run(rdb.MarkWrote(p.id))
		if got := since(); got > time.Hour {
			t.Errorf("just now is %v", got)
		}
		expire(20 * time.Hour)
		expire(20 * time.Hour)
		p.move(1, follow, 2, true)
		if got := since(); got < 4*time.Hour {
			t.Errorf("after a move, which is not always its owner's: %v", got)
		}
		q := w.person(t)
		equal(t, "unknown to the feed", q.home(head, false, 1, token()).SinceWrote, time.Duration(0))
		equal(t, "marked by the feed", w.a.Client().Exists(t.Context(), rdb.WroteKey(1, q.id)).Val(), 1)
	})
}

// All that is evicted or forgotten comes back; what never ends would fill Redis.
func TestEveryKeyHasItsLifetime(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, tok := w.person(t), token()
		lives := func(what, key string, want time.Duration) {
			t.Helper()
			if got := w.a.Client().PTTL(t.Context(), key).Val(); got > want || got < want-time.Minute && got < want/20 {
				t.Errorf("%s lives %v, want %v", what, got, want)
			}
		}
		inbox, following := rdb.InboxKey(1, p.id), rdb.FollowingKey(1, p.id)
		p.home(head, false, 1, tok)
		lives("a building", inbox, 10*time.Second)
		lives("a lease", rdb.LeaseOf(following), 10*time.Second)
		lives("wrote, by the feed", rdb.WroteKey(1, p.id), 24*time.Hour)
		p.push(4, by(2, at(1, 1))...)
		lives("a building that was pushed to", inbox, 10*time.Second)
		p.run(rdb.Build(p.id, tok, 4, nil, true), rdb.FillFollowing(p.id, tok, 1, peers(2)))
		lives("an inbox", inbox, 7*24*time.Hour)
		lives("following", following, 7*24*time.Hour)
		p.move(2, follow, 3, true)
		lives("following that was moved", following, 7*24*time.Hour)
		p.run(rdb.TakeCounts(p.id, tok).Call)
		lives("a lease of counts", rdb.LeaseOf(rdb.CountKey(1, p.id)), 10*time.Second)
		p.run(rdb.FillCounts(p.id, tok, social.Counts{}))
		lives("counts", rdb.CountKey(1, p.id), time.Hour)
		p.run(rdb.MarkWrote(p.id))
		lives("wrote", rdb.WroteKey(1, p.id), 24*time.Hour)

		noError(t, w.a.Client().Expire(t.Context(), inbox, time.Hour).Err())
		p.push(4, by(2, at(1, 2))...)
		lives("an inbox that was pushed to", inbox, time.Hour)
		p.home(head, false, 1, token())
		if got := w.a.Client().PTTL(t.Context(), inbox).Val(); got < 6*24*time.Hour {
			t.Errorf("an inbox that is read lives %v", got)
		}
	})
}
