package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"kith/account"
	"kith/social"
)

// setStatus does what an operator's command does.
func (w *world) setStatus(t testing.TB, p person, to social.UserStatus) {
	t.Helper()
	var handle string
	if err := w.SQL.Get(&handle, "SELECT handle FROM user WHERE id = ?", p.id); err != nil {
		t.Fatal(err)
	}
	if changed, err := account.SetStatus(t.Context(), w.DB, w.Clock.Now, handle, to); err != nil || !changed {
		t.Fatalf("%s: changed %v, %v", handle, changed, err)
	}
}

// blogsBy writes n blogs of one author, a minute apart, the newest that long ago, and gives
// their titles, newest first.
func (w *world) blogsBy(t *testing.T, author person, ago time.Duration, n int) []string {
	t.Helper()
	ids := w.spread(ago, time.Minute, n)
	w.writeBlogs(t, ids, func(int) social.ID { return author.id })
	titles := make([]string, n)
	for i, id := range ids {
		titles[i] = id.String()
	}
	return titles
}

// FEED-6: of 155 blogs the newest 150 are a suspended author's, then the other five.
func TestAFilterThatRemovesEverythingEmptiesNoPage(t *testing.T) {
	t.Run("caches", func(t *testing.T) {
		eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
			defer w.close()
			feed6(t, w.world, func() { w.redis.DropKeys(t, "inbox:*") })
		})
	})
	t.Run("SQL", func(t *testing.T) {
		eachWorld(t, func(t *testing.T, w *world) { feed6(t, w, func() {}) })
	})
}

func feed6(t *testing.T, w *world, drop func()) {
	t.Helper()
	me, a, b := w.person(t), w.person(t), w.person(t)
	me.follow(t, a)
	me.follow(t, b)
	five := w.blogsBy(t, a, 10*time.Hour, 5)
	many := w.blogsBy(t, b, time.Minute, 150)
	readAll := func(what string, sizes []int, want []string) {
		t.Helper()
		for _, how := range []string{"built anew", "whole"} {
			var titles []string
			var got []int
			for after, more := "", true; more; {
				p := me.feed(t, 20, after)
				titles, got = append(titles, p.titles...), append(got, len(p.titles))
				after, more = p.end, p.next
			}
			if !slices.Equal(titles, want) || !slices.Equal(got, sizes) {
				t.Errorf("%s, inbox %s: pages of %v with %d blogs, want %v with %d", what, how, got, len(titles), sizes, len(want))
			}
		}
		drop()
	}
	full := []int{20, 20, 20, 20, 20, 20, 20, 15}
	drop()
	readAll("both are there", full, slices.Concat(many, five))
	w.setStatus(t, b, social.Suspended)
	readAll("the newest are hidden", []int{5}, five)
	w.setStatus(t, b, social.Active)
	w.setStatus(t, a, social.Suspended)
	readAll("the oldest are hidden", []int{20, 20, 20, 20, 20, 20, 20, 10}, many)
	w.setStatus(t, b, social.Suspended)
	readAll("all are hidden", []int{0}, nil)
	w.setStatus(t, a, social.Active)
	w.setStatus(t, b, social.Active)
	readAll("both are back", full, slices.Concat(many, five))
}

// P8: whatever filters eat, a page of the inbox takes three round trips more at most; and
// where the inbox has not enough, those of a page below it.
func TestFiltersAddAtMostThreeRoundTrips(t *testing.T) {
	for name, c := range map[string]struct {
		hidden, shown int
		below         int64
	}{
		"the page alone":                    {21, 100, 0},
		"more than four pages":              {120, 30, 0},
		"all but the last of a whole inbox": {450, 1, 0},
		"all of a whole inbox":              {450, 0, 0},
		"the inbox, and there is more":      {499, 100, 9},
	} {
		t.Run(name, func(t *testing.T) {
			eachQuiet(t, func(t *testing.T, w *cachedWorld, s *server) {
				me, a, b := w.person(t), w.person(t), w.person(t)
				me.Handler = s.handler
				me.follow(t, a)
				me.follow(t, b)
				if len(w.servers) > 1 { // else an event may end the filling of what the first reading finds missing
					w.drained(t)
				}
				w.blogsBy(t, b, time.Minute, c.hidden)
				if c.shown > 0 {
					w.blogsBy(t, a, 100*time.Hour, c.shown)
				}
				w.redis.DropKeys(t, "inbox:*")
				read := func(want int) trips {
					t.Helper()
					return counting(s, func() {
						if got := len(me.OK(t, pageOf20, nil).Get("followFeed.nodes").Array()); got != want {
							t.Errorf("%d blogs, want %d", got, want)
						}
					})
				}
				read(20) // builds the inbox
				plain := read(20)
				same(t, "without a filter", plain, trips{1, 2})
				w.Exec(t, "UPDATE user SET status = ? WHERE id = ?", social.Suspended, b.id)
				n := read(min(20, c.shown))
				if added := n.redis + n.sql - plain.redis - plain.sql; added > 3+c.below {
					t.Errorf("%+v, without a filter %+v", n, plain)
				}
			})
		})
	}
}

