package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kith/cache"
	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// blogs is how many there are; they are spread over the last 200 days.
const blogs = 200_000

// BenchmarkFeedPage reads pages of 20 of a feed from SQL alone: the first page, and one
// in the middle of the feed.
func BenchmarkFeedPage(b *testing.B) {
	s := socialtest.NewMySQL(b)
	ids := populate(b, s)
	publish(b, s, ids)
	d := s.OpenServer(b)
	f := feed.New(d, cache.None(d), s.IDs, s.Clock.Now, feed.Config{})
	middle := social.FirstIDAt(s.Clock.NowMS() - 100*24*3600*1000)
	for i, followed := range []int{10, 1000, 5000} {
		reader := ids[i]
		followAll(b, s, reader, ids[100:100+followed])
		for name, from := range map[string]social.Cursor{"first page": {}, "in the middle": {MinTime: middle.Time(), ID: middle}} {
			b.Run(fmt.Sprintf("%d followed, %s", followed, name), func(b *testing.B) {
				for b.Loop() {
					part, err := f.Home(b.Context(), reader, social.Page{Limit: 20, From: from})
					if err != nil || len(part.Items) == 0 {
						b.Fatalf("%d entries, %v", len(part.Items), err)
					}
				}
			})
		}
	}
}

// publish writes the blogs by the shortest way, and gives them in the order of their ids.
func publish(b *testing.B, s *socialtest.Store, authors []social.ID) (ids []social.ID) {
	b.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	first := s.Clock.Now().Add(-200 * 24 * time.Hour)
	step := 200 * 24 * time.Hour / blogs
	var rows []string
	for i := range blogs {
		id := social.FirstIDAt(social.Millis(first.Add(time.Duration(i) * step).UnixMilli()))
		ids = append(ids, id)
		rows = append(rows, fmt.Sprintf("(%d,%d,0,'title','content','[]')", id, authors[rng.IntN(len(authors))]))
		if len(rows) == 2000 {
			s.Exec(b, "INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES "+strings.Join(rows, ","))
			rows = rows[:0]
		}
	}
	s.Exec(b, "UPDATE user_count SET blogs = (SELECT COUNT(*) FROM blog WHERE author_id = user_id)")
	return ids
}

func followAll(b *testing.B, s *socialtest.Store, reader social.ID, targets []social.ID) {
	b.Helper()
	rows := make([]string, len(targets))
	for i, t := range targets {
		rows[i] = fmt.Sprintf("(%d,%d,1,%d)", reader, t, i+1)
	}
	s.Exec(b, "INSERT INTO following (user_id, target_id, state, since) VALUES "+strings.Join(rows, ","))
}
