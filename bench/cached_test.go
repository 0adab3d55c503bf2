package bench

import (
	"fmt"
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

// Of the people, some have few blogs, some many; the others share the rest.
const (
	few  = 10 // people with one blog each
	many = 10 // people with manyBlogs each
	// manyBlogs reach as far back as all others'.
	manyBlogs = 1000
)

// BenchmarkCachedFeedPage reads pages of 20 of a feed through the caches: of readers with an
// inbox of 10 and of 499, who follow 10 and 5,000.
func BenchmarkCachedFeedPage(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	publish(b, s, ids[few+many:])
	spread(b, s, ids[:few], 1)
	spread(b, s, ids[few:few+many], manyBlogs)
	k := newServer(b, s, r, 2)
	for i, c := range []struct {
		name     string
		followed []social.ID
	}{
		{"inbox of 10, 10 followed", ids[:few]},
		{"inbox of 499, 10 followed", ids[few : few+many]},
		{"inbox of 499, 5,000 followed", ids[100:5100]},
	} {
		reader := ids[len(ids)-1-i]
		followAll(b, s, reader, c.followed)
		s.Exec(b, "UPDATE actor SET graph_version = 1, following = ? WHERE user_id = ?", len(c.followed), reader)
		b.Run(c.name, func(b *testing.B) { k.pages(b, r, reader) })
	}
}

// pages measures the pages of one reader.
func (k *server) pages(b *testing.B, r *socialtest.Redis, reader social.ID) {
	b.Helper()
	k.home(b, reader, social.Cursor{})
	k.awaitCalm(b, reader)
	b.Run("first page", func(b *testing.B) {
		for b.Loop() {
			k.home(b, reader, social.Cursor{})
		}
	})
	// One more is read than a page has, so the last that the inbox holds begins here.
	if last, ok := k.cursorAt(b, reader, inboxSize-1-21); ok {
		b.Run("last page above the floor", func(b *testing.B) {
			for b.Loop() {
				k.home(b, reader, last)
			}
		})
		below, _ := k.cursorAt(b, reader, inboxSize+20)
		b.Run("below the floor", func(b *testing.B) { k.walk(b, reader, below) })
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r.DropKeys(b, "inbox:*")
			r.DropKeys(b, "following:*")
			b.StartTimer()
			k.home(b, reader, social.Cursor{})
		}
	})
}

// cursorAt is the cursor of the nth entry of a feed, and whether it has so many.
func (k *server) cursorAt(b *testing.B, reader social.ID, n int) (social.Cursor, bool) {
	b.Helper()
	from := social.Cursor{}
	for {
		part, err := k.feed.Home(b.Context(), reader, social.Page{Limit: 100, From: from})
		if err != nil {
			b.Fatal(err)
		}
		if n <= len(part.Items) {
			return part.Items[n-1].Cursor, true
		}
		if !part.HasNext {
			return from, false
		}
		n -= len(part.Items)
		from = part.Items[len(part.Items)-1].Cursor
	}
}

// walk reads page after page below the floor, to the end of the feed and from the start
// again. Two statements read the bodies and authors of a page: one that sends more has read
// on in the feed.
func (k *server) walk(b *testing.B, reader social.ID, start social.Cursor) {
	from, pages, reads, reading := start, 0, 0, time.Duration(0)
	for b.Loop() {
		before, began := k.db.Statements(), time.Now()
		part := k.home(b, reader, from)
		if k.db.Statements()-before > 2 {
			reads++
			reading += time.Since(began)
		}
		pages++
		if from = start; part.HasNext {
			from = part.Items[len(part.Items)-1].Cursor
		}
	}
	b.ReportMetric(float64(pages)/float64(max(1, reads)), "pages/read")
	b.ReportMetric(float64(reading.Microseconds())/1000/float64(max(1, reads)), "ms/reading-page")
}

// spread writes blogs of each author, evenly over the last 200 days.
func spread(b *testing.B, s *socialtest.Store, authors []social.ID, each int) {
	b.Helper()
	var rows []string
	total := len(authors) * each
	step := 200 * 24 * time.Hour / time.Duration(total+1)
	for i := range total {
		at := s.Clock.Now().Add(-step * time.Duration(i+1))
		id := social.FirstIDAt(social.Millis(at.UnixMilli())) + 1 // publish has the first of a millisecond
		rows = append(rows, fmt.Sprintf("(%d,%d,0,'title','content','[]')", id, authors[i%len(authors)]))
	}
	insert(b, s, "blog (id, author_id, status, title, content, image_urls)", rows)
}
