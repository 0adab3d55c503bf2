package rdb_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// own is a person in a Redis that the test breaks.
func own(t *testing.T, r *socialtest.Redis, step func()) *person {
	t.Helper()
	opened, err := rdb.OpenPatient(rdb.Config{URL: r.URL(), Step: step})
	noError(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	return &person{t, anyone(), opened}
}

// impatient is the same with the patience of production.
func impatient(t *testing.T, url string) *person {
	t.Helper()
	opened, err := rdb.Open(rdb.Config{URL: url})
	noError(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	return &person{t, anyone(), opened}
}

func unavailable(t testing.TB, what string, err error) {
	t.Helper()
	if !social.HasCode(err, social.Unavailable) {
		t.Errorf("%s: got %v", what, err)
	}
}

// INF-2 of the cases. Scripts are gone before every round trip, and in the middle of some:
// no caller hears of it, and what counts is counted once.
func TestLostScriptsAreNoCallersConcern(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedis(t)
	p := own(t, r, func() { r.ScriptFlush(t) })
	var flushing sync.WaitGroup
	done := make(chan struct{})
	flushing.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				r.ScriptFlush(t)
			}
		}
	})
	l := rdb.NewLimiter(p.redis, (&world{clock: socialtest.NewClock()}).clock.Now, nil)
	passed, want := 0, []social.ID{}
	p.follows(0)
	p.has(500, true)
	p.likes(20, 0)
	for v := range social.ID(25) {
		c := social.FollowChange{UserID: p.id, TargetID: v + 1, State: follow, Version: int64(v + 1)}
		m := rdb.NewMove(social.FollowCall{FollowChange: c, Changed: true})
		take := rdb.TakeCounts(p.id, token())
		liked := rdb.NewLiked(p.id, token(), at(1, v))
		count := rdb.TakeLikeCount(p.id, token())
		p.run(rdb.DropCounts(p.id), m.Call, take.Call, rdb.NewWrote(p.id).Call,
			likeCall(p.id, 20, change{v: int64(v + 1), blog: at(1, v), is: social.Liked, at: 1}), liked.Call,
			rdb.FillLikes(p.id, token(), 20, 1, nil), count.Call, rdb.FillLikeCount(p.id, token(), social.LikeCount{}),
			rdb.RenewLikeCount(p.id, social.LikeCount{Version: 1}),
			rdb.Push(rdb.Partition(p.id), []social.ID{p.id}, 500, by(v+1, at(1, v))...))
		want = append(want, v+1)
		passed += passes(t, l, 1, "x", minute)
	}
	p.knows("followed", 25, want...)
	equal(t, "entries", len(p.inbox()), 26)
	equal(t, "let through", passed, 20)
	kept := p.kept()
	equal(t, "likes", []any{kept.version, len(kept.ids), kept.filter()}, []any{25, 20, "room for 5"})
	close(done)
	flushing.Wait()
}

func TestRedisThatStartsAnewAnswersFromNothing(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedis(t)
	p := own(t, r, nil)
	p.follows(3, 2)
	p.has(9, true, by(2, at(1, 1))...)
	r.Kill(t)
	c := rdb.MarkWrote(p.id)
	p.redis.Run(t.Context(), inEpoch1, c)
	unavailable(t, "killed", c.Err())
	r.Start(t)
	until(t, "it answers", func() bool {
		h := rdb.NewHome(p.id, head, false, 9, token())
		p.redis.Run(t.Context(), inEpoch1, h.Call)
		a, err := h.Answer()
		return err == nil && a.Version == -1 && a.Missing
	})
}

