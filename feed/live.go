package feed

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"kith/cache"
	"kith/events"
	"kith/social"
)

// Live sends new blogs to the subscriptions of one server, as they are published. It hears
// of them by the server's tail, knows which authors its viewers follow, and asks before it
// sends whether each still does. Safe for parallel use.
//
//	tail ── Heard, Seen ──> live_index.go: for which viewers a blog may be
//	                              │ jobs
//	                              v
//	                        live_send.go: bodies, once; whether each viewer's feed has it
//	                              │ queues
//	                              v
//	Subscribe ── replay ──> live_subscription.go: one at a time, each id once ──> Next
//
// What is heard counts once the tail has seen all that was committed by then: so it comes
// in order, though lanes have none between them, and a follow is known before the blogs
// that came after it.
type Live struct {
	*Feed
	log  *slog.Logger
	mark *cache.Local[string, social.Millis]

	replays chan struct{} // one place for each replay that may be read at once
	wake    chan struct{} // there are jobs

	mu      sync.Mutex
	viewers map[social.ID]*viewer
	authors map[social.ID][]*viewer // who follows them; none without viewers
	ended   bool
	// watching counts the subscriptions that get what is published now.
	watching int
	gaps     int // how often events were missed
	begun    bool
	heard    heard
	jobs     []job
	seen     social.Millis // what was committed before is in jobs, or done
	done     social.Millis // what was committed before has been sent
	busy     bool          // some of jobs have been taken and not been done
}

// viewer is somebody with subscriptions here.
type viewer struct {
	id   social.ID
	subs []*Subscription
	// authors are whose blogs the feed has, with the viewer's place in [Live.authors]. They
	// are as of version and the changes heard since, if read since the last gap.
	authors map[social.ID]int32
	version int64
	read    bool
	gaps    int
	// late are changes that came while authors were read; nil when nobody reads.
	reading int
	late    []social.FollowChange
}

// heard is what the tail has handed on and not finished.
type heard struct {
	blogs   []publication
	changes []change
}

// publication is a new blog, and where its event stands in the log.
type publication struct {
	social.BlogRef
	event events.Event
}

// change is one of an edge of a viewer, with its event.
type change struct {
	social.FollowChange
	event events.Event
}

// job is a blog for those who may be sent it.
type job struct {
	publication
	to []*viewer
}

const (
	// maxReplays bounds how many replays a server reads at once.
	maxReplays = 8
	// maxJobs bounds the blogs that wait to be sent; beyond, replays cost less.
	maxJobs = 10_000
)

// NewLive sends nothing until the tail's Heard, Seen and Missed come, and Run runs.
func NewLive(f *Feed, log *slog.Logger) *Live {
	l := &Live{
		Feed: f, log: log, replays: make(chan struct{}, maxReplays), wake: make(chan struct{}, 1),
		viewers: map[social.ID]*viewer{}, authors: map[social.ID][]*viewer{},
	}
	l.mark = cache.NewLocal(1, l.readMark)
	return l
}

// Consumer is the name under which [Feed.Consume] takes events.
const Consumer = "feed"

// Cursor is a place in any feed such that what enters a feed after it was asked for lies
// after it, but for what [Live.Subscribe] looks back. Ask before reading the page that
// shows what was there: what has been published and not been fanned out is missing there.
func (l *Live) Cursor(ctx context.Context) (social.Cursor, error) {
	marks, err := l.mark.Get(ctx, []string{Consumer})
	if err != nil {
		return social.Cursor{}, err
	}
	at := marks[Consumer]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun { // stars' blogs are read as the tail tells them
		at = min(at, l.seen)
	}
	return social.Cursor{MinTime: at, ID: max(1, social.FirstIDAt(at))}, nil
}

// readMark reads up to when all that was published has been fanned out.
func (l *Live) readMark(ctx context.Context, consumers []string) (map[string]social.Millis, error) {
	marks := map[string]social.Millis{}
	for _, c := range consumers {
		at := l.clock.NowMS()
		oldest, err := l.db.OldestWaiting(ctx, c)
		if err != nil {
			return nil, err
		}
		if oldest > 0 {
			at = min(at, oldest)
		}
		marks[c] = at
	}
	return marks, nil
}

// begin takes subscriptions, also after an earlier end.
func (l *Live) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = false
}

// End ends all subscriptions, since the server does; there will be no more.
func (l *Live) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for _, v := range l.viewers {
		for len(v.subs) > 0 {
			l.fail(v.subs[0], errEnding)
		}
	}
}

var errEnding = social.Errorf(social.Unavailable, "this server ends; subscribe again")

// Watching is how many subscriptions have begun, and not ended.
func (l *Live) Watching() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watching
}

// Heard takes events of the tail. It returns at once.
func (l *Live) Heard(evs []events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.viewers) == 0 { // who comes later reads what these tell
		return
	}
	for _, e := range evs {
		switch body := e.Body.(type) {
		case social.BlogBody:
			if !body.Deleted {
				l.heard.blogs = append(l.heard.blogs, publication{social.BlogRef{ID: body.BlogID, AuthorID: body.AuthorID}, e})
			}
		case social.FollowBody:
			for _, c := range body.Changes {
				if l.viewers[c.UserID] != nil {
					l.heard.changes = append(l.heard.changes, change{c, e})
				}
			}
		}
	}
}

// Seen tells that all that was committed before at has been heard, or missed.
func (l *Live) Seen(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun { // of what came before, the tail tells nothing
		l.begun = true
		l.missed()
	}
	l.seen = social.Millis(at.UnixMilli())
	now := l.heard
	l.heard = heard{}
	l.jobs = append(l.jobs, l.sort(now)...)
	switch {
	case len(l.jobs) > maxJobs:
		l.missed()
	case len(l.jobs) > 0:
		mark(l.wake)
	case !l.busy:
		l.done = l.seen
	}
}

// Missed tells that events were missed: every subscription replays.
func (l *Live) Missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed()
}

func (l *Live) missed() {
	l.heard, l.jobs = heard{}, nil
	l.gaps++
	for _, v := range l.viewers {
		for _, s := range v.subs {
			s.replayLater(l.done)
		}
	}
}

// mark leaves one sign in the channel, however many are asked for.
func mark(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
