package feed

import (
	"context"
	"slices"
	"time"

	"kith/social"
)

const (
	// maxQueue is how many blogs may wait for a subscription, also while it replays.
	maxQueue = 800
	// maxNew is how many blogs a replay may have after the place it begins at, and maxAgain
	// how many before, which the client may have: as many as come in [lookBack] at most.
	maxNew   = 800
	maxAgain = 4000
	// lookBack is how far before that place a replay begins: a blog is committed up to
	// [maxIDAge] after the time of its id, and clocks differ by a second.
	lookBack = 10 * time.Second
	// replayPiece is how many blogs of a replay are read at once.
	replayPiece = 20
	// maxSent is from how many ids on those are forgotten that cannot come again.
	maxSent = 800
)

// Subscription is one of a viewer: each gets every blog. One goroutine uses it.
type Subscription struct {
	live   *Live
	viewer *viewer
	wake   chan struct{} // there is something to take
	failed chan struct{} // closed once err is set
	err    error

	// What follows is Live.mu's.
	queue  []*item       // nil among them: replay here
	since  social.Millis // what came before is replayed, or was not asked for
	gap    social.Millis // where the replay in the queue begins; 0 for none
	after  []int64       // by lane: what the log had when it began; nil for a replay
	begun  bool
	closed bool

	// These are the goroutine's.
	refs  []social.BlogRef // to be replayed
	ready []Entry
	sent  []social.ID // each id is sent once; oldest first
}

// item is a blog on its way to many, and where its event stands in the log.
type item struct {
	Entry
	lane int
	seq  int64
}

var (
	errSlow = social.Errorf(social.LimitExceeded, "too many blogs wait here; reload, and subscribe again")
	errMany = social.Errorf(social.LimitExceeded, "more than %d blogs came since then; reload, and subscribe again", maxNew)
)

