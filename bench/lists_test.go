package bench

import (
	"fmt"
	"testing"

	"kith/cache"
	"kith/follow"
	"kith/social"
	"kith/socialtest"
)

// BenchmarkSharedLists reads pages of 20 and counts of what a viewer who follows 5,000 shares
// with an account of a million followers, or with one who follows 5,000: where all are
// shared, one in a hundred, and none, which has to look up all 5,000.
func BenchmarkSharedLists(b *testing.B) {
	const star, viewer = 1, 2
	s := socialtest.NewMySQL(b)
	s.Exec(b, fmt.Sprintf(`INSERT INTO follower (user_id, follower_id, state, since)
		SELECT %d, 10000 + 2 * seq, 1, 1700000000000 + seq FROM seq_1_to_1000000`, star))
	shares := map[string]struct {
		viewer social.ID
		offset string // an odd id does not follow the star
	}{
		"all":              {viewer, "0"},
		"one in a hundred": {viewer + 1, "IF(seq % 100 = 0, 0, 1)"},
		"none":             {viewer + 2, "1"},
	}
	for _, sh := range shares {
		s.Exec(b, fmt.Sprintf(`INSERT INTO following (user_id, target_id, state, since)
			SELECT %d, 10000 + 400 * seq + %s, 1, 1700000000000 + seq FROM seq_1_to_5000`, sh.viewer, sh.offset))
	}
	s.Exec(b, "ANALYZE TABLE follower, following")
	g := follow.New(s.OpenServer(b), s.Clock.Now, follow.Config{})
	page := []social.Listing{{Owner: star, Page: social.Page{Limit: 20}}}
	mutual := []social.Listing{{Owner: viewer, Page: social.Page{Limit: 20}}}
	for name, sh := range shares {
		run := func(what string, read func() error) {
			b.Run(what+", shared: "+name, func(b *testing.B) {
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("followersYouKnow of a star", func() error { _, err := g.FollowersYouKnow(b.Context(), sh.viewer, page); return err })
		run("its totalCount", func() error { _, err := g.CountFollowersYouKnow(b.Context(), sh.viewer, []social.ID{star}); return err })
		run("mutualFollows", func() error { _, err := g.MutualFollows(b.Context(), sh.viewer, mutual); return err })
	}
}

// BenchmarkStar reads what a profile shows of an account with a million followers: its count
// and the first page of its followers, once from SQL each time, as of somebody who wrote
// lately, and once as everybody else does.
func BenchmarkStar(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	star := ids[0]
	s.Exec(b, fmt.Sprintf(`INSERT INTO follower (user_id, follower_id, state, since)
		SELECT %d, seq, 1, 1700000000000 + seq FROM seq_1_to_1000000`, star))
	s.Exec(b, "ANALYZE TABLE follower")
	k := newServer(b, s, r, 2)
	g := follow.New(k.db, s.Clock.Now, follow.Config{Followers: k.caches.Followers})
	page := []social.Listing{{Owner: star, Page: social.Page{Limit: 20}}}
	for _, inProcess := range []bool{false, true} {
		name := "by SQL"
		if inProcess {
			name = "in process"
		}
		b.Run(name, func(b *testing.B) {
			before := k.db.Statements()
			b.RunParallel(func(pb *testing.PB) {
				ctx := b.Context()
				if inProcess {
					ctx = cache.With(ctx)
				}
				for pb.Next() {
					parts, err := g.Followers(ctx, page)
					if err != nil || len(parts[page[0]].Items) != 20 {
						b.Error(len(parts[page[0]].Items), err)
						return
					}
					if _, err := k.caches.Counts(ctx, []social.ID{star}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
			b.ReportMetric(float64(k.db.Statements()-before)/b.Elapsed().Seconds(), "statements/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}
