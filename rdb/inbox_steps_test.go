package rdb_test

import (
	"maps"
	"slices"

	"kith/rdb"
	"kith/social"
)

// anyProcess is one of what happens to an inbox. Those that events start again are told
// twice at times, the second time late.
func (s *story) anyProcess() process {
	a := authors[max(0, s.rng.IntN(5)-2)]
	again := 1 + s.rng.IntN(2)
	switch s.rng.IntN(16) {
	case 0, 1, 2:
		return func(step func()) { s.publish(step, a, again) }
	case 3:
		return func(step func()) { s.deletes(step, again) }
	case 4, 5, 6:
		return func(step func()) { s.change(step, social.Following, a, again) }
	case 7, 8, 9:
		return func(step func()) { s.change(step, social.NotFollowing, a, again) }
	case 10, 11:
		return func(func()) { s.run(rdb.DropInbox(s.id)); s.says("lose the inbox") }
	case 12:
		return func(func()) {
			noError(s, s.redis.Client().Del(s.Context(), rdb.FollowingKey(1, s.id)).Err())
			s.says("lose following")
		}
	}
	return s.build
}

// publish takes an id, commits, and fans out.
func (s *story) publish(step func(), author social.ID, times int) {
	id := s.newID()
	step()
	step()
	s.blogs[id] = author
	s.says("commit", id, "of", author)
	for range times {
		step()
		s.fanOut(step, id, author)
	}
}

// deletes marks a blog deleted, and fans that out.
func (s *story) deletes(step func(), times int) {
	if len(s.blogs) == 0 {
		return
	}
	ids := slices.Sorted(maps.Keys(s.blogs))
	id := ids[s.rng.IntN(len(ids))]
	author := s.blogs[id]
	delete(s.blogs, id)
	s.says("delete", id)
	for range times {
		step()
		s.fanOut(step, id, author)
	}
}

// fanOut is feed.fanOut.
func (s *story) fanOut(step func(), id, author social.ID) {
	published := s.blogs[id] != 0
	step()
	follower := s.followed[author]
	step()
	if !follower {
		return
	}
	ref := social.BlogRef{ID: id, AuthorID: author}
	if !published {
		s.run(rdb.Remove(rdb.Partition(s.id), []social.ID{s.id}, ref))
		s.says("remove", id)
		return
	}
	s.push(modelSize, ref)
	s.says("push", id)
}

// change is a follow or unfollow: the commit, what its server does, unless that dies, and
// what the consumer of its event does once more.
func (s *story) change(step func(), to social.FollowState, target social.ID, times int) {
	c := social.FollowCall{FollowChange: social.FollowChange{
		UserID: s.id, TargetID: target, State: to, Version: s.version, Since: social.Epoch,
	}}
	if s.followed[target] != (to == social.Following) {
		s.version++
		c.Version, c.Changed = s.version, true
		if to == social.Following {
			s.followed[target] = true
		} else {
			delete(s.followed, target)
		}
	}
	s.says("commit", to, target, "version", c.Version, c.Changed)
	step()
	if !s.mayCrash || s.rng.IntN(2) == 0 {
		s.moved(step, c)
	}
	for range times {
		if c.Changed {
			step()
			s.moved(step, c)
		}
	}
}

// moved is feed.Moved.
func (s *story) moved(step func(), c social.FollowCall) {
	m := rdb.NewMove(c)
	s.run(m.Call)
	floor, needed := m.Floor()
	s.says("move", c.State, c.TargetID, "version", c.Version, "needs", needed, floor)
	step()
	if !needed {
		return
	}
	refs := s.newest(floor, map[social.ID]bool{c.TargetID: true})
	step()
	if len(refs) > 0 {
		s.push(modelSize, refs...)
		s.says("backfill", idsOf(refs))
	}
}

// build is what a reader does who finds something missing.
func (s *story) build(step func()) {
	tok := token()
	a := s.home(head, false, 1, tok)
	s.says("read", a)
	step()
	version, followed := s.version, maps.Clone(s.followed)
	step()
	refs := s.newest(0, followed)
	step()
	var calls []*rdb.Call
	if a.Version < 0 && version > 0 {
		calls = append(calls, rdb.FillFollowing(s.id, tok, version, peers(slices.Collect(maps.Keys(followed))...)))
	}
	if a.Missing {
		calls = append(calls, rdb.Build(s.id, tok, modelSize, refs, len(refs) < modelSize))
	}
	for _, c := range calls { // in two steps
		s.run(c)
		s.says("fill", version, idsOf(refs), c.Answered())
		step()
	}
}
