package cache

import (
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kith/db"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

func drop(who social.ID) *rdb.Call { return rdb.DropCounts(who) }

func throughSQLProxy(t testing.TB, s *socialtest.Store) (*socialtest.Proxy, *db.DB) {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.Config.MySQL)
	noError(t, err)
	p := socialtest.NewProxy(t, cfg.Addr)
	cfg.Addr = p.Addr()
	behind := *s
	behind.Config = db.Config{MySQL: cfg.FormatDSN()}
	return p, behind.OpenServer(t)
}

// settles begins a Settle that must wait, since the held clock says that it has just
// switched off; it tells once the partition is off in SQL.
func (s *server) settles(part int, calls ...*rdb.Call) (done chan error) {
	x := s.site
	x.Helper()
	done = make(chan error, 1)
	go func() { done <- s.Settle(x.Context(), calls...) }()
	for {
		parts, err := x.store.DB.CacheParts(x.Context())
		noError(x, err)
		if !parts[part].On {
			return done
		}
	}
}

func TestWriteThatCannotReachRedisSwitchesOffItsOwnPartition(t *testing.T) {
	x := newSite(t)
	p, s := x.throughProxy()
	s.begin()
	who := x.person(5)
	p.Cut()
	done := s.settles(5, drop(who))
	select {
	case err := <-done:
		t.Fatalf("answered before the trust was over: %v", err)
	default:
	}
	s.knows("switched off", offIn1)
	noError(t, <-done)
	equal(t, "others believe", x.server().reads(6), 1)

	s.wait(Trust) // whoever comes later need not wait for those who believed once
	before := s.Redis.Commands()
	noError(t, s.Settle(t.Context(), drop(who)))
	equal(t, "calls of what is off are not sent", s.Redis.Commands()-before, 0)
}

// offIn1 is where one partition, not the first, is off.
const offIn1 = "63 on in 1, 1 off in 1"

// reads is what a server believes that has just read the state.
func (s *server) reads(part int) int64 {
	s.site.Helper()
	_, err := s.read(s.site.Context())
	noError(s.site, err)
	return s.believes(part)
}

func TestWriteToWhatFailedAMomentAgoDoesNotAskAgain(t *testing.T) {
	x := newSite(t)
	p, s := x.throughProxy()
	s.begin()
	one, other, third := x.person(5), x.person(9), x.person(10)
	p.Cut()
	equal(t, "from SQL", s.followers(one), 0)
	p.Mend(t)
	before := s.Redis.Commands()
	done := s.settles(9, drop(other))
	equal(t, "asked", s.Redis.Commands()-before, 0)
	s.knows("switched off", offIn1)

	s.wait(time.Second) // that it was not asked again says nothing new of it
	noError(t, s.Settle(t.Context(), drop(third)))
	s.knows("no more", offIn1)
	noError(t, <-done)
}

func TestWriteInEpoch0NeverWaits(t *testing.T) {
	x := newSite(t)
	s := x.server()
	before := s.Redis.Commands()
	noError(t, s.Settle(t.Context(), drop(x.person(5))))
	noError(t, s.SettleApart(t.Context(), drop(x.person(6)), drop(x.person(7))))
	noError(t, s.Settle(t.Context()))
	equal(t, "commands", s.Redis.Commands()-before, 0)
	s.knows("never on", "64 off in 0")
	noError(t, None(x.store.DB).Settle(t.Context(), drop(1)))
}

func TestWriteReachesTheEpochThatIsOn(t *testing.T) {
	x := newSite(t)
	a, b := x.server(), x.server()
	a.begin()
	who := x.person(5)
	equal(t, "on B", b.reads(5), 1)
	equal(t, "filled", b.followers(who), 0)
	x.sets(who, 1)
	equal(t, "kept in Redis", b.followers(who), 0)
	noError(t, a.Settle(t.Context(), drop(who)))
	equal(t, "dropped", b.followers(who), 1)
	noError(t, x.store.DB.SwitchCachesOff(t.Context(), []db.CachePart{{Part: 5, Epoch: 1}}))
	noError(t, x.store.DB.SwitchCachesOn(t.Context(), []db.CachePart{{Part: 5, Epoch: 1}}))
	equal(t, "B, in the next epoch", b.reads(5), 2)
	x.sets(who, 2)
	equal(t, "which has none of the keys of before", b.followers(who), 2)
	x.sets(who, 3)
	noError(t, a.SettleApart(t.Context(), drop(who))) // A believes in 1 until it reads
	equal(t, "dropped in the next", b.followers(who), 3)
}
