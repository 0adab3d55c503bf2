package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/tidwall/gjson"

	"kith/social"
	"kith/socialtest"
)

// liveClient is one app of a viewer.
type liveClient struct {
	m             *liveModel
	viewer        person
	opened, pages int
	got           []received

	// These are the model's mu's.
	held    map[social.ID]bool
	current *stream
	stopped bool
}

type received struct {
	id social.ID
	at time.Time
}

// run reads a page, subscribes, and goes on from what it holds, until it is stopped.
func (c *liveClient) run() {
	since := ""
	for {
		if since == "" {
			since = c.load()
		}
		s := c.m.lives[rand.IntN(len(c.m.lives))].open(c.m, c.viewer.id, since)
		if !c.opens(s) {
			s.end()
			return
		}
		if rand.IntN(3) > 0 && !closed(c.m.done) {
			time.AfterFunc(time.Duration(rand.IntN(400))*time.Millisecond, s.end)
		}
		newest, code := c.listen(s)
		if s.ctx.Err() != nil { // an edge that was on its way has failed with the connection
			code = ""
		}
		s.end()
		switch {
		case code == social.LimitExceeded:
			since = ""
		case code != "" && code != social.Unavailable:
			c.m.Errorf("the stream ended by %q", code)
			return
		case newest != "":
			since = newest
		}
		if rand.IntN(4) == 0 {
			since = ""
		}
		pause(nil, time.Duration(rand.IntN(50))*time.Millisecond)
	}
}

func (c *liveClient) opens(s *stream) bool {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.current = s
	c.opened++
	return !c.stopped
}

func (c *liveClient) stop() {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.stopped = true
	if c.current != nil {
		c.current.end()
	}
}

// listen holds edges until the stream ends, and gives the cursor of the newest.
func (c *liveClient) listen(s *stream) (newest string, code social.Code) {
	seen := map[social.ID]bool{}
	var last social.ID
	for {
		e, code := s.await()
		if !e.Exists() {
			return newest, code
		}
		id := mustID(c.m, e.Get("node.id").String())
		if seen[id] {
			c.m.Errorf("blog %d came twice", id)
		}
		seen[id] = true
		if id > last {
			last, newest = id, e.Get("cursor").String()
		}
		c.got = append(c.got, received{id, time.Now()})
		c.holds(id)
	}
}

func (c *liveClient) holds(ids ...social.ID) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	for _, id := range ids {
		c.held[id] = true
	}
}

// load reads the feed, and gives the cursor of its first page.
func (c *liveClient) load() (cursor string) {
	after := any(nil)
	c.pages++
	for {
		var f gjson.Result
		c.m.insist(func(_ context.Context, s *server) error {
			me := socialtest.Client{Handler: s.handler, Token: c.viewer.Token}
			a := me.Do(c.m, `query($a: String) { followFeed(first: 100, after: $a) { nodes { id } liveCursor pageInfo { endCursor hasNextPage } } }`,
				map[string]any{"a": after})
			if f = a.Data().Get("followFeed"); !f.IsObject() {
				return social.Errorf(cmp.Or(social.Code(a.Code()), social.Unavailable), "%s", a.Body)
			}
			return nil
		})
		for _, n := range f.Get("nodes").Array() {
			c.holds(mustID(c.m, n.Get("id").String()))
		}
		cursor = cmp.Or(cursor, f.Get("liveCursor").String())
		if !f.Get("pageInfo.hasNextPage").Bool() {
			return cursor
		}
		after = f.Get("pageInfo.endCursor").String()
	}
}
