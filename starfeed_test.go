package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/feed"
	"kith/social"
)

// starsPast makes stars of those whom more than so many follow, of whose blogs servers keep
// most.
func starsPast(followers int64, most int) func(int, *settings) {
	return func(_ int, cfg *settings) { cfg.stars = feed.StarsConfig{Followers: followers, Blogs: most} }
}

// heard waits until every server at work has heard of all events that there are.
func (w *cachedWorld) heard(t testing.TB) {
	t.Helper()
	now := time.Now()
	for i, s := range w.servers {
		for deadline := now.Add(20 * time.Second); w.works(i) && !s.feed.Stars.SeenAt().After(now); pause(nil, time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("server %d hears of nothing", i)
			}
			s.bell.Ring()
		}
	}
}

// ageStars has a minute pass for those who are stars now: every server has heard of them, and
// their blogs are fanned out no more.
func (w *cachedWorld) ageStars(t testing.TB) {
	t.Helper()
	var stars []string
	if err := w.SQL.Select(&stars, "SELECT id FROM user WHERE star_since IS NOT NULL"); err != nil {
		t.Fatal(err)
	}
	w.heard(t)
	if len(stars) > 0 {
		w.Exec(t, "UPDATE user SET star_since = star_since - 60000 WHERE id IN ("+strings.Join(stars, ",")+")")
	}
}

// awaitStar waits until somebody is a star, for a minute, and all servers have heard of it.
func (w *cachedWorld) awaitStar(t testing.TB, who person) {
	t.Helper()
	w.Await(t, fmt.Sprintf("SELECT COUNT(*) = 1 FROM user WHERE id = %d AND star_since IS NOT NULL", who.id))
	w.ageStars(t)
}

func (w *cachedWorld) stars(t testing.TB) int64 {
	t.Helper()
	w.drained(t)
	return w.Int(t, "SELECT COUNT(*) FROM user WHERE star_since IS NOT NULL")
}

func TestPastSoManyFollowersAnAuthorIsAStarForGood(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, starsPast(2, 1000), func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star, low := w.person(t), w.person(t)
		fans := w.persons(t, 3)
		for _, f := range fans[:2] {
			f.follow(t, star)
		}
		same(t, "stars at two followers", w.stars(t), 0)
		working := w.haltAll() // the follow is answered, and whoever would look at it is dead
		fans[2].follow(t, star)
		for _, i := range working {
			w.begin(i)
		}
		same(t, "stars at three followers", w.stars(t), 1)
		since := fmt.Sprintf("SELECT star_since FROM user WHERE id = %d", star.id)
		first := w.Int(t, since)
		for _, f := range fans {
			f.unfollow(t, star)
		}
		// Once more from the first event on, by all workers.
		for range 2 {
			w.repeatAll(t)
			same(t, "stars at no followers", w.stars(t), 1)
		}
		same(t, "a star since", w.Int(t, since), first)
		same(t, "events that tell of it", w.Int(t, `SELECT COUNT(*) FROM outbox WHERE kind = 'user' AND body LIKE '%"star":true%'`), 1)
		// Who was past the number before it was set is found at their next blog.
		w.Exec(t, "UPDATE user_count SET followers = 3 WHERE user_id = ?", low.id)
		same(t, "stars that nothing tells of", w.stars(t), 1)
		low.publish(t, "a blog")
		same(t, "stars", w.stars(t), 2)
	})
}

// Until a minute has passed there may be servers that do not know of a star: they have the
// blog from the inbox. From then on it is in no inbox.
func TestFanOutGoesOnUntilEveryServerKnowsOfAStar(t *testing.T) {
	t.Parallel()
	set := func(i int, cfg *settings) {
		starsPast(1, 1000)(i, cfg)
		quietly(i, cfg)
	}
	eachShared(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		slow := w.still(t) // knows of no star, and hears of none
		star, fans := w.person(t), w.persons(t, 2)
		reader := fans[0]
		read := func(s *server) []string { return reader.at(s).feed(t, 10, "").titles }
		fans[0].follow(t, star)
		w.drained(t) // else the follow's event may come while the inbox is made, and drop it
		read(slow)   // which makes the inbox
		fans[1].follow(t, star)
		same(t, "stars", w.stars(t), 1)
		star.publish(t, "within the minute")
		w.drained(t)
		n := counting(slow, func() {
			if got := read(slow); !slices.Equal(got, []string{"within the minute"}) {
				t.Errorf("whoever does not know reads %v", got)
			}
		})
		if n.sql > 2 { // of bodies
			t.Errorf("%+v: not from the inbox", n)
		}
		w.ageStars(t)
		star.publish(t, "later")
		w.drained(t)
		w.heard(t)
		if got := read(w.servers[0]); !slices.Equal(got, []string{"later", "within the minute"}) {
			t.Errorf("whoever knows reads %v", got)
		}
		if n := w.redis.DropKeys(t, "following:*:"+reader.id.String()); n != 1 {
			t.Errorf("%d lists of those followed", n)
		}
		if got := read(slow); !slices.Equal(got, []string{"later", "within the minute"}) {
			t.Errorf("from SQL: %v", got)
		}
	})
}

