package cache

import (
	"context"
	"testing"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// request is one of a viewer; 0 is nobody.
func (x *site) request(viewer social.ID) context.Context {
	return With(social.WithViewer(x.Context(), viewer))
}

// wroteAgo makes Redis know when a person wrote.
func (s *server) wroteAgo(who social.ID, ago time.Duration) {
	s.site.Helper()
	epoch, _ := s.Epoch(rdb.Partition(who))
	s.Redis.Run(s.site.Context(), func(int) int64 { return epoch }, rdb.MarkWrote(who))
	keys, err := s.site.redis.Client().Keys(s.site.Context(), "wrote:*:"+who.String()).Result()
	noError(s.site, err)
	equal(s.site, "marks", len(keys), 1)
	noError(s.site, s.site.redis.Client().Expire(s.site.Context(), keys[0], 24*time.Hour-ago).Err())
}

func TestCountsComeFromRedisUntilTheyAreDropped(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	a, b, nobody := x.person(1), x.person(2), social.ID(1<<60)
	read := func() (na, nb int64, people int) {
		counts, err := s.Counts(t.Context(), []social.ID{a, b, nobody})
		noError(t, err)
		return counts[a].Followers, counts[b].Followers, len(counts)
	}
	expect := func(what string, wantA, wantB int64) {
		t.Helper()
		na, nb, people := read()
		equal(t, what, []any{na, nb, people}, []any{wantA, wantB, 2})
	}
	expect("filled", 0, 0)
	x.sets(a, 1)
	x.sets(b, 1)
	expect("kept", 0, 0)
	noError(t, s.Settle(t.Context(), drop(a)))
	expect("one was dropped", 1, 0)
	noError(t, x.store.DB.SwitchCachesOff(t.Context(), []db.CachePart{{Part: 2, Epoch: 1}}))
	equal(t, "off", s.reads(2), -1)
	expect("from SQL", 1, 1)
}

// Two who find counts missing: whoever read before a change must not fill after it.
func TestCountsReadBeforeAChangeAreNotKept(t *testing.T) {
	x := newSite(t)
	slow, fast := x.server(), x.server()
	slow.begin()
	equal(t, "fast", fast.reads(1), 1)
	who := x.person(1)
	late := rdb.TakeCounts(who, "late")
	run := func(c *rdb.Call) {
		slow.Redis.Run(t.Context(), func(int) int64 { return 1 }, c)
		noError(t, c.Err())
	}
	run(late.Call)
	x.sets(who, 1)
	noError(t, fast.Settle(t.Context(), drop(who)))
	run(rdb.FillCounts(who, "late", social.Counts{}))
	equal(t, "read", fast.followers(who), 1)
	run(rdb.FillCounts(who, "late", social.Counts{}))
	equal(t, "read", slow.followers(who), 1)
}

func TestWhoWroteLatelyReadsNothingInProcess(t *testing.T) {
	x := newSite(t)
	a, b := x.server(), x.server()
	a.begin()
	equal(t, "B", b.reads(9), 1)
	who := x.person(9)
	may := func(what string, ctx context.Context, want bool) {
		t.Helper()
		equal(t, what, a.mayReadLocal(ctx), want)
		equal(t, what+", again", a.mayReadLocal(ctx), want)
	}
	may("no request", social.WithViewer(t.Context(), who), false)
	may("no mark, perhaps just now", x.request(who), false)
	a.wroteAgo(who, recent+time.Minute)
	may("long ago", x.request(who), true)
	a.wroteAgo(who, 0)
	may("just now", x.request(who), false)
	a.wroteAgo(who, recent+time.Minute)
	noError(t, b.Settle(t.Context(), rdb.MarkWrote(who)))
	may("just now, through another server", x.request(who), false)

	a.wroteAgo(who, recent+time.Minute)
	ctx := x.request(who)
	may("long ago", ctx, true)
	Wrote(ctx)
	may("in this request", ctx, false)
	Learn(ctx, time.Hour)
	may("in this request, whatever was read", ctx, false)
	for since, want := range map[time.Duration]bool{0: false, recent - 1: false, recent: true} {
		ctx := x.request(who)
		before := a.Redis.Commands()
		Learn(ctx, since)
		may("learnt with the feed", ctx, want)
		equal(t, "commands", a.Redis.Commands()-before, 0)
	}
	ctx = x.request(who)
	before := a.Redis.Commands()
	may("long ago", ctx, true)
	equal(t, "commands of a request", a.Redis.Commands()-before, 1)
	noError(t, b.Settle(t.Context(), rdb.MarkWrote(who)))
	Forget(ctx)
	may("just now, in a request that has waited since", ctx, false)
}

func TestNothingIsReadInProcessOfAPartitionThatIsOff(t *testing.T) {
	x := newSite(t)
	p, s := x.throughProxy()
	who := x.person(9)
	equal(t, "nobody, nothing is known", s.mayReadLocal(x.request(0)), false)
	equal(t, "somebody, nothing is known", s.mayReadLocal(x.request(who)), false)
	s.begin()
	s.wroteAgo(who, time.Hour)
	equal(t, "on", s.mayReadLocal(x.request(who)), true)
	equal(t, "nobody", s.mayReadLocal(x.request(0)), true)
	p.Cut()
	equal(t, "away", s.mayReadLocal(x.request(who)), false)
	p.Mend(t)
	s.answers()
	equal(t, "away a moment ago", s.mayReadLocal(x.request(who)), false)
	s.wait(failing)
	equal(t, "a second later", s.mayReadLocal(x.request(who)), true)
	noError(t, x.store.DB.SwitchCachesOff(t.Context(), []db.CachePart{{Part: 9, Epoch: 1}}))
	equal(t, "off", s.reads(9), -1)
	equal(t, "off", s.mayReadLocal(x.request(who)), false)
	noError(t, x.store.DB.SwitchCachesOn(t.Context(), []db.CachePart{{Part: 9, Epoch: 1}}))
	equal(t, "on", s.reads(9), 2)
	equal(t, "in the next epoch nobody knows", s.mayReadLocal(x.request(who)), false)
	s.wait(Trust)
	equal(t, "nobody, nothing is known any more", s.mayReadLocal(x.request(0)), false)
}
