package rdb_test

import (
	"fmt"
	"testing"

	"kith/rdb"
	"kith/social"
)

func TestLikeCountIsRenewedByANewerOneAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		take := func(tok string) (social.LikeCount, bool) {
			c := rdb.TakeLikeCount(p.id, tok)
			p.run(c.Call)
			return c.Answer()
		}
		known := func(what string, want social.LikeCount, there bool) {
			t.Helper()
			n, ok := take(token())
			equal(t, what, []any{n, ok}, []any{want, there})
		}
		n := func(likes, version int64) social.LikeCount {
			return social.LikeCount{Likes: likes, Version: version}
		}
		drop := func() { noError(t, w.a.Client().Del(t.Context(), rdb.LikeCountKey(1, p.id)).Err()) }
		tok, second := token(), token()
		p.run(rdb.RenewLikeCount(p.id, n(3, 3)))
		known("not there", n(0, 0), false)
		p.run(rdb.RenewLikeCount(p.id, n(3, 3))) // which ends the lease of that reading
		take(tok)
		take(second)
		p.does("second", rdb.FillLikeCount(p.id, second, n(1, 1)), int64(0))
		p.does("first", rdb.FillLikeCount(p.id, tok, n(0, 0)), int64(1))
		known("of no likes", n(0, 0), true)
		for _, c := range []struct{ brought, want social.LikeCount }{
			{n(1<<40, 9), n(1<<40, 9)}, {n(5, 8), n(1<<40, 9)}, {n(5, 9), n(1<<40, 9)}, {n(0, 10), n(0, 10)}, {n(7, 1<<52), n(7, 1<<52)}, {n(6, 11), n(7, 1<<52)},
		} {
			p.run(rdb.RenewLikeCount(p.id, c.brought))
			known(fmt.Sprintf("%+v", c.brought), c.want, true)
		}
		drop()
		take(tok)
		p.run(rdb.RenewLikeCount(p.id, n(1, 1))) // between a reading in SQL and its filling
		p.does("the lease was ended", rdb.FillLikeCount(p.id, tok, n(0, 0)), int64(0))
		known("so nothing is there", n(0, 0), false)
	})
}
