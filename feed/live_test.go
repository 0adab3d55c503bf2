package feed_test

import (
	"slices"
	"testing"
	"time"

	"kith/events"
	"kith/social"
)

// SUB-3: each subscription of a person gets every blog, in the order of publishing, though
// events come by lanes in any order; and what one that was closed leaves, the others get.
func TestEverySubscriptionGetsEveryBlogInOrder(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2, 3)
		tabs := []interface{ Close() }{}
		a, b, c := r.subscribe(1, nil), r.subscribe(1, nil), r.subscribe(1, nil)
		tabs = append(tabs, a, b, c)
		var blogs []social.BlogRef
		var evs []events.Event
		for range 6 {
			blogs = append(blogs, r.row(2, 0))
		}
		blogs = append(blogs, r.row(3, 0))
		for _, b := range blogs {
			evs = append(evs, r.event(b, 1))
		}
		evs = append(evs, r.event(r.row(4, 0), 1)) // whom nobody follows
		slices.Reverse(evs)
		r.seen(evs...)
		for range 2 {
			r.gets(a, blogs[0])
			r.gets(b, blogs[0])
			r.gets(c, blogs[0])
			blogs = blogs[1:]
		}
		r.gets(c, blogs...)
		tabs[1].Close()
		last := r.row(2, 0)
		r.seen(r.event(last, 2))
		r.gets(a, append(blogs, last)...)
		r.gets(c, last)
		r.size("two of three", 1, 2)
	})
}

// Whatever the hub has heard: what is not in the feed when a blog is to be sent is not sent.
// The hub hears of none of these.
func TestWhatTheFeedHasNoMoreIsNotSent(t *testing.T) {
	for name, hide := range map[string]string{
		"unfollowed":       "UPDATE following SET state = 0 WHERE target_id = 2",
		"only asked":       "UPDATE following SET state = 2 WHERE target_id = 2",
		"muted":            "INSERT INTO mute (user_id, target_id, since) VALUES (1, 2, 5)",
		"suspended author": "UPDATE user SET status = 1 WHERE id = 2",
		"deleted author":   "UPDATE user SET status = 2 WHERE id = 2",
		"deleted blog":     "UPDATE blog SET status = 1 WHERE author_id = 2",
	} {
		t.Run(name, func(t *testing.T) {
			eachLive(t, func(r *liveRig) {
				r.follows(1, 2, 3)
				live, replay := r.subscribe(1, nil), r.subscribe(1, r.at(time.Minute))
				blog := r.row(2, 0)
				since := r.subscribe(1, r.at(time.Minute)) // and has read that the blog is there
				r.Exec(r, hide)
				r.seen(r.event(blog, 1))
				r.getsNoMore(live, 3)
				last := r.row(3, 0)
				r.seen(r.event(last, 2))
				r.gets(live, last)
				for range 2 {
					if e, err := r.next(replay); err != nil || e.Author.ID != 3 {
						r.Errorf("%+v, %v", e, err)
					}
					if e, err := r.next(since); err != nil || e.Author.ID != 3 {
						r.Errorf("replayed: %+v, %v", e, err)
					}
				}
			})
		})
	}
}

// Lanes have no order: a follow is heard with blogs from before and after it. Those after it
// are sent; the older are not.
func TestAFollowBringsWhatIsPublishedAfterIt(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 3)
		s := r.subscribe(1, nil)
		long, before, after := r.row(2, time.Minute), r.row(2, 0), r.row(2, 0)
		r.seen(r.event(long, 10))
		r.follows(1, 2)
		// In an order that is not that of the log's times.
		r.seen(r.event(after, 30), r.event(before, 19), r.change(1, 2, social.Following, 1, 20))
		r.gets(s, after)
		r.getsNoMore(s, 3)

		// Unfollowed and followed again, heard the wrong way round.
		again := r.row(2, 0)
		r.seen(r.event(again, 60), r.change(1, 2, social.Following, 3, 50), r.change(1, 2, social.NotFollowing, 2, 40))
		r.gets(s, again)

		r.Exec(r, "UPDATE following SET state = 0 WHERE target_id = 2")
		r.seen(r.change(1, 2, social.NotFollowing, 4, 70))
		r.size("unfollowed", 1, 1)
	})
}

// What was queued is not given out once the unfollow is heard.
func TestWhatWaitsForASlowReaderGoesWithTheFollow(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2, 3)
		s, other := r.subscribe(1, nil), r.subscribe(1, nil)
		hidden, last := r.row(2, 0), r.row(3, 0)
		r.seen(r.event(hidden, 1), r.event(last, 1))
		r.gets(other, hidden, last) // so both are queued
		r.Exec(r, "UPDATE following SET state = 0 WHERE target_id = 2")
		r.seen(r.change(1, 2, social.NotFollowing, 1, 2))
		r.gets(s, last)
	})
}

// A blog that is published at any moment while a subscription begins comes once: it is
// replayed, or heard, or both. One that is too old for the replay stands for what is committed
// when that has been read: it is heard alone.
func TestNothingIsMissedWhileASubscriptionBegins(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		first := r.row(2, 0)
		since := &social.Cursor{MinTime: first.ID.Time(), ID: first.ID}
		want := []social.BlogRef{first}
		listener := r.subscribe(1, nil) // so that what is heard is known to be queued
		var unread social.BlogRef
		r.now = func() { // when it registers, and when it is about to read
			b := r.row(2, 0)
			want = append(want, b)
			unread = r.row(2, time.Minute)
			r.seen(r.event(b, 1), r.event(unread, 1))
			r.gets(listener, unread, b)
		}
		s := r.subscribe(1, since)
		r.now = nil
		if len(want) != 3 {
			r.Fatalf("%d blogs", len(want))
		}
		r.gets(s, append(want, unread)...)
		r.getsNoMore(s, 2)
	})
}

// Without a place to go on from, nothing older comes, though it is heard later.
func TestASubscriptionWithoutSinceBeginsNow(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		old := r.row(2, 0)
		r.seq = 15
		heard := r.event(old, 1) // in lane 0
		r.Exec(r, "UPDATE lane SET seq = 16 WHERE lane = 0")
		s := r.subscribe(1, nil)
		r.seen(heard)
		r.seq = 31
		r.getsNoMore(s, 2)
	})
}

// A store that went back counts its events anew: after that gap, none is taken for one from
// before the subscription.
func TestASubscriptionHearsAStoreThatWentBack(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		r.Exec(r, "UPDATE lane SET seq = 100 WHERE lane = 3")
		s := r.subscribe(1, nil)
		r.live.Missed()
		replayed := r.row(2, 0)
		r.gets(s, replayed)
		heard := r.row(2, 0) // the second: its event is the third, in lane 3
		r.seen(r.event(heard, 1))
		r.gets(s, heard)
	})
}

// A server takes subscriptions before its tail has looked for the first time, and of what came
// before that look the tail tells nothing.
func TestWhatIsPublishedBeforeTheFirstLookIsReplayed(t *testing.T) {
	eachLive(t, func(r *liveRig) {
		r.follows(1, 2)
		r.open()
		s := r.subscribe(1, nil)
		unheard := r.row(2, 0)
		r.seen()
		r.gets(s, unheard)
		r.getsNoMore(s, 2)
	})
}
