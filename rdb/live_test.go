package rdb_test

import (
	"testing"

	"kith/rdb"
	"kith/social"
)

func TestWhoseBlogsAFeedHasIsAskedOfTheListOfThoseFollowed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.person(t)
		x := social.ID(0x80ff7f00_ff807f01 >> 1)
		ask := func(what string, known bool, want []bool, authors ...social.ID) {
			t.Helper()
			f := rdb.NewFollows(p.id, authors...)
			p.run(f.Call)
			got, is := f.Answer()
			equal(t, what, []any{is, got}, []any{known, want})
		}
		ask("no list", false, nil, 2, x)
		p.follows(5, 2, x)
		ask("a list", true, []bool{true, false, true}, 2, 3, x)
		p.move(6, unfollow, x, true)
		ask("unfollowed", true, []bool{false}, x)
		p = w.person(t)
		p.follows(7)
		ask("nobody", true, []bool{false, false}, 2, x)
	})
}