// Subscribe gives each blog that enters the viewer's feed from now on. With since, not nil,
// it first replays what came after that place, oldest first; more than 800 of those are
// LIMIT_EXCEEDED. Close it.
func (l *Live) Subscribe(ctx context.Context, viewer social.ID, since *social.Cursor) (*Subscription, error) {
	s, err := l.register(viewer)
	if err != nil {
		return nil, err
	}
	if since != nil {
		err = s.replay(ctx, since.ID)
	} else {
		err = s.beginNow(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.closed {
		s.begun = true
		l.watching++
	}
	return s, nil
}

func (l *Live) register(id social.ID) (*Subscription, error) {
	now := l.clock.NowMS()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, errEnding
	}
	v := l.viewers[id]
	if v == nil {
		v = &viewer{id: id, authors: map[social.ID]int32{}}
		l.viewers[id] = v
	}
	s := &Subscription{live: l, viewer: v, wake: make(chan struct{}, 1), failed: make(chan struct{}), since: now}
	v.subs = append(v.subs, s)
	return s, nil
}

// beginNow leaves out what is in the log already, though it may not have been heard.
func (s *Subscription) beginNow(ctx context.Context) error {
	if !s.live.isKnown(s.viewer) {
		if _, err := s.live.know(ctx, s.viewer); err != nil {
			return err
		}
	}
	// Read last: what the index did not know yet is in the log.
	seqs, err := s.live.db.LaneSeqs(ctx)
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.after = seqs
	return err
}

// replay reads what came after an id. The index knows the viewer before that: what it was
// not asked for is read.
func (s *Subscription) replay(ctx context.Context, since social.ID) error {
	select {
	case s.live.replays <- struct{}{}:
		defer func() { <-s.live.replays }()
	case <-ctx.Done():
		return ctx.Err()
	}
	followed, err := s.live.know(ctx, s.viewer)
	if err != nil {
		return err
	}
	from := social.FirstIDAt(since.Time() - social.Millis(lookBack.Milliseconds()))
	refs, err := newScan(s.live.db, followed, true, from-1, s.live.clock.NowMS()).read(ctx, maxAgain+maxNew)
	if err != nil {
		return err
	}
	again := slices.IndexFunc(refs, func(r social.BlogRef) bool { return r.ID > since })
	if again >= 0 && len(refs)-again > maxNew || len(refs) == maxAgain+maxNew {
		return errMany
	}
	s.refs = refs
	return nil
}

// Next waits for the next blog, with its author, and gives each id once. What may have been
// missed is LIMIT_EXCEEDED, the end of the server UNAVAILABLE; both end the subscription.
func (s *Subscription) Next(ctx context.Context) (Entry, error) {
	for {
		if s.hasFailed() {
			return Entry{}, s.err
		}
		if len(s.ready) > 0 {
			e := s.ready[0]
			s.ready = s.ready[1:]
			s.sent = append(s.sent, e.Blog.ID)
			return e, nil
		}
		if len(s.refs) > 0 {
			if err := s.patiently(ctx, s.readPiece); err != nil {
				return Entry{}, err
			}
			continue
		}
		it, gap := s.take()
		switch {
		case gap > 0:
			if err := s.patiently(ctx, func(ctx context.Context) error { return s.replay(ctx, social.FirstIDAt(gap)) }); err != nil {
				return Entry{}, err
			}
		case it != nil:
			s.ready = append(s.ready, it.Entry)
		default:
			select {
			case <-s.wake:
			case <-s.failed:
			case <-ctx.Done():
				return Entry{}, ctx.Err()
			}
		}
	}
}

// patiently tries again what the store could not do.
func (s *Subscription) patiently(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if !social.HasCode(err, social.Unavailable) {
			return err
		}
		select {
		case <-time.After(maxRest):
		case <-s.failed:
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Subscription) hasFailed() bool {
	select {
	case <-s.failed:
		return true
	default:
		return false
	}
}

// take gives the first of the queue that is to be sent, or where a replay begins.
func (s *Subscription) take() (it *item, gap social.Millis) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	for len(s.queue) > 0 {
		it := s.queue[0]
		if s.queue = s.queue[1:]; len(s.queue) == 0 {
			s.queue = nil
		}
		if it == nil {
			gap, s.gap, s.after = s.gap, 0, nil
			return nil, gap
		}
		_, follows := s.viewer.authors[it.Author.ID]
		if follows && !s.isOld(it) && !slices.Contains(s.sent, it.Blog.ID) {
			s.prune()
			return it, 0
		}
	}
	return nil, 0
}

// isOld tells that it was in the log when the subscription began.
func (s *Subscription) isOld(it *item) bool {
	return it.lane < len(s.after) && it.seq <= s.after[it.lane]
}

// prune forgets ids that neither the queue nor a later replay can bring again.
func (s *Subscription) prune() {
	if len(s.sent) < maxSent {
		return
	}
	from := social.FirstIDAt(s.replayFrom(s.live.done) - social.Millis(lookBack.Milliseconds()))
	for _, it := range s.queue {
		if it != nil {
			from = min(from, it.Blog.ID)
		}
	}
	s.sent = slices.DeleteFunc(s.sent, func(id social.ID) bool { return id < from })
}

// readPiece reads the next of what is to be replayed, and leaves out what is not in the
// feed any more.
func (s *Subscription) readPiece(ctx context.Context) error {
	some := s.refs[:min(replayPiece, len(s.refs))]
	var news []social.BlogRef
	var pairs []social.Pair
	for _, r := range some {
		if !slices.Contains(s.sent, r.ID) {
			news, pairs = append(news, r), append(pairs, social.Pair{UserID: s.viewer.id, TargetID: r.AuthorID})
		}
	}
	var entries map[social.ID]Entry
	var shown map[social.Pair]bool
	var err error
	if len(news) > 0 {
		if entries, err = s.live.published(ctx, news); err == nil {
			shown, err = s.live.shown(ctx, pairs)
		}
	}
	if err != nil {
		return err
	}
	for i, r := range news {
		if e, is := entries[r.ID]; is && shown[pairs[i]] {
			s.ready = append(s.ready, e)
		}
	}
	if s.refs = s.refs[len(some):]; len(s.refs) == 0 {
		s.refs = nil
	}
	return nil
}

// replayFrom is where a replay has to begin, where all that was committed before done has
// been sent.
func (s *Subscription) replayFrom(done social.Millis) social.Millis {
	if s.gap > 0 {
		return s.gap
	}
	return max(done, s.since)
}

// replayLater has the subscription replay when it comes here: one replay is enough, since
// it reads all there is then. Called with Live.mu held.
func (s *Subscription) replayLater(done social.Millis) {
	if s.gap == 0 {
		s.gap = s.replayFrom(done)
		s.queue = append(s.queue, nil)
		mark(s.wake)
	}
}

// push puts a blog into the queues of the viewer. Called with mu held.
func (l *Live) push(v *viewer, it *item) {
	for i := len(v.subs) - 1; i >= 0; i-- { // backwards: one that fails is taken out
		s := v.subs[i]
		if len(s.queue) >= maxQueue {
			l.fail(s, errSlow)
			continue
		}
		s.queue = append(s.queue, it)
		mark(s.wake)
	}
}

// fail ends a subscription. Called with mu held.
func (l *Live) fail(s *Subscription, why error) {
	l.remove(s)
	s.err = why
	close(s.failed)
}

// Failed is closed when the subscription has ended though nobody closed it: Next tells why.
func (s *Subscription) Failed() <-chan struct{} { return s.failed }

// Close ends the subscription; it may be called again.
func (s *Subscription) Close() {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.remove(s)
}

func (l *Live) remove(s *Subscription) {
	if s.closed {
		return
	}
	s.closed, s.queue = true, nil
	if s.begun {
		l.watching--
	}
	v := s.viewer
	v.subs = slices.DeleteFunc(v.subs, func(other *Subscription) bool { return other == s })
	if len(v.subs) == 0 {
		l.forget(v)
		delete(l.viewers, v.id)
	}
}
