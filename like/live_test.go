package like_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kith/db"
	"kith/events"
	"kith/like"
	"kith/social"
	"kith/socialtest"
)

// told is an event of likes of these blogs.
func told(blogs ...social.ID) []events.Event {
	var body social.LikeBody
	for _, b := range blogs {
		body.Changes = append(body.Changes, social.LikeChange{BlogID: b})
	}
	return []events.Event{{Event: social.Event{Kind: social.LikeEvent, Body: body}}, {Event: social.Event{Body: social.FollowBody{}}}}
}

// counted moves the count of a blog, without an event.
func counted(t testing.TB, s *socialtest.Store, blog social.ID, likes int64) {
	t.Helper()
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		return tx.AddLikeCounts(t.Context(), []db.LikeCountChange{{BlogID: blog, Likes: likes}})
	}))
}

func running(t *testing.T, d *db.DB) *like.Live {
	l := like.NewLive(d, quiet())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	t.Cleanup(func() { cancel(); noError(t, <-ended) })
	return l
}

func watch(t testing.TB, l *like.Live, blog social.ID) *like.Watch {
	t.Helper()
	w, err := l.Watch(t.Context(), 0, blog)
	noError(t, err)
	return w
}

// comes waits for the count that it is to come to.
func comes(t testing.TB, what string, w *like.Watch, likes, version int64) (news int) {
	t.Helper()
	last := int64(-1)
	for {
		select {
		case n := <-w.News():
			if news++; n.Version <= last {
				t.Errorf("%s: version %d after %d", what, n.Version, last)
			}
			if last = n.Version; last >= version {
				equal(t, what, n, social.LikeCount{Likes: likes, Version: version})
				return news
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: never told", what)
		}
	}
}

func silent(t testing.TB, what string, w *like.Watch) {
	t.Helper()
	select {
	case n := <-w.News():
		t.Errorf("%s: %+v", what, n)
	default:
	}
}

func TestLiveCountsComeToWhoWatches(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := running(t, s.DB)
		counted(t, s, 1, 5)
		a, b, other := watch(t, l, 1), watch(t, l, 1), watch(t, l, 2)
		l.Heard(told(1, 2)) // what was committed before is no news
		counted(t, s, 1, 1)
		l.Heard(told(3, 1))
		comes(t, "one", a, 6, 2)
		comes(t, "another", b, 6, 2)
		b.Close()
		b.Close()
		counted(t, s, 1, -6)
		l.Heard(told(1))
		comes(t, "none left", a, 0, 3)
		silent(t, "closed", b)
		silent(t, "never liked", other)
		counted(t, s, 2, 1)
		l.Heard(told(2))
		comes(t, "of another blog", other, 1, 1)
		silent(t, "of the first", a)
	})
}

// What may hide a blog from who watches it is told to them, and to nobody else; all look once events
// were missed, but not where counts could not be read.
func TestWhoWatchesLooksAgainWhenTheBlogMayBeHidden(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const author, one, other = 1, 2, 3
		blogs := people(t, s, other, author, other)
		l := like.NewLive(s.DB, quiet())
		var ws []*like.Watch
		for _, viewer := range []social.ID{one, other, 0} {
			w, err := l.Watch(t.Context(), viewer, blogs[0])
			noError(t, err)
			ws = append(ws, w)
		}
		looks := func(what string, body any, want ...bool) {
			t.Helper()
			for range 2 { // so that one who has not looked yet holds up nobody
				l.Heard([]events.Event{{Event: social.Event{Body: body}}})
			}
			for i, w := range ws {
				got := false
				select {
				case <-w.Look():
					got = true
				default:
				}
				equal(t, fmt.Sprint(what, ", ", i), got, want[i])
			}
		}
		changed := func(a, b social.ID) social.FollowBody {
			return social.FollowBody{Changes: []social.FollowChange{{UserID: a, TargetID: b}}}
		}
		wall := func(a, b social.ID) social.FollowBody {
			return social.FollowBody{Walls: []social.WallChange{{UserID: a, TargetID: b}}}
		}
		looks("deleted", social.BlogBody{BlogID: blogs[0], Deleted: true}, true, true, true)
		looks("published", social.BlogBody{BlogID: blogs[0]}, false, false, false)
		looks("another blog", social.BlogBody{BlogID: blogs[1], Deleted: true}, false, false, false)
		looks("the author", social.UserBody{UserID: author}, true, true, true)
		looks("somebody else", social.UserBody{UserID: one}, false, false, false)
		looks("no longer followed", changed(one, author), true, false, false)
		looks("not followed any more", changed(author, other), false, true, false)
		looks("blocked", wall(author, one), true, false, false)
		looks("who blocks", wall(other, author), false, true, false)
		looks("others", wall(one, other), false, false, false)
		l.Missed()
		looks("missed", social.FollowBody{}, true, true, true)
		for _, w := range ws {
			w.Close()
		}
		looks("closed", social.UserBody{UserID: author}, false, false, false)
	})
}

