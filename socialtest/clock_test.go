package socialtest_test

import (
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

func TestClockStandsUntilMoved(t *testing.T) {
	t.Parallel()
	c := socialtest.NewClock()
	at := c.Now()
	if c.Now() != at || c.NowMS() != social.Clock(c.Now).NowMS() {
		t.Errorf("moved from %s to %s", at, c.Now())
	}
	c.Advance(-time.Second)
	if got := c.Now().Sub(at); got != -time.Second {
		t.Errorf("moved by %s", got)
	}
	c.Set(at.Add(time.Hour))
	if got := c.Now().Sub(at); got != time.Hour {
		t.Errorf("set to %s later", got)
	}
}

// Each test has a store of its own: nothing that another writes is in it.
func TestStoresAreApart(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		other := socialtest.NewSQLite(t)
		if s.IsMySQL() {
			other = socialtest.NewMySQL(t)
		}
		s.Exec(t, "INSERT INTO actor (user_id, graph_version, following) VALUES (1, 0, 0)")
		if n := other.Int(t, "SELECT COUNT(*) FROM actor"); n != 0 {
			t.Errorf("%d rows of another test", n)
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM actor"); n != 1 {
			t.Errorf("%d rows of our own", n)
		}
		if s.OpenServer(t).Lanes() == 0 {
			t.Error("a server opened without lanes")
		}
	})
}