// Whoever is suspended or deleted is as if not there, for everybody and everywhere.
func TestHiddenPeopleAreAsIfNotThere(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 3)
		me, hidden, friend := u[0], u[1], u[2]
		blog := hidden.publish(t, "blog")
		me.follow(t, hidden)
		hidden.follow(t, me)
		w.Clock.Advance(time.Millisecond)
		friend.follow(t, me)
		me.follow(t, friend)
		const doc = `query($u: ID!, $b: ID!, $me: ID!) {
			user(handle: "U2_test") { id } node(id: $u) { id } nodes(ids: [$u, $b, $me]) { id } blog(id: $b) { id } b: node(id: $b) { id }
			me: node(id: $me) { ... on User { followers { nodes { id } } following { nodes { id } } } }
			followFeed { nodes { id } } }`
		vars := map[string]any{"u": hidden.gid, "b": blog, "me": me.gid}
		there := fmt.Sprintf(`{"user":{"id":%q},"node":{"id":%[1]q},"nodes":[{"id":%[1]q},{"id":%[2]q},{"id":%[3]q}],"blog":{"id":%[2]q},"b":{"id":%[2]q},`+
			`"me":{"followers":{"nodes":[{"id":%[4]q},{"id":%[1]q}]},"following":{"nodes":[{"id":%[4]q},{"id":%[1]q}]}},"followFeed":{"nodes":[{"id":%[2]q}]}}`,
			hidden.gid, blog, me.gid, friend.gid)
		gone := fmt.Sprintf(`{"user":null,"node":null,"nodes":[null,null,{"id":%q}],"blog":null,"b":null,`+
			`"me":{"followers":{"nodes":[{"id":%[2]q}]},"following":{"nodes":[{"id":%[2]q}]}},"followFeed":{"nodes":[]}}`, me.gid, friend.gid)
		reads := func(what, want string) {
			t.Helper()
			if got := me.OK(t, doc, vars); got.Raw != want {
				t.Errorf("%s: %s\nwant %s", what, got.Raw, want)
			}
		}
		reads("there", there)
		w.setStatus(t, hidden, social.Suspended)
		reads("suspended", gone)
		wantError(t, friend.Do(t, `mutation($u: ID!) { follow(input: {userId: $u}) { changed } }`, map[string]any{"u": hidden.gid}), social.NotFound, "userId")
		a := w.nobody().Do(t, signInDoc, map[string]any{"h": "u2_test", "p": "password"})
		wantError(t, a, social.Forbidden, "")
		w.setStatus(t, hidden, social.Active)
		reads("restored", there)
		// This server does not hear of the events of others: the token of before lets in, as
		// it may for a second. What is written by then is refused all the same.
		w.setStatus(t, hidden, social.Suspended)
		for _, write := range []string{
			`publishBlog(input: {title: "t", content: "c"}) { blog { id } }`, `updateProfile(input: {name: "New"}) { userId }`,
			`changePassword(input: {current: "password", new: "passw0rd"}) { token }`, `deleteAccount(input: {password: "password"}) { deletedUserId }`,
		} {
			wantError(t, hidden.Do(t, "mutation { "+write+" }", nil), social.Unauthenticated, "")
		}
		if v := hidden.OK(t, `{ viewer { id } }`, nil); v.Raw != `{"viewer":null}` {
			t.Errorf("the suspended read %s", v)
		}
		w.setStatus(t, hidden, social.Deleted)
		reads("deleted", gone)
		if f := me.unfollow(t, hidden); !f.Get("changed").Bool() || f.Get("user").Raw != "null" {
			t.Errorf("unfollowing the deleted: %s", f)
		}
	})
}
