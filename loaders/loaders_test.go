package loaders_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/follow"
	"kith/loaders"
	"kith/social"
	"kith/socialtest"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// world has people 1 to 100, a blog of each with ten times their id, and 1 follows all
// even ones.
func world(t testing.TB, s *socialtest.Store) (ids []social.ID) {
	t.Helper()
	for id := social.ID(1); id <= 100; id++ {
		ids = append(ids, id)
	}
	noError(t, s.DB.Transact(t.Context(), func(tx *db.Tx) error {
		ctx := t.Context()
		var edges []social.Edge
		for _, id := range ids {
			err := errors.Join(tx.InsertUser(ctx, &social.User{ID: id, Handle: "user" + id.String(), Name: "x"}, ""),
				tx.InsertBlog(ctx, &social.Blog{ID: 10 * id, AuthorID: id, Title: "t"}),
				tx.AddCounts(ctx, []db.CountChange{{UserID: id, Followers: int64(id)}}))
			if err != nil {
				return err
			}
			if id%2 == 0 {
				edges = append(edges, social.Edge{Pair: social.Pair{UserID: 1, TargetID: id}, State: social.Following, Since: 1})
			}
		}
		return errors.Join(tx.PutFollowing(ctx, edges), tx.PutFollower(ctx, edges))
	}))
	return ids
}

func request(t testing.TB, s *socialtest.Store, viewer social.ID) context.Context {
	t.Helper()
	return loaders.With(social.WithViewer(t.Context(), viewer), loaders.Sources{
		DB: s.DB, Bodies: cache.None(s.DB).Bodies, Graph: follow.New(s.DB, s.Clock.Now, follow.Config{}), Feed: feed.New(s.DB, cache.None(s.DB), s.IDs, s.Clock.Now, feed.Config{}),
	})
}

// A page of a hundred, each asked twice: one statement for each kind of thing.
func TestPageOfAHundredCostsOneStatement(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ids := world(t, s)
		ctx := request(t, s, 1)
		ask := append(append([]social.ID{}, ids...), ids...)
		counted := func(what string, want int64, load func() error) {
			t.Helper()
			before := s.DB.Statements()
			noError(t, load())
			equal(t, what, s.DB.Statements()-before, want)
		}
		for _, statements := range []int64{1, 0} { // the second time all is known
			counted("people, and how they stand to the viewer", 2*statements, func() error {
				people, err := loaders.From(ctx).People.All(ctx, ask)
				for i, p := range people {
					equal(t, "person", p.User.ID, ask[i])
				}
				return err
			})
			counted("blogs", statements, func() error {
				var keys []social.ID
				for _, id := range ask {
					keys = append(keys, 10*id)
				}
				blogs, err := loaders.From(ctx).Blogs.All(ctx, keys)
				for i, b := range blogs {
					equal(t, "blog", b.ID, keys[i])
				}
				return err
			})
			counted("counts", statements, func() error {
				counts, err := loaders.From(ctx).Counts.All(ctx, ask)
				for i, c := range counts {
					equal(t, "count", c.Followers, int64(ask[i]))
				}
				return err
			})
			counted("relations", 0, func() error {
				relations, err := loaders.From(ctx).Relations.All(ctx, ask)
				for i, r := range relations {
					equal(t, "relation", r, social.Relation{IsThere: true, ViewerFollows: ask[i]%2 == 0})
				}
				return err
			})
		}
	})
}

func TestWhoIsNotThereIsNil(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		world(t, s)
		ctx := request(t, s, 2)
		l := loaders.From(ctx)
		people, err := l.People.All(ctx, []social.ID{999, 3, 998, 3, 999})
		noError(t, err)
		for i, want := range []social.ID{0, 3, 0, 3, 0} {
			if u := people[i].User; (u == nil) != (want == 0) || u != nil && u.ID != want {
				t.Errorf("%d: got %+v", i, u)
			}
		}
		blog, err := l.Blogs.Load(ctx, 999)
		noError(t, err)
		if blog != nil {
			t.Errorf("got %+v", blog)
		}
		counts, err := l.Counts.Load(ctx, 999)
		noError(t, err)
		equal(t, "counts", counts, social.Counts{})
		relation, err := l.Relations.Load(ctx, 1)
		noError(t, err)
		equal(t, "the other way round", relation, social.Relation{IsThere: true, FollowsViewer: true})
	})
}

func TestNobodyHasNoRelationsAndAsksForNone(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ids := world(t, s)
		ctx := request(t, s, 0)
		before := s.DB.Statements()
		relations, err := loaders.From(ctx).Relations.All(ctx, ids)
		noError(t, err)
		for _, r := range relations {
			equal(t, "relation", r, social.Relation{})
		}
		equal(t, "statements", s.DB.Statements()-before, 0)
	})
}

// GQL-1 of the cases: what follows a write in the same request sees it.
func TestRenewedLoadersReadAnew(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		world(t, s)
		ctx := request(t, s, 1)
		follows := func() bool {
			r, err := loaders.From(ctx).Relations.Load(ctx, 2)
			noError(t, err)
			return r.ViewerFollows
		}
		equal(t, "before", follows(), true)
		s.Exec(t, "UPDATE following SET state = 0")
		s.Exec(t, "UPDATE user SET name = 'New'")
		equal(t, "known to the request", follows(), true)
		loaders.Renew(ctx)
		equal(t, "renewed", follows(), false)
		seen, err := loaders.From(ctx).People.Load(ctx, 2)
		noError(t, err)
		equal(t, "name", seen.User.Name, "New")
		equal(t, "another request", loaders.From(request(t, s, 1)) != loaders.From(ctx), true)
	})
}

func TestErrorOfTheStoreReachesEveryKey(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		ids := world(t, s)
		s.Exec(t, "ALTER TABLE user RENAME TO user_away")
		ctx := request(t, s, 1)
		if _, err := loaders.From(ctx).People.All(ctx, ids); err == nil {
			t.Error("people without a table")
		}
		for _, id := range ids[:5] {
			if u, err := loaders.From(ctx).People.Load(ctx, id); err == nil {
				t.Errorf("got %+v", u)
			}
		}
	})
}
