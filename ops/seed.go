// Package ops holds the commands behind the server.
package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kith/account"
	"kith/cache"
	"kith/db"
	"kith/feed"
	"kith/follow"
	"kith/like"
	"kith/social"
)

// DemoHandle and DemoPassword sign in as the demo's visitor; all sample people share the
// password. The visitor follows DemoAuthor, and does not follow DemoStranger.
const (
	DemoHandle   = "ada"
	DemoPassword = "kith-demo"
	DemoAuthor   = "grace"
	DemoStranger = "tony"
)

// seeder makes the samples through the verbs, on a clock that it moves.
type seeder struct {
	accounts *account.Accounts
	graph    *follow.Graph
	feed     *feed.Feed
	likes    *like.Likes
	now      time.Time
	people   map[string]social.ID
}

// Seed fills an empty store with sample people, relations, and blogs and likes of the last
// two weeks, the newest some minutes old.
func Seed(ctx context.Context, d *db.DB, clock social.Clock) error {
	s := &seeder{now: clock().Add(-15 * 24 * time.Hour), people: map[string]social.ID{}}
	at := func() time.Time { return s.now }
	ids := social.NewSnowflake(at, func() (int, error) { return 0, nil })
	var err error
	// The secret signs tokens that nobody gets to see.
	s.accounts, err = account.New(d, ids, at, account.Config{Secret: "the seeding signs nobody in: 32 b"})
	if err != nil {
		return err
	}
	caches := cache.None(d)
	s.graph, s.feed = follow.New(d, at, follow.Config{}), feed.New(d, caches, ids, at, feed.Config{})
	s.likes = like.New(d, caches, at, like.Config{})
	for _, step := range []func(context.Context) error{s.signUp, s.follow, s.publish(clock())} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *seeder) signUp(ctx context.Context) error {
	for _, p := range samplePeople {
		s.now = s.now.Add(time.Minute)
		session, err := s.accounts.SignUp(ctx, p.handle, p.name, DemoPassword)
		if err != nil {
			return fmt.Errorf("sign up %s: %w", p.handle, err)
		}
		s.people[p.handle] = session.User.ID
		if err := s.accounts.UpdateProfile(ctx, session.User.ID, account.ProfilePatch{Bio: &p.bio}); err != nil {
			return fmt.Errorf("write the bio of %s: %w", p.handle, err)
		}
	}
	return nil
}

func (s *seeder) follow(ctx context.Context) error {
	for _, p := range samplePeople {
		for _, target := range p.follows {
			s.now = s.now.Add(time.Minute)
			if _, err := s.graph.Follow(ctx, s.people[p.handle], s.people[target]); err != nil {
				return fmt.Errorf("%s follows %s: %w", p.handle, target, err)
			}
		}
	}
	return nil
}

// publish spreads the blogs from where the clock stands up to the end, ever closer: the
// last is some minutes old.
func (s *seeder) publish(end time.Time) func(context.Context) error {
	return func(ctx context.Context) error {
		span, n := end.Sub(s.now), time.Duration(len(sampleBlogs))
		for i, b := range sampleBlogs {
			left := n - time.Duration(i)
			s.now = end.Add(-span * left * left / (n * n))
			draft := feed.Draft{Title: b.title, Content: b.content}
			blog, err := s.feed.Publish(ctx, s.people[b.author], draft)
			if err != nil {
				return fmt.Errorf("publish %q: %w", b.title, err)
			}
			if err := s.like(ctx, i, b.author, blog.ID); err != nil {
				return err
			}
		}
		return nil
	}
}

// like has all who follow the author like the blog, but for every third, another with each
// blog; the last waits for the visitor's like.
func (s *seeder) like(ctx context.Context, i int, author string, blog social.ID) error {
	for j, p := range samplePeople {
		isLast := i == len(sampleBlogs)-1
		if !slices.Contains(p.follows, author) || (i+j)%3 == 0 || isLast && p.handle == DemoHandle {
			continue
		}
		s.now = s.now.Add(time.Second)
		if _, err := s.likes.Like(ctx, s.people[p.handle], blog); err != nil {
			return fmt.Errorf("%s likes a blog of %s: %w", p.handle, author, err)
		}
	}
	return nil
}
