package rdb_test

import (
	"sync"
	"testing"

	"kith/rdb"
)

// inEpoch2 is that of the calls that go along here.
func inEpoch2(int) int64 { return 2 }

func TestCallsGoAlongWithTheFirstRoundTripOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, q := w.person(t), w.person(t)
		w.a.Load(t.Context())
		there := func(key string) int64 { return w.a.Client().Exists(t.Context(), key).Val() }
		mark := rdb.MarkWrote(q.id)
		with, end := w.a.Along(t.Context(), inEpoch2, mark)
		unavailable(t, "not sent", mark.Err())
		w.a.Run(with, inEpoch1) // of no calls is no round trip
		unavailable(t, "still not sent", mark.Err())
		sent := w.a.Commands()
		first, second := rdb.MarkWrote(p.id), rdb.NewWrote(p.id)
		w.a.Run(with, inEpoch1, first, second.Call)
		noError(t, mark.Err())
		noError(t, first.Err())
		equal(t, "round trips", w.a.Commands()-sent, 1)
		equal(t, "each in its epoch", []int64{there(rdb.WroteKey(1, p.id)), there(rdb.WroteKey(2, p.id)),
			there(rdb.WroteKey(1, q.id)), there(rdb.WroteKey(2, q.id))}, []int64{1, 0, 0, 1})

		noError(t, w.a.Client().Del(t.Context(), rdb.WroteKey(2, q.id)).Err())
		sent = w.a.Commands()
		w.a.Run(with, inEpoch1, rdb.MarkWrote(p.id))
		end()
		end()
		equal(t, "round trips of the second, and of the end", w.a.Commands()-sent, 1)
		equal(t, "sent again", there(rdb.WroteKey(2, q.id)), 0)
	})
}

func TestCallsThatNothingTookAlongAreSentAtTheEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		mark := rdb.MarkWrote(p.id)
		_, end := w.a.Along(t.Context(), inEpoch2, mark)
		sent := w.a.Commands()
		end()
		noError(t, mark.Err())
		end()
		equal(t, "round trips", w.a.Commands()-sent, 1)
		equal(t, "in its epoch", w.a.Client().Exists(t.Context(), rdb.WroteKey(2, p.id)).Val(), 1)

		_, end = w.a.Along(t.Context(), inEpoch2)
		end()
		equal(t, "of no calls", w.a.Commands()-sent, 1+1) // and that of the look at the key
	})
}

// A request reads more than one thing at once.
func TestCallsGoAlongWithOneOfManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		reading := rdb.NewLiked(p.id, token(), 1)
		with, end := w.a.Along(t.Context(), inEpoch1, reading.Call)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { w.a.Run(with, inEpoch1, rdb.MarkWrote(p.id)) })
		}
		all.Wait()
		noError(t, reading.Call.Err())
		sent := w.a.Commands()
		end()
		equal(t, "round trips of the end", w.a.Commands()-sent, 0)
	})
}
