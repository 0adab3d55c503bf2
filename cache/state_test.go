package cache

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// believes is the epoch that a server believes in; -1 for none.
func (s *server) believes(part int) int64 {
	epoch, on := s.Epoch(part)
	if !on {
		return -1
	}
	return epoch
}

func TestReadingIsBelievedForLessThan2sFromBeforeItWasSent(t *testing.T) {
	x := newSite(t)
	s := x.server()
	equal(t, "nothing is known", s.believes(3), -1)
	s.begin()
	noError(t, x.store.DB.SwitchCachesOff(t.Context(), []db.CachePart{{Part: 4, Epoch: 1}}))

	calls, sent := 0, s.clock()
	s.clock = func() time.Duration { // the answer takes 1.5 s
		if calls++; calls > 1 {
			return sent + 1500*time.Millisecond
		}
		return sent
	}
	_, err := s.read(t.Context())
	noError(t, err)
	for after, want := range map[time.Duration]int64{
		1500 * time.Millisecond: 1, 2*time.Second - 1: 1, 2 * time.Second: -1, time.Hour: -1,
	} {
		s.clock = func() time.Duration { return sent + after }
		equal(t, after.String(), s.believes(3), want)
		equal(t, "off, after "+after.String(), s.believes(4), -1)
		equal(t, "is Redis known", s.isKnown(), want > 0)
	}
}

func TestReadingThatWasSentEarlierDoesNotReplaceALaterOne(t *testing.T) {
	t.Parallel()
	s := NewState(nil, nil, slog.New(slog.DiscardHandler), Config{})
	s.clock = func() time.Duration { return time.Hour }
	r := func(sent time.Duration, epoch int64) *reading {
		r := &reading{sentAt: time.Hour + sent}
		r.parts[0] = db.CachePart{Epoch: epoch, On: true}
		return r
	}
	s.note(r(-1, 5))
	s.note(r(-2, 4))
	epoch, on := s.Epoch(0)
	equal(t, "epoch", []any{epoch, on}, []any{5, true})
	s.note(r(0, 6))
	epoch, _ = s.Epoch(0)
	equal(t, "epoch", epoch, 6)
}

func TestServerThatDidNotAnswerIsPassedByForASecond(t *testing.T) {
	x := newSite(t)
	s := x.server()
	s.begin()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.Failed(ended, 3)
	equal(t, "a caller who gave up", s.believes(3), 1)
	s.Failed(t.Context(), 3)
	for _, part := range []int{0, 3, 63} { // all are of one server
		equal(t, "failing", s.believes(part), -1)
	}
	s.wait(time.Second - 1)
	equal(t, "failing", s.believes(3), -1)
	s.wait(1)
	equal(t, "a second later", s.believes(3), 1)
}

// Whoever changes something answers when the trust has passed since it first knew that the
// caches were off: others can have read that they were on only before.
func TestWriterWaitsUntilNobodyBelieves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known, again time.Duration // ago; again: it read once more that it is off
		epoch        int64
		want         time.Duration
	}{
		"just switched off": {0, 0, 1, Trust},
		"known for a while": {700 * time.Millisecond, 100 * time.Millisecond, 1, Trust - 700*time.Millisecond},
		"known for long":    {Trust, time.Second, 1, 0},
		"never was on":      {0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := NewState(nil, nil, slog.New(slog.DiscardHandler), Config{})
				s.clock = func() time.Duration { return time.Since(began) + time.Hour }
				p := db.CachePart{Part: 9, Epoch: c.epoch}
				s.noteOff(db.CachePart{Part: 9, Epoch: c.epoch + 7}) // another epoch says nothing
				s.noteOff(p)
				time.Sleep(c.known - c.again) //nolint:forbidigo // a bubble's time
				s.noteOff(p)
				time.Sleep(c.again) //nolint:forbidigo // a bubble's time
				asked := time.Now()
				noError(t, s.awaitOff(t.Context(), []db.CachePart{p, p}))
				equal(t, "waited", time.Since(asked), c.want)

				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				err := s.awaitOff(ctx, []db.CachePart{{Part: 8, Epoch: 1}})
				equal(t, "gave up: UNAVAILABLE", social.HasCode(err, social.Unavailable), true)
			})
		})
	}
}

func TestStateIsKeptKnown(t *testing.T) {
	x := newSite(t)
	s := x.serverOver(x.store.DB, x.redis.URL(), 500*time.Millisecond)
	s.begin()
	var reads atomic.Int64
	s.clock = func() time.Duration { return time.Duration(reads.Add(1)) * time.Second }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); reads.Load() < 3; {
		if time.Now().After(deadline) {
			t.Fatal("it is not read again")
		}
		select {
		case <-time.After(time.Millisecond):
		case err := <-ended:
			t.Fatal(err)
		}
	}
	cancel()
	noError(t, <-ended)
}

func TestWithoutSQLNothingIsSettledAndSoonNothingBelieved(t *testing.T) {
	t.Parallel()
	x := &site{T: t, store: socialtest.NewMySQL(t), redis: socialtest.NewRedis(t)}
	p, d := throughSQLProxy(t, x.store)
	s := x.serverOver(d, x.redis.URL(), 0)
	s.begin()
	who := x.person(3)
	p.Cut()
	for range 2 {
		err := s.Settle(t.Context(), drop(who))
		equal(t, "UNAVAILABLE", social.HasCode(err, social.Unavailable), true)
		err = s.SettleApart(t.Context(), drop(who))
		equal(t, "UNAVAILABLE", social.HasCode(err, social.Unavailable), true)
		if err := s.guard.look(t.Context()); err == nil {
			t.Error("the guard sees without SQL")
		}
	}
	equal(t, "believed", s.believes(3), 1)
	s.wait(Trust)
	equal(t, "no longer", s.believes(3), -1)
	p.Mend(t)
	noError(t, s.Settle(t.Context(), drop(who)))
	equal(t, "again", s.believes(3), 1)
}