// A hundred changes are far fewer news and readings, and the last of them is told.
func TestLiveCountsOfOneMomentAreOne(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := running(t, s.DB)
		w, slow := watch(t, l, 1), watch(t, l, 1)
		counted(t, s, 1, 1)
		l.Heard(told(1))
		comes(t, "the first", w, 1, 1)
		s.Exec(t, "UPDATE blog_count SET likes = 101, version = 101")
		sent := s.DB.Statements()
		for range 100 {
			l.Heard(told(1))
		}
		if news := comes(t, "the last", w, 101, 101); news != 1 {
			t.Errorf("%d news", news)
		}
		if n := s.DB.Statements() - sent; n != 1 {
			t.Errorf("%d readings", n)
		}
		comes(t, "who did not take the first, the newest", slow, 101, 101)
		silent(t, "and no more", slow)
	})
}

// The like may be committed and heard of at any moment of the beginning of a watch.
func TestNoLikeIsMissedAsAWatchBegins(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := running(t, s.DB)
		keep := watch(t, l, 1) // whose readings go on
		for round := range int64(15) {
			done := make(chan error, 1)
			go func() {
				err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
					return tx.AddLikeCounts(t.Context(), []db.LikeCountChange{{BlogID: 1, Likes: 1}})
				})
				l.Heard(told(1))
				done <- err
			}()
			w := watch(t, l, 1)
			counts, err := s.DB.LikeCounts(t.Context(), []social.ID{1}) // what a subscription begins with
			noError(t, err)
			noError(t, <-done)
			if counts[1].Version <= round {
				comes(t, "after the beginning", w, round+1, round+1)
			}
			w.Close()
		}
		comes(t, "all", keep, 15, 15)
	})
}

func TestAfterAGapAllThatIsWatchedIsReadAnew(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := running(t, s.DB)
		l.Missed() // of nothing
		var ws []*like.Watch
		const n = 2*db.MaxIn + 50 // more than the statements take that are asked for while events come
		for b := range social.ID(n) {
			ws = append(ws, watch(t, l, b+1))
		}
		noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			changes := make([]db.LikeCountChange, n)
			for i := range changes {
				changes[i] = db.LikeCountChange{BlogID: social.ID(i + 1), Likes: 3}
			}
			return tx.AddLikeCounts(t.Context(), changes)
		}))
		l.Missed()
		for _, w := range ws {
			comes(t, "after the gap", w, 3, 1)
		}
	})
}

func TestLiveCountsGoOnWhenTheStoreIsBack(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		l := running(t, s.DB)
		a, b := watch(t, l, 1), watch(t, l, 2)
		counted(t, s, 1, 1)
		counted(t, s, 2, 1)
		s.Exec(t, "ALTER TABLE blog_count RENAME TO blog_count_away")
		if _, err := l.Watch(t.Context(), 0, 1); err == nil {
			t.Error("a watch began of what nobody can read")
		}
		sent := s.DB.Statements()
		l.Heard(told(1, 2))
		for s.DB.Statements() == sent { // until it was tried
			<-time.After(time.Millisecond)
		}
		s.Exec(t, "ALTER TABLE blog_count_away RENAME TO blog_count")
		comes(t, "one", a, 1, 1)
		comes(t, "another", b, 1, 1)
	})
}
