package rdb_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"kith/rdb"
	"kith/social"
)

// modelSize is how many entries the inboxes of the model keep: few, so that most stories
// come to the floor.
const modelSize = 4

// story is the life of one inbox: a few processes of one step at a time, in any order, and
// what SQL has.
type story struct {
	*person
	rng      *rand.Rand
	mayCrash bool
	lastID   social.ID
	blogs    map[social.ID]social.ID // authors by id
	followed map[social.ID]bool
	version  int64
	loud     bool
	log      []string
}

// process is what one server does; it calls step where others may come between.
type process func(step func())

// KITH_TEST_SEED repeats a failure.
func TestInboxOverAnyHistoryGivesTheFeed(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("KITH_TEST_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		noError(t, err)
	}
	each(t, func(t *testing.T, w *world) {
		stories := map[string]int{"single": 500, "cluster": 40, "embedded": 20}[t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]]
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < stories && !t.Failed(); i += 4 {
					if wrong := w.story(t, seed, i).tell(); wrong != "" {
						s := w.story(t, seed, i)
						s.loud = true
						s.tell()
						t.Errorf("KITH_TEST_SEED=%d, story %d: %s\n%s", seed, i, wrong, strings.Join(s.log, ""))
					}
				}
			})
		}
		all.Wait()
	})
}

func (w *world) story(t *testing.T, seed uint64, i int) *story {
	return &story{
		person: w.person(t), rng: rand.New(rand.NewPCG(seed, uint64(i))), mayCrash: i%2 == 0, lastID: at(3, 0x7d),
		blogs: map[social.ID]social.ID{}, followed: map[social.ID]bool{authors[0]: true},
	}
}

// authors are the three of the stories.
var authors = []social.ID{0x7f, 0x80, 1<<62 + 0xff}

// tell runs the story, and reads the feed each time that all has come to rest.
func (s *story) tell() (wrong string) {
	for _, a := range []int{0, 2, 0, 1, 1, 0, 2, 2, 1} {
		s.blogs[s.newID()] = authors[a]
	}
	s.build(func() {})
	for range 4 {
		s.chapter()
		if wrong = s.compare(); wrong != "" {
			return wrong
		}
		s.forget()
	}
	return ""
}

// chapter lets some processes run.
func (s *story) chapter() {
	var running []func() (struct{}, bool)
	for range 2 + s.rng.IntN(9) {
		p := s.anyProcess()
		next, _ := iter.Pull(func(yield func(struct{}) bool) { p(func() { yield(struct{}{}) }) })
		running = append(running, next)
	}
	for len(running) > 0 {
		i := s.rng.IntN(len(running))
		if _, more := running[i](); !more {
			running = slices.Delete(running, i, i+1)
		}
	}
}

// forget lets pass what would take ten seconds: the buildings and leases of those who died.
func (s *story) forget() {
	if ids := s.inbox(); len(ids) > 0 && ids[len(ids)-1] == building {
		s.run(rdb.DropInbox(s.id))
	}
	noError(s, s.redis.Client().Del(s.Context(), rdb.LeaseOf(rdb.FollowingKey(1, s.id))).Err())
}

func (s *story) says(what string, about ...any) {
	if !s.loud {
		return
	}
	s.log = append(s.log, fmt.Sprintln(what, about, "inbox", s.inbox()))
}

// newID is higher than the last, often of the same time, and over bytes that look negative.
func (s *story) newID() social.ID {
	s.lastID += social.ID(1 + s.rng.IntN(3))
	if s.rng.IntN(3) == 0 {
		s.lastID = social.FirstIDAt(s.lastID.Time()+1) + 0x7d
	}
	return s.lastID
}

// feed is what the feed is, newest first.
func (s *story) feed(below social.ID) (ids []social.ID) {
	for id, author := range s.blogs {
		if s.followed[author] && id < below {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

// newest are blogs of these authors at and above an id, as many as an inbox keeps.
func (s *story) newest(from social.ID, authors map[social.ID]bool) (refs []social.BlogRef) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(s.blogs))) {
		if a := s.blogs[id]; authors[a] && id >= from && len(refs) < modelSize {
			refs = append(refs, social.BlogRef{ID: id, AuthorID: a})
		}
	}
	return refs
}

// compare reads the feed in pages, as kith/feed does, and the list of those followed.
func (s *story) compare() (wrong string) {
	v, ids := s.following()
	if want := slices.Sorted(maps.Keys(s.followed)); v >= 0 && (v != s.version || !slices.Equal(ids, want)) {
		return fmt.Sprintf("following is %v of version %d, want %v of %d", ids, v, want, s.version)
	}
	want, got := s.feed(head), s.down()
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the feed is %v, want %v", got, want)
	}
	a := s.home(0, true, 100, token())
	if !a.Whole || a.Version < 0 {
		return ""
	}
	up := s.published(s.home(a.Floor, true, 100, token()).Refs)
	slices.Reverse(up)
	if above := want[:len(want)-len(s.feed(a.Floor+1))]; !slices.Equal(up, above) {
		return fmt.Sprintf("above the floor %d, upwards, the feed is %v, want %v", a.Floor, up, above)
	}
	return ""
}

// down reads the inbox down to its floor, and the rest in SQL.
func (s *story) down() (ids []social.ID) {
	for past := head; ; {
		a := s.home(past, false, 2, token())
		if !a.Whole || a.Version < 0 {
			return append(ids, s.feed(past)...)
		}
		ids = append(ids, s.published(a.Refs)...)
		if len(a.Refs) < 2 {
			if a.Floor == 0 {
				return ids
			}
			return append(ids, s.feed(min(past, a.Floor))...)
		}
		past = a.Refs[1].ID
	}
}

// published leaves out what has no body any more.
func (s *story) published(refs []social.BlogRef) (ids []social.ID) {
	for _, r := range refs {
		if s.blogs[r.ID] != 0 {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
