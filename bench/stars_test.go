package bench

import (
	"fmt"
	"testing"

	"kith/social"
	"kith/socialtest"
)

// BenchmarkStarFeedPage reads the first page of 20 of somebody who follows 1,000, of whom
// more and more are stars, once all of it is warm. Beside its time are the round trips of a
// page, with the few that a server sends at rest.
func BenchmarkStarFeedPage(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	publish(b, s, ids)
	reader, followed := ids[len(ids)-1], ids[100:1100]
	followAll(b, s, reader, followed)
	s.Exec(b, "UPDATE actor SET graph_version = 1, following = ? WHERE user_id = ?", len(followed), reader)
	k := newServer(b, s, r, 2)
	k.home(b, reader, social.Cursor{})
	k.awaitCalm(b, reader)
	for _, stars := range []int{0, 40, 1000} {
		if stars > 0 {
			s.Exec(b, "UPDATE user SET star_since = 1 WHERE id BETWEEN ? AND ?", followed[0], followed[stars-1])
		}
		if err := k.feed.Stars.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(stars, " stars"), func(b *testing.B) {
			k.warm(b, reader)
			statements, commands := k.db.Statements(), k.redis.Commands()
			for b.Loop() {
				k.home(b, reader, social.Cursor{})
			}
			b.ReportMetric(float64(k.db.Statements()-statements)/float64(b.N), "statements/page")
			b.ReportMetric(float64(k.redis.Commands()-commands)/float64(b.N), "redis/page")
		})
	}
}

// warm reads until a page needs no statement: of many stars each page reads some.
func (k *server) warm(b *testing.B, reader social.ID) {
	b.Helper()
	for range 1000 {
		before := k.db.Statements()
		k.home(b, reader, social.Cursor{})
		if k.db.Statements() == before {
			return
		}
	}
	b.Fatal("no page comes from memory")
}