// A server that does not know the stars, or has not heard of events of late, reads SQL.
func TestAServerThatDoesNotKnowTheStarsReadsSQL(t *testing.T) {
	t.Parallel()
	set := func(i int, cfg *settings) {
		starsPast(1, 1000)(i, cfg)
		quietly(i, cfg)
		switch {
		case i == 1:
			cfg.stars.ListTrust = time.Nanosecond
		case cfg.store.MySQL != "":
			cfg.stars.Trust = time.Nanosecond
		}
	}
	eachShared(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star, fans := w.person(t), w.persons(t, 2)
		for _, f := range fans {
			f.follow(t, star)
		}
		fans[0].feed(t, 10, "")
		w.awaitStar(t, star)
		for round := range 3 {
			want := star.publish(t, fmt.Sprint("blog ", round))
			w.drained(t)
			for i, s := range w.servers {
				got := fans[0].at(s).OK(t, pageOf20, nil).Get("followFeed.nodes.0.id").String()
				same(t, fmt.Sprintf("round %d through server %d", round, i), got, want)
			}
			w.Clock.Advance(time.Millisecond)
		}
	})
}

// A server that missed events forgets what it has of stars.
func TestAServerThatMissedEventsReadsItsStarsAnew(t *testing.T) {
	t.Parallel()
	eachShared(t, 2, starsPast(1, 1000), func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star, fans := w.person(t), w.persons(t, 2)
		for _, f := range fans {
			f.follow(t, star)
		}
		w.awaitStar(t, star)
		star.publish(t, "heard of")
		w.drained(t)
		w.heard(t)
		read := func() []string { return fans[0].at(w.servers[1]).feed(t, 10, "").titles }
		same(t, "blogs", len(read()), 1) // which makes the inbox
		same(t, "blogs", len(read()), 1) // and the server's memory
		w.halt(1)
		star.publish(t, "missed")
		w.drained(t)
		w.Exec(t, "DELETE FROM outbox")
		w.begin(1)
		w.heard(t)
		same(t, "feed", strings.Join(read(), ", "), "missed, heard of")
	})
}

// What a server does not keep of a star, and no inbox has, is read in SQL, however far down the
// inbox is whole.
func TestBelowWhatIsKeptOfAStarSQLIsRead(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, starsPast(1, 3), func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star, fans := w.person(t), w.persons(t, 2)
		for _, f := range fans {
			f.follow(t, star)
		}
		w.awaitStar(t, star)
		w.drained(t) // before the inbox is made
		me := fans[0].at(w.servers[len(w.servers)-1])
		same(t, "blogs, which makes the inbox", len(me.feed(t, 10, "").titles), 0)
		var all []string
		for i := range 7 {
			all = slices.Insert(all, 0, fmt.Sprint("blog ", i))
			star.publish(t, all[0])
			w.Clock.Advance(time.Millisecond)
		}
		w.drained(t)
		w.heard(t)
		for _, n := range []int{1, 2, 3, 10} {
			var got []string
			for p := (page{next: true}); p.next; got = append(got, p.titles...) {
				p = me.feed(t, n, p.end)
			}
			if !slices.Equal(got, all) {
				t.Errorf("in pages of %d: %v, want %v", n, got, all)
			}
		}
	})
}

