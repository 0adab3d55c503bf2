package feed

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// starListEvery is how often the list of stars is read.
	starListEvery = 3 * time.Second
	// shelfLife is how long the blogs of a star are kept that no viewer needs.
	shelfLife = 10 * time.Minute
)

// StarsConfig says who is a star, and how their blogs come to feeds. The zero StarsConfig
// has the defaults.
type StarsConfig struct {
	// Followers is how many an author may have; past that, they become a star. 0 is 10,000.
	Followers int64
	// Blogs is how many of a star's newest blogs are kept in memory; 0 is 1,000.
	Blogs int
	// Trust is for how long it is believed, from before the last look at the events, that
	// every blog has been heard of; 0 is 2 s.
	Trust time.Duration
	// ListTrust is how old the list of stars may be, counted from before it was read; 0 is
	// 30 s. It must be well below the time for which fan-out goes on, [starGrace].
	ListTrust time.Duration
}

func (c StarsConfig) withDefaults() StarsConfig {
	if c.Followers == 0 {
		c.Followers = 10_000
	}
	if c.Blogs == 0 {
		c.Blogs = 1000
	}
	if c.Trust == 0 {
		c.Trust = 2 * time.Second
	}
	if c.ListTrust == 0 {
		c.ListTrust = 30 * time.Second
	}
	return c
}

// Stars knows who is a star, and keeps the newest blogs of those whom viewers of this server
// follow. It hears of the events (Heard), and reads in SQL what was before: the list of stars
// every few seconds, the blogs of a star when somebody first needs them. Where it does not
// know all of that lately, it says so. Safe for parallel use.
type Stars struct {
	db  *db.DB
	cfg StarsConfig
	now func() time.Time
	// read reads the newest blogs of authors, in SQL.
	read func(context.Context, []db.AuthorFrom, int) (map[social.ID][]social.BlogRef, error)

	mu      sync.RWMutex
	list    starList
	seen    time.Time // before the last look at the events; zero: nobody looks
	shelves map[social.ID]*shelf
}

// starList is all stars. It only grows, and may hold somebody who is none: what is kept of
// them is as good. Its version is this server's own; nobody changes it in place.
type starList struct {
	ids     map[social.ID]bool
	version int64
	at      time.Time // before it was last read; zero: not known
}

func newStars(d *db.DB, cfg StarsConfig) *Stars {
	return &Stars{db: d, cfg: cfg.withDefaults(), now: time.Now, read: d.NewestBlogs, shelves: map[social.ID]*shelf{}}
}

// Run keeps the list of stars known until ctx ends, and forgets the blogs of those that
// nobody needs.
func (s *Stars) Run(ctx context.Context, log *slog.Logger) error {
	defer s.setList(nil, time.Time{})
	tick := time.NewTicker(starListEvery)
	defer tick.Stop()
	for failing := false; ; {
		reading, cancel := context.WithTimeout(ctx, s.cfg.ListTrust) // later it would not be believed
		err := s.Load(reading)
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			log.Warn("the list of stars is not read; it is tried again", "error", err)
		}
		failing = err != nil
		s.forget()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Load reads the list of stars.
func (s *Stars) Load(ctx context.Context) error {
	at := s.now()
	ids, err := s.db.Stars(ctx)
	if err == nil {
		s.setList(ids, at)
	}
	return err
}

func (s *Stars) setList(ids []social.ID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list.at = at
	s.addStars(ids...)
}

func (s *Stars) addStars(ids ...social.ID) {
	var grown map[social.ID]bool
	for _, id := range ids {
		if s.list.ids[id] {
			continue
		}
		if grown == nil {
			grown = make(map[social.ID]bool, len(s.list.ids)+len(ids))
			maps.Copy(grown, s.list.ids)
		}
		grown[id] = true
	}
	if grown != nil {
		s.list.ids = grown
		s.list.version++
	}
}

// known is the list of stars; false where it is too old.
func (s *Stars) known() (starList, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.list, within(s.cfg.ListTrust, s.list.at, s.now())
}

// Seen says that every event has been handed on that was committed before at; the zero time
// that none is any more.
func (s *Stars) Seen(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = at
}

// SeenAt is until when every event has been handed on; zero where none is.
func (s *Stars) SeenAt() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.seen
}

// Heard takes what an event says.
func (s *Stars) Heard(body any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := body.(type) {
	case social.BlogBody:
		kept := s.shelves[e.AuthorID]
		switch {
		case kept == nil:
		case e.Deleted:
			kept.drop(e.BlogID)
		default:
			kept.put(s.cfg.Blogs, e.BlogID)
		}
	case social.UserBody:
		if e.Star {
			s.addStars(e.UserID)
		}
	}
}

// Missed says that there were events which nobody handed on.
func (s *Stars) Missed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shelves = map[social.ID]*shelf{}
}

// forget forgets those whose blogs nobody has read for long.
func (s *Stars) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now().Add(-shelfLife).UnixNano()
	maps.DeleteFunc(s.shelves, func(_ social.ID, kept *shelf) bool { return kept.used.Load() < before })
}

// within tells that something is not older than it may be, once by the monotonic clock and
// once by the other, which goes on while the machine is suspended.
func within(most time.Duration, at, now time.Time) bool {
	return !at.IsZero() && now.Sub(at) < most && now.Round(0).Sub(at.Round(0)) < most
}
