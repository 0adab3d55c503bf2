package rdb_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"kith/rdb"
	"kith/socialtest"
)

// epochs are those of all partitions whose server knows one.
func epochs(t testing.TB, r *rdb.Redis) map[int]int64 {
	t.Helper()
	known := map[int]int64{}
	for part, h := range r.Histories(t.Context()) {
		noError(t, h.Err)
		if h.Epoch != 0 {
			known[part] = h.Epoch
		}
	}
	return known
}

func begin(t testing.TB, r *rdb.Redis, epoch int64, parts ...int) {
	t.Helper()
	for _, part := range parts {
		c := rdb.BeginEpoch(part, epoch, r.Histories(t.Context())[part])
		r.Run(t.Context(), inEpoch1, c)
		noError(t, c.Err())
	}
}

func TestEpochIsKnownInItsHistoryAlone(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedis(t)
	p := own(t, r, nil)
	again := func(what string) {
		t.Helper()
		var known map[int]int64
		until(t, what, func() bool { known = epochs(t, p.redis); return true })
		equal(t, what, known, map[int]int64{})
		begin(t, p.redis, 7, 0, 63)
		begin(t, p.redis, 1<<60, 5)
		equal(t, "begun after: "+what, epochs(t, p.redis), map[int]int64{0: 7, 5: 1 << 60, 63: 7})
	}
	again("at first")
	r.Snapshot(t)
	r.ScriptFlush(t)
	equal(t, "scripts are no history", len(epochs(t, p.redis)), 3)
	r.Flush(t)
	again("flushed")
	answers := func() {
		until(t, "it answers", func() bool { return p.redis.Ping(t.Context()) == nil })
	}
	r.Restore(t)
	answers()
	again("gone back")
	r.Kill(t)
	for _, h := range p.redis.Histories(t.Context()) {
		unavailable(t, "killed", h.Err)
	}
	r.Start(t)
	answers()
	again("started anew")
	for _, text := range []string{"", "7", "x", "7 another run", "07 " + "x"} {
		noError(t, r.Client().Set(t.Context(), rdb.EpochKey(0), text, 0).Err())
		equal(t, "another text", epochs(t, p.redis)[0], int64(0))
	}
}

// A server that does not say which run it is could go back unnoticed.
func TestServerThatHidesItsRunHasNoHistory(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedis(t)
	p := own(t, r, nil)
	begin(t, p.redis, 7, 0)
	noError(t, r.Client().Do(t.Context(), "ACL", "SETUSER", "default", "-info").Err())
	for _, h := range p.redis.Histories(t.Context()) {
		unavailable(t, "hidden", h.Err)
	}
}

func TestHistoriesOfEmbeddedRedis(t *testing.T) {
	t.Parallel()
	r := open(t, "")
	equal(t, "at first", epochs(t, r), map[int]int64{})
	begin(t, r, 3, 9)
	equal(t, "begun", epochs(t, r), map[int]int64{9: 3})
	equal(t, "neighbours", len(r.Neighbours(t.Context(), 9)), rdb.Parts)
}

func TestEachNodeOfAClusterHasItsHistory(t *testing.T) {
	t.Parallel()
	r := socialtest.NewRedisCluster(t)
	p := own(t, r, nil)
	var all []int
	for part := range rdb.Parts {
		all = append(all, part)
	}
	begin(t, p.redis, 2, all...)
	equal(t, "begun", len(epochs(t, p.redis)), rdb.Parts)
	first := redis.NewClient(&redis.Options{Addr: r.Nodes()[0].Addr()})
	noError(t, errors.Join(first.FlushAll(t.Context()).Err(), first.Close()))
	parts := p.redis.Neighbours(t.Context(), 0)
	known := epochs(t, p.redis)
	for _, part := range parts {
		equal(t, "of the flushed", known[part], int64(0))
	}
	equal(t, "of the others", len(known), rdb.Parts-len(parts))
}
