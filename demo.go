package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"kith/db"
	"kith/feed"
	"kith/ops"
	"kith/social"
	"kith/web"
)

// newDemo wires a server over the embedded store of the folder, made with sample people
// and blogs when there is none yet.
func newDemo(ctx context.Context, log *slog.Logger, c *demoCommand) (*server, error) {
	if err := seedOnce(ctx, c.Data); err != nil {
		return nil, err
	}
	s, err := newServer(ctx, log, settings{
		store: storeFlags{Data: c.Data}, migrate: true, introspection: c.Introspection == "on",
		limits: c.limitFlags, roles: []string{apiRole, workerRole}, visitor: ops.DemoHandle,
	})
	switch {
	case social.HasCode(err, social.NotFound):
		return nil, fmt.Errorf("%s holds other people than the demo's: name another folder by --data", c.Data)
	case social.HasCode(err, social.Forbidden):
		return nil, fmt.Errorf("the demo's visitor is suspended: kith user restore %s --data %s", ops.DemoHandle, c.Data)
	case err != nil:
		return nil, err
	}
	s.workers = append(s.workers, s.publishToWatchers)
	s.welcome += fmt.Sprintf("The page is signed in as %s. Everybody's password is %q.\n", ops.DemoHandle, ops.DemoPassword)
	return s, nil
}

// demoPause is how long the demo's publisher rests between two blogs.
const demoPause = 7 * time.Second

// publishToWatchers publishes as somebody whom the visitor follows while anybody watches
// their feed, so that there is something to see, until ctx ends.
func (s *server) publishToWatchers(ctx context.Context) error {
	rest := time.NewTicker(demoPause)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-rest.C:
			if s.live.Watching() == 0 {
				continue
			}
			author, err := s.accounts.ByHandle(ctx, "handle", ops.DemoAuthor)
			if err == nil {
				_, err = s.feed.Publish(ctx, author.ID, feed.Draft{Title: "It is " + now.Format(time.TimeOnly), Content: "And somebody is watching."})
			}
			if err != nil {
				s.log.Warn("nothing is published", "error", err)
			}
		}
	}
}

// seedOnce makes the folder's store with the samples in it, whole or not at all: it is
// filled under another name.
func seedOnce(ctx context.Context, folder string) error {
	file := databaseFile(folder)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	workshop := filepath.Join(folder, "seed")
	defer func() { _ = os.RemoveAll(workshop) }()
	// What an earlier seeding left when it was cut off is of no use.
	if err := errors.Join(os.RemoveAll(workshop), os.Mkdir(workshop, 0o700)); err != nil {
		return fmt.Errorf("seed the demo: %w", err)
	}
	if err := seed(ctx, databaseFile(workshop)); err != nil {
		return fmt.Errorf("seed the demo: %w", err)
	}
	return os.Rename(databaseFile(workshop), file)
}

func seed(ctx context.Context, file string) (err error) {
	d, err := db.Open(ctx, db.Config{SQLite: file})
	if err != nil {
		return err
	}
	// Closing takes the write-ahead log into the file.
	defer func() { err = errors.Join(err, d.Close()) }()
	if _, err := d.Migrate(ctx); err != nil {
		return err
	}
	return ops.Seed(ctx, d, clock)
}

// examples are the operations in the page's tabs, each named after itself. Follow and Like
// are about the person and the blog of these global ids.
func examples(person, blog string) []web.Tab {
	return []web.Tab{
		{Name: "Feed", Query: exampleFeed, Variables: `{ "first": 5 }`},
		{Name: "Live", Query: exampleLive},
		{Name: "Like", Query: exampleLike, Variables: fmt.Sprintf(`{ "id": %q }`, blog)},
		{Name: "Hot", Query: exampleHot},
		{Name: "News", Query: exampleNews},
		{Name: "Person", Query: examplePerson, Variables: `{ "handle": "grace" }`},
		{Name: "Follow", Query: exampleFollow, Variables: fmt.Sprintf(`{ "id": %q }`, person)},
		{Name: "Publish", Query: examplePublish, Variables: `{ "title": "Hello", "content": "My first blog." }`},
	}
}

const (
	exampleFeed = `# Blogs of the people you follow, newest first.
# Next page: "after" is pageInfo.endCursor.
query Feed($first: Int, $after: String) {
  followFeed(first: $first, after: $after) {
    edges {
      cursor
      node {
        id
        title
        createdAt
        likeCount
        viewerHasLiked
        author {
          handle
          name
        }
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`
	exampleLive = `# Each new blog in your feed, as it is published: run it and wait some seconds.
# "since" is a liveCursor of followFeed, or the cursor of the newest edge that you hold.
subscription Live($since: String) {
  feedItemAdded(since: $since) {
    cursor
    node {
      title
      createdAt
      author {
        handle
      }
    }
  }
}
`
	exampleLike = `# Repeat it, and changed is false. Undo it by unlikeBlog.
mutation Like($id: ID!) {
  likeBlog(input: { blogId: $id }) {
    changed
    blog {
      title
      likeCount
      viewerHasLiked
      likers(first: 3) {
        totalCount
        nodes {
          handle
        }
      }
    }
  }
}
`
	exampleHot = `# What is liked most these days.
query Hot {
  hotBlogs(first: 5) {
    nodes {
      id
      title
      likeCount
      author {
        handle
      }
    }
  }
}
`
	exampleNews = `# What you were told, latest first.
# Read up to here: markNotificationsRead, with upTo: the cursor of the newest line.
query News {
  notifications(first: 10) {
    unreadCount
    edges {
      cursor
      node {
        id
        kind
        actorCount
        actors {
          handle
        }
        blog {
          title
        }
        isRead
        updatedAt
      }
    }
  }
}
`
	examplePerson = `# A person, and how you stand to them.
query Person($handle: String!) {
  user(handle: $handle) {
    id
    name
    bio
    followerCount
    followingCount
    viewerIsFollowing
    isFollowingViewer
    followers(first: 3) {
      totalCount
      edges {
        since
        node {
          handle
        }
      }
    }
  }
}
`
	exampleFollow = `# Repeat it, and changed is false.
mutation Follow($id: ID!) {
  follow(input: { userId: $id }) {
    state
    changed
    user {
      followerCount
      isMutual
    }
    viewer {
      followingCount
    }
  }
}
`
	examplePublish = `# It is in your followers' feeds at once.
mutation Publish($title: String!, $content: String!) {
  publishBlog(input: { title: $title, content: $content }) {
    blog {
      id
      createdAt
    }
    viewer {
      blogCount
    }
  }
}
`
)
