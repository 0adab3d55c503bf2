package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/social"
)

// trips are the round trips of one request.
type trips struct{ redis, sql int64 }

// counting counts what a request costs a server that does nothing else.
func counting(s *server, request func()) trips {
	before := trips{s.redis.Commands(), s.store.db.Statements()}
	request()
	return trips{s.redis.Commands() - before.redis, s.store.db.Statements() - before.sql}
}

// eachQuiet runs the test on every kind of stores, with a server that stands still: it
// believes for an hour what it knows of the caches and of ended tokens, so that its round
// trips are those of requests. Look-ups wait for each other as long as a busy machine may need
// to bring them together.
func eachQuiet(t *testing.T, test func(t *testing.T, w *cachedWorld, s *server)) {
	t.Helper()
	set := func(i int, cfg *settings) {
		quietly(i, cfg)
		cfg.loaderWait = 50 * time.Millisecond
	}
	eachCached(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		test(t, w, w.still(t))
	})
}

// quietly sets up servers of which the last can stand still.
func quietly(i int, cfg *settings) {
	if i == 1 || cfg.store.MySQL == "" {
		cfg.cache.Trust, cfg.endedTrust = time.Hour, time.Hour
		cfg.stars.Trust, cfg.stars.ListTrust = time.Hour, time.Hour
	}
	if i == 1 {
		cfg.roles = []string{apiRole}
	}
}

// still has the last server stand still.
func (w *cachedWorld) still(t testing.TB) *server {
	t.Helper()
	last := len(w.servers) - 1
	w.halt(last)
	s := w.servers[last]
	s.accounts.Revocations.Seen(time.Now()) // if it has not yet
	s.feed.Stars.Seen(time.Now())
	if err := errors.Join(s.accounts.Revocations.Load(t.Context()), s.feed.Stars.Load(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s
}

// calm makes it 13 s since anybody wrote.
func (w *cachedWorld) calm(t testing.TB) {
	t.Helper()
	w.redis.ExpireIn(t, "wrote:*", 24*time.Hour-13*time.Second)
}

const (
	pageOf20   = `query($a: String) { followFeed(first: 20, after: $a) { nodes { id title author { handle } } pageInfo { endCursor hasNextPage } } }`
	withLikes  = `query { followFeed(first: 20) { nodes { id author { handle } likeCount viewerHasLiked } } }`
	withCounts = `query { followFeed(first: 20) { nodes { id author { handle followerCount blogCount } } } }`
)

// P8, and section 12 of the design: warm pages take one round trip to Redis and no SQL,
// with the counts of people too; whatever the number of those followed.
func TestAWarmFeedPageTakesOneRoundTrip(t *testing.T) {
	for _, followed := range []int{10, 5000} {
		t.Run(fmt.Sprint(followed, " followed"), func(t *testing.T) {
			eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
				reader := w.person(t)
				reader.Handler = s.handler
				w.Clock.Advance(time.Second)
				authors := w.crowd(t, reader, followed)
				ids := w.spread(time.Minute, time.Minute, 800)
				w.writeBlogs(t, ids, func(i int) social.ID { return authors[i%len(authors)] })
				read := func(query, after string) func() {
					v := map[string]any{}
					if after != "" {
						v["a"] = after
					}
					return func() { reader.OK(t, query, v) }
				}
				// The list of those followed, a range, the bodies; reading and storing.
				same(t, "cold", counting(s, read(pageOf20, "")), trips{2, 1 + 1 + 2})
				same(t, "warm, of somebody who may have just written", counting(s, read(pageOf20, "")), trips{1, 2})
				w.calm(t)
				same(t, "bodies cold", counting(s, read(pageOf20, "")), trips{1, 2})
				eventually(t, "warm", trips{1, 0}, func() trips { return counting(s, read(pageOf20, "")) })
				same(t, "counts cold", counting(s, read(withCounts, "")), trips{3, 1})
				eventually(t, "counts warm", trips{1, 0}, func() trips { return counting(s, read(withCounts, "")) })
				readBelowTheFloor(t, s, reader)
			})
		})
	}
}

