package bench

import (
	"slices"
	"testing"
	"time"

	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// BenchmarkPublishUntilVisible measures from the answer of publish to when the feed of a
// follower, read again and again through another server, shows it. Both servers consume
// events; nothing else is going on.
func BenchmarkPublishUntilVisible(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	author, reader := ids[0], ids[1]
	followersOf(b, s, author, ids[1:101])
	followAll(b, s, reader, []social.ID{author})
	s.Exec(b, "UPDATE actor SET graph_version = 1, following = 1 WHERE user_id = ?", reader)
	here, there := newServer(b, s, r, 2), newServer(b, s, r, 3)
	there.home(b, reader, social.Cursor{})
	var lags []time.Duration
	for b.Loop() {
		blog, err := here.feed.Publish(b.Context(), author, feed.Draft{Title: "a blog", Content: "its text"})
		if err != nil {
			b.Fatal(err)
		}
		answered := time.Now()
		for !shows(there.home(b, reader, social.Cursor{}), blog.ID) {
			if time.Since(answered) > 10*time.Second {
				b.Fatal("it does not appear")
			}
		}
		lags = append(lags, time.Since(answered))
	}
	slices.Sort(lags)
	ms := func(share float64) float64 {
		return float64(lags[int(share*float64(len(lags)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(float64(len(lags)), "blogs")
	b.ReportMetric(0, "ns/op")
}

func shows(page social.Part[feed.Entry], blog social.ID) bool {
	return slices.ContainsFunc(page.Items, func(e feed.Entry) bool { return e.Blog.ID == blog })
}
