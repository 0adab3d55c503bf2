package db_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// throughProxy opens the store by way of a proxy.
func throughProxy(t testing.TB, s *socialtest.Store) (*socialtest.Proxy, *db.DB) {
	t.Helper()
	cfg, err := mysql.ParseDSN(s.Config.MySQL)
	noError(t, err)
	p := socialtest.NewProxy(t, cfg.Addr)
	cfg.Addr = p.Addr()
	behind := *s
	behind.Config = db.Config{MySQL: cfg.FormatDSN()}
	return p, behind.OpenServer(t)
}

func TestServerThatIsDownIsUnavailableAtOnceAndRecovers(t *testing.T) {
	onMySQL(t, func(t *testing.T, s *socialtest.Store) {
		p, d := throughProxy(t, s)
		group := db.NewGroup(func(ctx context.Context, ops []int) error {
			return d.Transact(ctx, func(tx *db.Tx) error { return tx.Exec(ctx, "SELECT 1") })
		})
		noError(t, group.Do(t.Context(), 1))
		p.Cut()
		for range 3 {
			hasCode(t, d.Ping(t.Context()), social.Unavailable)
			_, err := d.UsersByID(t.Context(), []social.ID{1})
			hasCode(t, err, social.Unavailable)
			hasCode(t, d.Transact(t.Context(), func(*db.Tx) error { return nil }), social.Unavailable)
			hasCode(t, group.Do(t.Context(), 1), social.Unavailable)
			hasCode(t, lease(d, time.Now).Renew(t.Context()), social.Unavailable)
		}
		p.Mend(t)
		noError(t, d.Ping(t.Context()))
		noError(t, group.Do(t.Context(), 1))
	})
}

func TestOpeningAServerThatIsNotThereIsAClearError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	addr := l.Addr().String()
	noError(t, l.Close())
	_, err = db.Open(t.Context(), db.Config{MySQL: "root@tcp(" + addr + ")/kith"})
	if err == nil || !strings.Contains(err.Error(), "open MySQL") || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v", err)
	}
}