// all are calls of every kind of which the answer is asked.
func allKinds(id social.ID) []*rdb.Call {
	part, ids, ref := rdb.Partition(id), []social.ID{id}, by(2, at(1, 1))[0]
	return []*rdb.Call{
		rdb.NewHome(id, head, false, 9, token()).Call, rdb.Build(id, token(), 9, nil, true), rdb.Push(part, ids, 9, ref),
		rdb.Remove(part, ids, ref), rdb.DropInbox(id), rdb.FillFollowing(id, token(), 1, nil),
		rdb.NewMove(social.FollowCall{}).Call, rdb.DropCounts(id), rdb.TakeCounts(id, token()).Call,
		rdb.FillCounts(id, token(), social.Counts{}), rdb.MarkWrote(id), rdb.NewWrote(id).Call,
		rdb.NewLiked(id, token(), id).Call, rdb.FillLikes(id, token(), 9, 1, nil), rdb.NewLike(social.LikeCall{}, 9), rdb.DropLikes(id),
		rdb.TakeLikeCount(id, token()).Call, rdb.FillLikeCount(id, token(), social.LikeCount{}), rdb.RenewLikeCount(id, social.LikeCount{}),
		rdb.BeginEpoch(part, 1, rdb.History{}),
	}
}

func TestCallsOfARedisThatDoesNotAnswerAreUnavailable(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedis(t)
	p := impatient(t, r.URL())
	p.redis.Load(t.Context())
	r.Freeze(t)
	calls := allKinds(p.id)
	for _, c := range calls {
		unavailable(t, "not sent", c.Err())
	}
	p.redis.Run(context.Background(), inEpoch1, calls...) // nothing but its own patience ends this
	for i, c := range calls {
		unavailable(t, "frozen", c.Err())
		if i == 0 {
			_, err := (&rdb.Home{Call: c}).Answer()
			unavailable(t, "frozen home", err)
		}
	}
	for _, h := range p.redis.Histories(context.Background()) {
		unavailable(t, "frozen", h.Err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := rdb.MarkWrote(p.id)
	p.redis.Run(ended, inEpoch1, c)
	unavailable(t, "the caller's end", c.Err())
}

// A cluster of which nothing is known is asked about, 64 times over if nobody bounds it.
func TestNobodyKnowsTheNeighboursInABlackHole(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections; nobody answers
	noError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p := impatient(t, l.Addr().String()+","+l.Addr().String())
	got := make(chan []int, 1)
	go func() { got <- p.redis.Neighbours(context.Background(), 7) }()
	until(t, "it gives up", func() bool { return len(got) > 0 })
	equal(t, "neighbours", <-got, []int{7})
	for _, h := range p.redis.Histories(context.Background()) {
		unavailable(t, "history", h.Err)
	}
}

// Also where those that run have lost their scripts, and the first round trip took as long
// as it may.
func TestOneNodeOfAClusterFailsAlone(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedisCluster(t)
	p := impatient(t, r.URL())
	p.redis.Load(t.Context())
	people := make([]social.ID, rdb.Parts)
	for found := 0; found < rdb.Parts; {
		if id := anyone(); people[rdb.Partition(id)] == 0 {
			people[rdb.Partition(id)] = id
			found++
		}
	}
	down := map[int]bool{}
	failed := func() (n int) {
		calls := make([]*rdb.Call, 0, 2*rdb.Parts)
		for _, id := range people {
			calls = append(calls, rdb.NewWrote(id).Call, rdb.MarkWrote(id))
		}
		p.redis.Run(t.Context(), inEpoch1, calls...)
		for _, c := range calls {
			if c.Err() != nil {
				n++
			}
			if failed := c.Err() != nil; len(down) > 0 && failed != down[c.Part] {
				t.Errorf("partition %d: %v", c.Part, c.Err())
			}
		}
		return n
	}
	until(t, "all answer", func() bool { return failed() == 0 })
	r.ScriptFlush(t)
	r.Nodes()[0].Freeze(t)
	for _, part := range p.redis.Neighbours(t.Context(), 0) { // the first node has the lowest slots
		down[part] = true
	}
	equal(t, "partitions that are down", len(down), 21)
	equal(t, "failed", failed(), 2*21)
	for part, h := range p.redis.Histories(t.Context()) {
		if (h.Err != nil) != down[part] {
			t.Errorf("history of %d: %v", part, h.Err)
		}
	}
	for _, part := range p.redis.Neighbours(t.Context(), 63) {
		equal(t, "is down, a neighbour of one that is not", down[part], false)
	}
}