// P8, and section 12: a warm page with its likes takes a second round trip to Redis, whether
// the counts are in process or not, and no SQL; whoever likes nothing, little or more than is
// kept.
func TestAWarmFeedPageWithLikesTakesTwoRoundTrips(t *testing.T) {
	for _, likes := range []int{0, 30, 1500} {
		t.Run(fmt.Sprint(likes, " likes"), func(t *testing.T) {
			eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
				reader := w.person(t)
				reader.Handler = s.handler
				w.Clock.Advance(time.Second)
				authors := w.crowd(t, reader, 10)
				ids := w.spread(time.Minute, time.Minute, max(800, likes))
				w.writeBlogs(t, ids, func(i int) social.ID { return authors[i%len(authors)] })
				w.writeLikes(t, reader.id, ids[:likes])
				liked := 0
				read := func() {
					liked = len(reader.OK(t, withLikes, nil).Get("followFeed.nodes.#(viewerHasLiked==true)#").Array())
				}
				// And the likes, in SQL, and the counts; storing them is a trip each.
				same(t, "cold", counting(s, read), trips{2 + 1 + 2, 4 + 2})
				same(t, "liked", liked, min(likes, 20))
				same(t, "warm, of somebody who may have just written", counting(s, read), trips{2, 2})
				w.calm(t)
				eventually(t, "warm", trips{2, 0}, func() trips { return counting(s, read) })
				s.caches.Heard(social.LikeBody{Changes: []social.LikeChange{{UserID: reader.id, BlogID: ids[0]}}})
				same(t, "a count not in process", counting(s, read), trips{2, 0})
				same(t, "liked", liked, min(likes, 20))
			})
		})
	}
}

// P8: likes of the blogs in lists of a list are read together, however many lists there are.
func TestLikesOfListsWithinAListAreReadTogether(t *testing.T) {
	const people = 30
	eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
		reader := w.person(t)
		reader.Handler = s.handler
		authors := w.crowd(t, reader, people)
		blogs := w.spread(time.Minute, time.Minute, 3*people)
		w.writeBlogs(t, blogs, func(i int) social.ID { return authors[i%people] })
		ids := make([]string, people)
		for i, who := range authors {
			ids[i] = social.GlobalID(social.UserNode, who)
			w.writeLikes(t, who, blogs[3*i:3*i+3])
		}
		read := func() {
			nodes := reader.OK(t, `query($ids: [ID!]!) { nodes(ids: $ids) { ... on User { likedBlogs { nodes { likeCount viewerHasLiked } } } } }`,
				map[string]any{"ids": ids}).Get("nodes.#.likedBlogs.nodes|@flatten")
			same(t, "blogs with a like", len(nodes.Get("#(likeCount==1)#").Array()), 3*people)
		}
		read()
		same(t, fmt.Sprint(people, " lists"), counting(s, read), trips{3, 4})
	})
}

// P8: a like takes what its transaction takes and one trip to the caches; what it reads for its
// answer is what the request asks.
func TestALikeReadsForItsAnswerWhatIsAsked(t *testing.T) {
	eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
		reader, author := w.person(t), w.person(t)
		reader.Handler = s.handler
		blog := author.publish(t, "a blog")
		like := func(fields string) func() {
			return func() { reader.OK(t, `mutation { likeBlog(input: {blogId: "`+blog+`"}) { `+fields+` } }`, nil) }
		}
		like("changed")()
		alone := counting(s, like("changed"))
		same(t, "trips to Redis", alone.redis, 1)
		// The consumer of the like may end the first filling.
		eventually(t, "filled", trips{2, alone.sql + 3}, func() trips { return counting(s, like("blog { likeCount viewerHasLiked }")) })
		for _, c := range []struct {
			fields string
			more   trips
		}{
			{"blogId changed", trips{0, 0}},
			{"changed blog @skip(if: true) { id }", trips{0, 0}},
			{"blog { title }", trips{0, 3}}, // the blog, its author, and how the two stand
			{"blog { likeCount }", trips{1, 3}},
			{"...p } } fragment p on LikePayload { blog { author { handle } likeCount viewerHasLiked", trips{1, 3}},
		} {
			got := counting(s, like(c.fields))
			same(t, c.fields, trips{got.redis - alone.redis, got.sql - alone.sql}, c.more)
		}
	})
}

