package feed_test

import (
	"sync"
	"testing"
	"time"

	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/social"
	"kith/socialtest"
)

// A blog whose id grew old while its transaction waited is rolled back and written anew:
// otherwise it would appear far below the head of feeds that have been read meanwhile.
func TestABlogIsCommittedWithAYoungID(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ctx := t.Context()
		author := &social.User{ID: 1, Handle: "abc", Name: "A"}
		if err := s.DB.Transact(ctx, func(tx *db.Tx) error { return tx.InsertUser(ctx, author, "x") }); err != nil {
			t.Fatal(err)
		}
		// The store is slow once: the clock jumps after the first look at it.
		var slow sync.Once
		clock := func() time.Time {
			now := s.Clock.Now()
			slow.Do(func() { s.Clock.Advance(5*time.Second + time.Millisecond) })
			return now
		}
		f := feed.New(s.DB, cache.None(s.DB), social.NewSnowflake(clock, socialtest.Node(1)), s.Clock.Now, feed.Config{})
		b, err := f.Publish(ctx, author.ID, feed.Draft{Title: "a blog", Content: "text"})
		if err != nil {
			t.Fatal(err)
		}
		if b.CreatedAt() != s.Clock.NowMS() {
			t.Errorf("its id is of %v, the commit of %v", b.CreatedAt(), s.Clock.NowMS())
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM blog"); n != 1 {
			t.Errorf("%d blogs are there", n)
		}
		s.CheckInvariants(t)
	})
}
