package like

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"kith/db"
	"kith/events"
	"kith/social"
)

const (
	// readEvery is how long after reading counts they are read again at the earliest.
	readEvery = 100 * time.Millisecond
	// againAfter is when a reading that failed is tried again.
	againAfter = time.Second
)

// Live tells subscriptions of this server of the counts that change, and of what may hide a blog
// from who watches it. It hears of both by the tail, and reads the counts of blogs that are
// watched, all at once. Safe for parallel use.
type Live struct {
	db   *db.DB
	log  *slog.Logger
	wake chan struct{}

	mu      sync.Mutex
	watched map[social.ID]map[*Watch]bool   // by blog
	sights  map[social.Pair]map[*Watch]bool // by what tells whether it is to be seen
	moved   map[social.ID]bool              // to be read
}

// NewLive watches nothing yet.
func NewLive(d *db.DB, log *slog.Logger) *Live {
	return &Live{
		db: d, log: log, wake: make(chan struct{}, 1), moved: map[social.ID]bool{},
		watched: map[social.ID]map[*Watch]bool{}, sights: map[social.Pair]map[*Watch]bool{},
	}
}

// Watch is a subscription to the count of one blog.
type Watch struct {
	live   *Live
	blog   social.ID
	sights [4]social.Pair
	news   chan social.LikeCount
	look   chan struct{}
	last   int64 // the version that was told last; Live.mu's
}

// Watch tells how the count of a blog changes from now on, and what may hide it from the
// viewer. Close it.
func (l *Live) Watch(ctx context.Context, viewer, blog social.ID) (*Watch, error) {
	found, err := l.db.Authorships(ctx, []social.ID{blog})
	if err != nil {
		return nil, err
	}
	author := found[blog].AuthorID // never another's
	w := &Watch{live: l, blog: blog, news: make(chan social.LikeCount, 1), look: make(chan struct{}, 1)}
	w.sights = [...]social.Pair{ofOne(blog), ofOne(author), {UserID: viewer, TargetID: author}, {UserID: author, TargetID: viewer}}
	l.mu.Lock()
	put(l.watched, blog, w)
	for _, s := range w.sights {
		put(l.sights, s, w)
	}
	l.mu.Unlock()
	// Read after it was registered: what is heard of by now, it has.
	counts, err := l.db.LikeCounts(ctx, []social.ID{blog})
	if err != nil {
		w.Close()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.last = max(w.last, counts[blog].Version)
	return w, nil
}

// ofOne stands among pairs for a blog, or a person.
func ofOne(id social.ID) social.Pair { return social.Pair{UserID: id} }

func put[K comparable](in map[K]map[*Watch]bool, key K, w *Watch) {
	if in[key] == nil {
		in[key] = map[*Watch]bool{}
	}
	in[key][w] = true
}

func drop[K comparable](from map[K]map[*Watch]bool, key K, w *Watch) {
	if delete(from[key], w); len(from[key]) == 0 {
		delete(from, key)
	}
}

// Close ends it.
func (w *Watch) Close() {
	l := w.live
	l.mu.Lock()
	defer l.mu.Unlock()
	drop(l.watched, w.blog, w)
	for _, s := range w.sights {
		drop(l.sights, s, w)
	}
	if l.watched[w.blog] == nil {
		delete(l.moved, w.blog)
	}
}

// Look says that the viewer may not see the blog any more.
func (w *Watch) Look() <-chan struct{} { return w.look }

// News gives the count once it has changed; the newest, where it has changed again since.
func (w *Watch) News() <-chan social.LikeCount { return w.news }

// tell replaces what was not taken yet.
func (w *Watch) tell(n social.LikeCount) {
	if n.Version <= w.last {
		return
	}
	w.last = n.Version
	select {
	case <-w.news:
	default:
	}
	w.news <- n
}

// Heard takes events of the tail. It returns at once.
func (l *Live) Heard(evs []events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.watched) == 0 {
		return
	}
	for _, e := range evs {
		switch body := e.Body.(type) {
		case social.LikeBody:
			for _, b := range body.Blogs() {
				l.move(b)
			}
		case social.BlogBody:
			if body.Deleted {
				l.look(ofOne(body.BlogID))
			}
		case social.UserBody:
			l.look(ofOne(body.UserID))
		case social.FollowBody:
			for _, c := range body.Changes {
				l.look(social.Pair{UserID: c.UserID, TargetID: c.TargetID})
			}
			for _, c := range body.Walls {
				l.look(social.Pair(c))
			}
		}
	}
}

// look has all look whose viewer may not see the blog any more.
func (l *Live) look(sight social.Pair) {
	for w := range l.sights[sight] {
		select {
		case w.look <- struct{}{}:
		default:
		}
	}
}

// Missed tells that events were missed.
func (l *Live) Missed() {
	l.moveAll()
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := range l.watched {
		l.look(ofOne(b))
	}
}

// moveAll has all counts read.
func (l *Live) moveAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := range l.watched {
		l.move(b)
	}
}

func (l *Live) move(blog social.ID) {
	if l.watched[blog] == nil {
		return
	}
	l.moved[blog] = true
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run reads the counts that moved, until ctx ends.
func (l *Live) Run(ctx context.Context) error {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		}
		pause := readEvery
		err := l.read(ctx)
		if err != nil {
			pause = againAfter
			l.moveAll()
			if !failing && ctx.Err() == nil {
				l.log.Warn("like counts for subscriptions are not read; it is tried again", "error", err)
			}
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// read reads what moved, and tells whoever watches it.
func (l *Live) read(ctx context.Context) error {
	l.mu.Lock()
	moved := make([]social.ID, 0, len(l.moved))
	for b := range l.moved {
		if len(moved) < db.MaxIn {
			moved = append(moved, b)
			delete(l.moved, b)
		}
	}
	l.again()
	l.mu.Unlock()
	counts, err := l.db.LikeCounts(ctx, moved)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for b, n := range counts {
		for w := range l.watched[b] {
			w.tell(n)
		}
	}
	return nil
}

// again leaves a sign where there is more to read.
func (l *Live) again() {
	for b := range l.moved {
		l.move(b)
		return
	}
}
