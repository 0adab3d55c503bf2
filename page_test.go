package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"kith/web/webtest"
)

// The demo's page, in a browser that reaches nothing but this server: the feed's tab is
// open, and its query answers with the visitor's feed. KITH_TEST_SCREENSHOT names a file
// to keep the picture in, as for the README.
func TestTheDemosPageRunsTheFeed(t *testing.T) {
	t.Parallel()
	demo := startProcess(t, "demo", "--data", t.TempDir())
	page := webtest.Open(t, strings.TrimSuffix(demo.url, "graphql"))
	for _, name := range []string{"Feed", "Live", "Like", "Hot", "News", "Person", "Follow", "Publish"} {
		if !strings.Contains(page.Tabs(), name) {
			t.Errorf("the tabs %q lack %s", page.Tabs(), name)
		}
	}
	page.Run()
	page.Until("the feed shows", func() bool {
		return gjson.Get(page.Result(), "data.followFeed.edges.0.node.author.handle").String() == "grace"
	})
	if n := len(gjson.Get(page.Result(), "data.followFeed.edges").Array()); n != 5 {
		t.Errorf("the page shows %d blogs, want 5: %s", n, page.Result())
	}
	page.Click("#graphiql-session-tab-1")
	page.Run()
	page.Until("a new blog arrives", func() bool {
		return strings.Contains(page.Result(), "It is ") && strings.Contains(page.Result(), `"handle": "grace"`)
	})
	page.Run() // which ends it
	page.Click("#graphiql-session-tab-2")
	page.Run()
	page.Until("a blog is liked", func() bool {
		return gjson.Get(page.Result(), "data.likeBlog.blog.viewerHasLiked").Bool()
	})
	page.Click("#graphiql-session-tab-3")
	page.Run()
	page.Until("what is liked shows", func() bool {
		return gjson.Get(page.Result(), "data.hotBlogs.nodes.4.likeCount").Int() > 0
	})
	page.Click("#graphiql-session-tab-4")
	page.Run()
	page.Until("what the visitor is told shows", func() bool {
		return gjson.Get(page.Result(), "data.notifications.unreadCount").Int() > 0
	})
	page.Click("#graphiql-session-tab-0")
	page.Screenshot(cmp.Or(os.Getenv("KITH_TEST_SCREENSHOT"), filepath.Join(t.TempDir(), "demo.png")))
	page.Check()
}