// A follow of a star, a mute and their ends show at once through every server.
func TestWhoFollowsAStarSeesItInTheFeedAtOnce(t *testing.T) {
	t.Parallel()
	eachCached(t, 2, starsPast(1, 3), func(t *testing.T, w *cachedWorld) {
		defer w.close()
		star, fans, me := w.person(t), w.persons(t, 2), w.person(t)
		for _, f := range fans {
			f.follow(t, star)
		}
		w.awaitStar(t, star)
		last := w.servers[len(w.servers)-1]
		is := func(what string, want ...string) {
			t.Helper()
			for _, s := range []*server{w.server, last} {
				if got := me.at(s).feed(t, 20, "").titles; !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
		}
		var all []string
		for i := range 7 { // of which servers keep three
			is(fmt.Sprint("not followed, ", i, " blogs"))
			me.follow(t, star)
			is(fmt.Sprint("followed, ", i, " blogs"), all...)
			title := fmt.Sprint("blog ", i)
			star.publish(t, title)
			all = slices.Insert(all, 0, title)
			w.drained(t)
			w.heard(t)
			is("published", all...)
			act := func(mutation string) {
				me.OK(t, `mutation($u: ID!) { `+mutation+`(input: {userId: $u}) { __typename } }`, map[string]any{"u": star.gid})
			}
			act("mute")
			is("muted")
			act("unmute")
			is("unmuted", all...)
			me.unfollow(t, star)
			w.Clock.Advance(time.Millisecond)
		}
		me.follow(t, star)
		w.Exec(t, "UPDATE user SET status = 1 WHERE id = ?", star.id)
		is("suspended")
		w.Exec(t, "UPDATE user SET status = 0 WHERE id = ?", star.id)
		me.OK(t, `mutation($u: ID!) { block(input: {userId: $u}) { __typename } }`, map[string]any{"u": star.gid})
		is("blocked")
	})
}

// P8: what stars a viewer follows and what they have published is one statement each, once.
func TestAWarmFeedPageWithStarsTakesOneRoundTrip(t *testing.T) {
	for _, stars := range []int{1, 40} {
		t.Run(fmt.Sprint(stars, " stars"), func(t *testing.T) {
			eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
				reader := w.person(t)
				w.Clock.Advance(time.Second)
				authors := w.crowd(t, reader, 50)
				ids := w.spread(time.Minute, time.Minute, 799)
				w.writeBlogs(t, ids, func(i int) social.ID { return authors[i%len(authors)] })
				w.Exec(t, "UPDATE user SET star_since = 1 WHERE id BETWEEN ? AND ?", authors[0], authors[stars-1])
				if err := s.feed.Stars.Load(t.Context()); err != nil {
					t.Fatal(err)
				}
				me := reader.at(s)
				read := func() { me.OK(t, pageOf20, nil) }
				same(t, "cold", counting(s, read), trips{2, 1 + 1 + 2})
				same(t, "stars cold", counting(s, read), trips{1, 1 + 2})
				same(t, "warm, of somebody who may have just written", counting(s, read), trips{1, 2})
				w.calm(t)
				read()
				eventually(t, "warm", trips{1, 0}, func() trips { return counting(s, read) })
				last := authors[len(authors)-1]
				s.feed.Stars.Heard(social.UserBody{UserID: last, Star: true})
				w.writeBlogs(t, w.at(time.Second, 1), func(int) social.ID { return last }) // of which no inbox hears
				same(t, "with one star more", counting(s, read).redis, 1)
				same(t, "the newest", me.OK(t, pageOf20, nil).Get("followFeed.nodes.0.title").String(), w.at(time.Second, 1)[0].String())
				eventually(t, "warm", trips{1, 0}, func() trips { return counting(s, read) })
				readBelowTheFloor(t, s, me)
			})
		})
	}
}

// A page read while an unfollow is under way has all blogs of the author or none: also those
// that are in the inbox since before the author was a star.
func TestAPageWithStarsIsOfOneVersionOfWhoIsFollowed(t *testing.T) {
	eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
		reader := w.person(t)
		w.Clock.Advance(time.Second)
		authors := w.crowd(t, reader, 2)
		write := func(ago time.Duration) {
			w.writeBlogs(t, w.at(ago, 1), func(int) social.ID { return authors[0] })
		}
		write(time.Hour)
		read := func() int { return len(reader.at(s).feed(t, 10, "").titles) }
		same(t, "blogs, which makes the inbox", read(), 1)
		w.Exec(t, "UPDATE user SET star_since = 1 WHERE id BETWEEN ? AND ?", authors[0], authors[1])
		write(time.Minute)
		if err := s.feed.Stars.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Committed, and not yet brought to Redis.
		w.Exec(t, "UPDATE following SET state = ? WHERE user_id = ? AND target_id = ?", social.NotFollowing, reader.id, authors[0])
		w.Exec(t, "UPDATE actor SET graph_version = graph_version + 1 WHERE user_id = ?", reader.id)
		same(t, "blogs while it is under way", read(), 0)
	})
}

// So has one that reaches below the inbox.
func TestAPageAcrossTheFloorIsOfOneVersionOfWhoIsFollowed(t *testing.T) {
	set := func(i int, cfg *settings) {
		quietly(i, cfg)
		cfg.inboxSize = 3
	}
	eachCached(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		s := w.still(t)
		reader := w.person(t)
		w.Clock.Advance(time.Second)
		author := w.crowd(t, reader, 1)[0]
		w.writeBlogs(t, w.at(time.Hour, 5), func(int) social.ID { return author })
		read := func() int { return len(reader.at(s).feed(t, 10, "").titles) }
		same(t, "blogs, which makes the inbox", read(), 5)
		// Committed, and not yet brought to Redis.
		w.Exec(t, "UPDATE following SET state = ? WHERE user_id = ? AND target_id = ?", social.NotFollowing, reader.id, author)
		w.Exec(t, "UPDATE actor SET graph_version = graph_version + 1 WHERE user_id = ?", reader.id)
		same(t, "blogs while it is under way", read(), 0)
		same(t, "and again", read(), 0)
	})
}