// writeLikes writes likes of a person, the first the latest, as rows.
func (w *world) writeLikes(t testing.TB, who social.ID, blogs []social.ID) {
	t.Helper()
	for some := range slices.Chunk(blogs, 1000) {
		var mine, theirs, counts []string
		for _, b := range some {
			mine = append(mine, fmt.Sprintf("(%d,%d,1,%d)", who, b, b.Time()+1))
			theirs = append(theirs, fmt.Sprintf("(%d,%d,1,%d)", b, who, b.Time()+1))
			counts = append(counts, fmt.Sprintf("(%d,1,1)", b))
		}
		w.Exec(t, "INSERT INTO blog_like (user_id, blog_id, state, since) VALUES "+strings.Join(mine, ","))
		w.Exec(t, "INSERT INTO blog_liker (blog_id, user_id, state, since) VALUES "+strings.Join(theirs, ","))
		w.Exec(t, "INSERT INTO blog_count (blog_id, likes, version) VALUES "+strings.Join(counts, ","))
	}
}

// readBelowTheFloor pages through all 800 blogs. Below the newest 500, one page in five
// asks SQL what there is.
func readBelowTheFloor(t *testing.T, s *server, reader person) {
	t.Helper()
	after, pages, asked := "", 0, int64(0)
	for more := true; more; pages++ {
		var v map[string]any
		if after != "" {
			v = map[string]any{"a": after}
		}
		n := counting(s, func() {
			f := reader.OK(t, pageOf20, v).Get("followFeed")
			after, more = f.Get("pageInfo.endCursor").String(), f.Get("pageInfo.hasNextPage").Bool()
		})
		if n.redis != 1 || n.sql > 9 {
			t.Errorf("page %d took %+v", pages, n)
		}
		asked += max(0, n.sql-2) // the others are of bodies
	}
	same(t, "pages", pages, 40)
	// Three times two statements, and at the end of the feed five more, to be sure of it.
	if asked > 2*3+5+1 {
		t.Errorf("%d statements for 15 pages below the floor", asked)
	}
}

// Whatever the distribution: a cold inbox costs at most 8 round trips more than a warm one.
func TestAColdInboxTakesAtMost8MoreRoundTrips(t *testing.T) {
	for name, blogs := range map[string]func(w *world) []social.ID{
		"nothing at all":                  func(*world) []social.ID { return nil },
		"a burst behind a gap of 40 days": func(w *world) []social.ID { return w.spread(40*day, time.Millisecond, 2500) },
		"all in one millisecond":          func(w *world) []social.ID { return w.at(time.Hour, 2500) },
		"two a year":                      func(w *world) []social.ID { return w.spread(20*day, 180*day, 6) },
		"a burst now and one long ago": func(w *world) []social.ID {
			return append(w.spread(0, 900*time.Microsecond, 2100), w.spread(700*day, time.Hour, 30)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
				reader := w.person(t)
				reader.Handler = s.handler
				w.Clock.Advance(time.Second)
				authors := w.crowd(t, reader, 10)
				ids := blogs(w.world)
				slices.Sort(ids)
				ids = slices.Compact(ids)
				w.writeBlogs(t, ids, func(i int) social.ID { return authors[i%len(authors)] })
				n := counting(s, func() { reader.OK(t, pageOf20, nil) })
				if n.redis > 2 || n.redis+n.sql > 1+2+8 {
					t.Errorf("cold: %+v", n)
				}
				if n := counting(s, func() { reader.OK(t, pageOf20, nil) }); n.redis != 1 || n.sql > 2 {
					t.Errorf("warm: %+v", n)
				}
			})
		})
	}
}

func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// eventually is same for what a pause of a busy machine may spoil: some tries.
func eventually[T comparable](t testing.TB, what string, want T, try func() T) {
	t.Helper()
	var got T
	for range 10 {
		if got = try(); got == want {
			return
		}
	}
	same(t, what, got, want)
}
