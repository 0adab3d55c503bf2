package events_test

import (
	"context"
	"testing"
	"time"

	"kith/db"
	"kith/events"
	"kith/social"
	"kith/socialtest"
)

const day = 24 * time.Hour

func trimmer(s *socialtest.Store) *events.Trimmer { return events.NewTrimmer(s.DB, quiet) }

// publish writes n events, each in a transaction of its own.
func publish(t testing.TB, s *socialtest.Store, n int) {
	t.Helper()
	publishUsers(t, s.DB, 1, social.ID(n))
}

// age makes all events older, by the store's clock.
func age(t testing.TB, s *socialtest.Store, by time.Duration) {
	t.Helper()
	s.Exec(t, "UPDATE outbox SET created_at = created_at - ?", by.Milliseconds())
}

func left(t testing.TB, s *socialtest.Store) int64 {
	t.Helper()
	return s.Int(t, "SELECT COUNT(*) FROM outbox")
}

func TestEventsOlderThanADayAreTrimmed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		publish(t, s, 30)
		age(t, s, day-time.Hour)
		publish(t, s, 10)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left, none a day old", left(t, s), 40)
		age(t, s, 2*time.Hour)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left of the younger", left(t, s), 10)
		age(t, s, day)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left", left(t, s), 0)
		publish(t, s, 1)
		equal(t, "numbers go on", s.Int(t, "SELECT SUM(seq) FROM lane"), 41)
		equal(t, "and are new", s.Int(t, "SELECT COUNT(*) FROM outbox o JOIN lane l ON l.lane = o.lane AND l.seq = o.seq"), 1)
	})
}

// 2,500 old rows of one lane: three pieces, of a reading and a deletion each.
func TestTrimmingWorksInPieces(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		now := s.Clock.NowMS()
		fill(t, s, 2500, now-social.Millis(day.Milliseconds())-1)
		fill(t, s, 40, now)
		before := s.DB.Statements()
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left", left(t, s), 40)
		// And one reading of the clock, of positions, of each other lane, of the keys of
		// publishing, and of ended tokens.
		equal(t, "statements", s.DB.Statements()-before, 3*2+2+int64(s.DB.Lanes()-1)+2)
		publish(t, s, 1)
		equal(t, "numbers", s.Int(t, "SELECT SUM(seq) FROM lane"), 2541)
	})
}

func TestEndedTokensAreTrimmedOnceTheyHaveExpired(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		now, err := s.DB.NowMS(t.Context())
		noError(t, err)
		const n = 1500 // more than a piece
		noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			for i := range social.Millis(n) {
				for _, until := range []social.Millis{social.Millis(now) - 1 - i, social.Millis(now) + 1_000_000 + i} {
					if err := tx.InsertEnded(t.Context(), social.EndedTokens{UserID: 1, Version: 1, Until: until}); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left", s.Int(t, "SELECT COUNT(*) FROM revoked"), n)
		equal(t, "of those that have expired", s.Int(t, "SELECT COUNT(*) FROM revoked WHERE until < ?", now), 0)
	})
}

// consumed makes a consumer one that has passed all up to a number of lane 0, and all of
// the others.
func consumed(t testing.TB, s *socialtest.Store, name string, position int64) {
	t.Helper()
	s.Exec(t, "DELETE FROM consumed WHERE consumer = ?", name)
	s.Exec(t, `INSERT INTO consumed (consumer, lane, position, holder, held_until)
		SELECT ?, lane, seq, '', 0 FROM lane`, name)
	s.Exec(t, "UPDATE consumed SET position = ? WHERE lane = 0 AND consumer = ?", position, name)
}

func TestOnlyWhatEveryConsumerHasPassedIsTrimmed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 30, s.Clock.NowMS())
		age(t, s, 30*day)
		consumed(t, s, "fast", 25)
		consumed(t, s, "slow", 0)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left, none is passed by both", left(t, s), 30)
		consumed(t, s, "slow", 10)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left", left(t, s), 20)
		equal(t, "oldest", s.Int(t, "SELECT MIN(seq) FROM outbox"), 11)
		s.Exec(t, "DELETE FROM consumed WHERE consumer = 'slow'")
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "oldest when the slow one is no more", s.Int(t, "SELECT MIN(seq) FROM outbox"), 26)
	})
}

func TestPassedEventsAreTrimmedWhenTheyAreAMinuteOld(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		publish(t, s, 30)
		age(t, s, 30*time.Second)
		start(t, consumer(s.DB, newSeen().handle).Run)
		eventually(t, "all are passed", func() bool { return behind(t, s) == 0 })
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left, none a minute old", left(t, s), 30)
		age(t, s, 31*time.Second)
		publish(t, s, 5)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left", left(t, s), 5)
		s.CheckInvariants(t)
		eventually(t, "the five are passed", func() bool { return behind(t, s) == 0 })
		age(t, s, time.Minute+time.Second)
		noError(t, trimmer(s).Trim(t.Context()))
		equal(t, "left of the last", left(t, s), 0)
		s.CheckInvariants(t)
	})
}

func TestPublishKeysOlderThanADayAreTrimmed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		put := func(key string, at social.Millis) {
			noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
				return tx.PutPublishKey(t.Context(), &db.PublishKey{UserID: 1, Key: key, BlogID: 1, BodyHash: make([]byte, 32), CreatedAt: at})
			}))
		}
		now := s.Clock.NowMS()
		put("old", now-social.Millis(day.Milliseconds())-1)
		put("almost a day", now-social.Millis((day-time.Minute).Milliseconds()))
		put("new", now)
		noError(t, trimmer(s).Trim(t.Context()))
		for key, gone := range map[string]bool{"old": true, "almost a day": false, "new": false} {
			_, err := s.DB.PublishKeyOf(t.Context(), 1, key)
			equal(t, key+" is gone", social.HasCode(err, social.NotFound), gone)
		}
	})
}

func TestServersTrimAtOnce(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		fill(t, s, 2500, 1)
		other := *s
		other.DB = s.OpenServer(t)
		ended := make(chan error)
		for _, tr := range []*events.Trimmer{trimmer(s), trimmer(&other)} {
			go func() { ended <- tr.Trim(t.Context()) }()
		}
		noError(t, <-ended)
		noError(t, <-ended)
		equal(t, "left", left(t, s), 0)
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- trimmer(s).Run(ctx) }()
		cancel()
		noError(t, <-ended)
	})
}

func TestTrimmingWithoutAStoreIsAnError(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := trimmer(s).Trim(ended); err == nil {
			t.Error("trimmed")
		}
	})
}
