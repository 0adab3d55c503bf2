package account

import (
	"log/slog"
	"testing"
	"time"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// revocations are those of a server over a store, by clocks that the test holds.
func revocations(t testing.TB, s *socialtest.Store) *Revocations {
	t.Helper()
	r := newRevocations(s.DB, s.Clock.Now, 0)
	r.now = s.Clock.Now
	return r
}

// ended writes that tokens have ended, as another server would.
func ended(t testing.TB, s *socialtest.Store, all ...social.EndedTokens) {
	t.Helper()
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		for _, e := range all {
			if err := tx.InsertEnded(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asks holds what is said of a token, and how many statements that took, against what is
// wanted.
func asks(t *testing.T, s *socialtest.Store, r *Revocations, what string, tk token, want bool, statements int64) {
	t.Helper()
	before := s.DB.Statements()
	got, err := r.has(t.Context(), tk)
	noError(t, err)
	if n := s.DB.Statements() - before; got != want || n != statements {
		t.Errorf("%s: ended %v by %d statements, want %v by %d", what, got, n, want, statements)
	}
}

func TestTheStoreIsAskedUntilAllIsKnownAndWheneverThatIsOld(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		until := s.Clock.NowMS() + 1_000_000
		ended(t, s, social.EndedTokens{UserID: 1, Token: "a", Until: until}, social.EndedTokens{UserID: 2, Version: 2, Until: until})
		r := revocations(t, s)
		check := func(what string, statements int64) {
			t.Helper()
			asks(t, s, r, what+", ended by name", token{user: 1, id: "a"}, true, min(statements, 1))
			asks(t, s, r, what+", another name", token{user: 1, id: "b"}, false, statements)
			asks(t, s, r, what+", the name of another's", token{user: 3, id: "c"}, false, statements)
			asks(t, s, r, what+", an old version", token{user: 2, id: "x", version: 1}, true, min(statements, 1))
			asks(t, s, r, what+", of the version", token{user: 2, id: "x", version: 2}, false, statements)
		}
		check("at the beginning", 1)
		noError(t, r.Load(t.Context()))
		check("nobody follows the events", 1)
		r.Seen(s.Clock.Now())
		check("the events are followed, and no row is read", 1)
		noError(t, r.Load(t.Context()))
		check("loaded", 0)
		before := s.DB.Statements()
		noError(t, r.Load(t.Context()))
		if s.DB.Statements() != before {
			t.Error("it was read twice")
		}
		s.Clock.Advance(endedTrust - 1)
		check("seen just under a second ago", 0)
		s.Clock.Advance(1)
		asks(t, s, r, "seen a second ago", token{user: 1, id: "b"}, false, 1)
		asks(t, s, r, "seen a second ago, and ended", token{user: 1, id: "a"}, true, 0)
		r.Seen(s.Clock.Now())
		check("seen again", 0)
		r.Missed()
		asks(t, s, r, "events were missed", token{user: 1, id: "b"}, false, 1)
		ended(t, s, social.EndedTokens{UserID: 1, Token: "b", Until: until})
		r.Seen(s.Clock.Now())
		noError(t, r.Load(t.Context()))
		asks(t, s, r, "what was missed", token{user: 1, id: "b"}, true, 0)
	})
}

func TestWhatIsHeardIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	r := revocations(t, s)
	until := s.Clock.NowMS() + 1_000_000
	for range 2 { // events may come twice, and in any order
		r.Heard(social.UserBody{UserID: 1, Ended: &social.EndedTokens{Version: 3, Until: until}})
		r.Heard(social.UserBody{UserID: 1, Ended: &social.EndedTokens{Version: 2, Until: until}})
		r.Heard(social.UserBody{UserID: 1, Ended: &social.EndedTokens{Token: "a", Until: until}})
		r.Heard(social.UserBody{UserID: 1})
		r.Heard(social.BlogBody{BlogID: 1, AuthorID: 1})
	}
	r.Seen(s.Clock.Now())
	noError(t, r.Load(t.Context()))
	asks(t, s, r, "version 2", token{user: 1, id: "x", version: 2}, true, 0)
	asks(t, s, r, "version 3", token{user: 1, id: "x", version: 3}, false, 0)
	asks(t, s, r, "the named", token{user: 1, id: "a", version: 9}, true, 0)
}

// What is missed while the rows are read may be of a row that was not there yet.
func TestWhatWasMissedDuringTheReadingIsReadAgain(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		until := s.Clock.NowMS() + 1_000_000
		ended(t, s, social.EndedTokens{UserID: 1, Token: "a", Until: until})
		r := revocations(t, s)
		r.Seen(s.Clock.Now())
		r.clock = func() time.Time { // asked once a page, after its reading
			r.clock = s.Clock.Now
			r.Missed()
			ended(t, s, social.EndedTokens{UserID: 1, Token: "b", Until: until})
			return s.Clock.Now()
		}
		noError(t, r.Load(t.Context()))
		asks(t, s, r, "read too early", token{user: 1, id: "b"}, true, 1)
		r.Seen(s.Clock.Now())
		noError(t, r.Load(t.Context()))
		asks(t, s, r, "read again", token{user: 1, id: "b"}, true, 0)
	})
}

func TestMoreThanAPageIsRead(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var all []social.EndedTokens
		for i := range social.ID(2*endedPage + 1) {
			all = append(all, social.EndedTokens{UserID: i + 1, Version: 1, Until: s.Clock.NowMS() + 1_000_000})
		}
		ended(t, s, all...)
		r := revocations(t, s)
		r.Seen(s.Clock.Now())
		noError(t, r.Load(t.Context()))
		for _, id := range []social.ID{1, endedPage, endedPage + 1, 2*endedPage + 1} {
			asks(t, s, r, id.String(), token{user: id, id: "x"}, true, 0)
		}
	})
}

func TestWhatHasExpiredIsForgotten(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	r := revocations(t, s)
	for i := range social.ID(10) {
		until := s.Clock.NowMS() + 1000*social.Millis(i)
		r.add(social.EndedTokens{UserID: i + 1, Token: i.String(), Until: until}, social.EndedTokens{UserID: i + 1, Version: 1, Until: until})
	}
	s.Clock.Advance(4500 * time.Millisecond)
	r.forget()
	if len(r.tokens) != 5 || len(r.persons) != 5 {
		t.Errorf("%d tokens and %d people are left", len(r.tokens), len(r.persons))
	}
}

func TestRunReadsOnceTheEventsAreFollowed(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ended(t, s, social.EndedTokens{UserID: 1, Token: "a", Until: s.Clock.NowMS() + 1_000_000})
		s.Exec(t, "ALTER TABLE revoked RENAME TO away")
		r := newRevocations(s.DB, s.Clock.Now, time.Hour)
		go func() { _ = r.Run(t.Context(), slog.New(slog.DiscardHandler)) }()
		loaded := func() bool {
			r.mu.RLock()
			defer r.mu.RUnlock()
			return r.loaded
		}
		if loaded() {
			t.Error("read before the events were followed")
		}
		before := s.DB.Statements()
		r.Seen(time.Now())
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for s.DB.Statements() == before {
			<-tick.C
		}
		s.Exec(t, "ALTER TABLE away RENAME TO revoked")
		for deadline := time.Now().Add(20 * time.Second); !loaded(); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatal("never read again")
			}
		}
		asks(t, s, r, "known", token{user: 1, id: "a"}, true, 0)
	})
}
