package rdb_test

import (
	"slices"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

// What is looked at tells of each blog what who reads it is told.
func TestStoredLikesTellWhatWhoReadsIsTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, other := w.person(t), w.person(t)
		blogs := []social.ID{at(1, 1), at(9, 9)}
		for ms := range social.Millis(8) {
			blogs = append(blogs, at(ms+1, 8), at(ms+1, 9))
		}
		agree := func(what string) {
			t.Helper()
			k, err := w.a.LikeKeys(t.Context(), p.id, 1)
			noError(t, err)
			equal(t, what+": version and floor", []any{k.Version, k.Floor}, []any{p.kept().version, p.kept().floor})
			letters := p.liked(token(), blogs...)
			for i, b := range blogs {
				want := byte('m')
				switch {
				case slices.Contains(k.Blogs, b):
					want = 'y'
				case k.Denies(b):
					want = 'n'
				}
				if letters[i] != want {
					t.Errorf("%s: of %d who reads is told %c, not %c", what, b, letters[i], want)
				}
			}
		}
		p.likes(3, 1, 2, 3)
		agree("all of them")
		p.likes(3, 1, 2, 3, 4, 5, 6)
		agree("the newest, and a filter")
		p.like(3, change{v: 2, blog: at(8, 9), is: yes, at: 8})
		agree("trimmed")
		noError(t, w.a.Client().SetRange(t.Context(), rdb.OldLikesKey(1, p.id), 30, string(make([]byte, 4))).Err())
		agree("with bits that are lost")
		other.likes(3, 1, 1, 2, 3, 4)
		for what, old := range map[string]string{"another's filter": other.kept().old, "nonsense": "nonsense", "no bits": p.kept().old[:30]} {
			noError(t, w.a.Client().Set(t.Context(), rdb.OldLikesKey(1, p.id), old, time.Hour).Err())
			k, err := w.a.LikeKeys(t.Context(), p.id, 1)
			noError(t, err)
			equal(t, what, k.Denies(at(1, 1)), false)
		}

		keyed, err := w.a.Keyed(t.Context(), []social.ID{anyone(), p.id}, inEpoch1)
		noError(t, err)
		equal(t, "who has keys", keyed, []social.ID{p.id})
		p.run(rdb.DropLikes(p.id))
		k, err := w.a.LikeKeys(t.Context(), p.id, 1)
		noError(t, err)
		equal(t, "dropped", k.There, false)
		p.likes(3, 1, 2)
		for _, member := range []string{"f", "v"} {
			noError(t, w.a.Client().ZRem(t.Context(), k.Key, member).Err())
			if _, err := w.a.LikeKeys(t.Context(), p.id, 1); err == nil || social.HasCode(err, social.Unavailable) {
				t.Errorf("likes without %s: %v", member, err)
			}
		}
	})
}

func TestStoredLikeCountsAreThoseThatAreThere(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, garbled, absent := w.person(t), w.person(t), w.person(t)
		for _, of := range []*person{p, garbled} {
			tok := token()
			of.run(rdb.TakeLikeCount(of.id, tok).Call)
			of.does("fill", rdb.FillLikeCount(of.id, tok, social.LikeCount{Likes: 3, Version: 5}), int64(1))
		}
		noError(t, w.a.Client().Set(t.Context(), rdb.LikeCountKey(1, garbled.id), "nonsense", time.Hour).Err())
		stored := w.a.StoredLikeCounts(t.Context(), []social.ID{absent.id, garbled.id, p.id}, inEpoch1)
		equal(t, "there", len(stored), 2)
		if s := stored[0]; s.Blog != garbled.id || s.Err == nil || social.HasCode(s.Err, social.Unavailable) {
			t.Errorf("garbled: %+v", s)
		}
		equal(t, "count", stored[1], rdb.StoredLikeCount{Blog: p.id, LikeCount: social.LikeCount{Likes: 3, Version: 5}})
		p.run(rdb.DropLikeCount(p.id))
		equal(t, "dropped", len(w.a.StoredLikeCounts(t.Context(), []social.ID{p.id}, inEpoch1)), 0)
	})
}
