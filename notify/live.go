package notify

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"kith/events"
	"kith/social"
)

// removedAtOnce is how many lines that went one update names.
const removedAtOnce = 100

// Live tells subscriptions of this server that somebody's notifications have changed, which
// it hears by the tail. Safe for parallel use.
type Live struct {
	n *Notifications

	mu      sync.Mutex
	watched map[social.ID]map[*Watch]bool
}

// NewLive watches nothing yet.
func NewLive(n *Notifications) *Live {
	return &Live{n: n, watched: map[social.ID]map[*Watch]bool{}}
}

// Watch is a subscription to one person's notifications.
type Watch struct {
	live *Live
	who  social.ID
	wake chan struct{}
	last int64 // the version of the list that was told last
}

// Watch tells of what becomes of a person's notifications from now on. Close it.
func (l *Live) Watch(ctx context.Context, who social.ID) (*Watch, error) {
	w := &Watch{live: l, who: who, wake: make(chan struct{}, 1)}
	l.mu.Lock()
	if l.watched[who] == nil {
		l.watched[who] = map[*Watch]bool{}
	}
	l.watched[who][w] = true
	l.mu.Unlock()
	// Read after it was registered: what comes later is heard of.
	version, err := l.n.db.NotificationVersion(ctx, who)
	if err != nil {
		w.Close()
		return nil, err
	}
	w.last = version
	return w, nil
}

// Close ends it.
func (w *Watch) Close() {
	l := w.live
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watched[w.who], w)
	if len(l.watched[w.who]) == 0 {
		delete(l.watched, w.who)
	}
}

// Wake gives a sign when there may be something new.
func (w *Watch) Wake() <-chan struct{} { return w.wake }

// Update is one thing that became of a person's notifications.
type Update struct {
	Line     *Line          // that appeared or grew, or shows others now; or nil
	Removed  []social.ID    // lines that show nobody any more
	ReadUpTo *social.Millis // a reading, which went up to there; or nil
}

// News is what has changed since it was asked last, in the order of the changes. Of lines that
// changed often it tells once, as they are now. It is empty where nothing has.
func (w *Watch) News(ctx context.Context) ([]Update, error) {
	news, err := w.live.n.db.NotificationsSince(ctx, w.who, w.last)
	if err != nil || news.Version <= w.last {
		return nil, err
	}
	read := news.ReadVersion > w.last
	var removed []social.ID
	var there []*social.Notification
	for _, line := range news.Lines {
		if line.ActorCount == 0 {
			removed = append(removed, line.ID)
		} else {
			there = append(there, line)
		}
	}
	// What the reading left unread is told after it, whatever its version.
	when := func(line *social.Notification) int64 {
		if read && !line.IsRead {
			return max(line.Version, news.ReadVersion)
		}
		return line.Version
	}
	slices.SortFunc(there, func(a, b *social.Notification) int {
		return cmp.Or(cmp.Compare(when(a), when(b)), cmp.Compare(a.UpdatedAt, b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	lines, err := w.live.n.shown(ctx, news.Version, there)
	if err != nil {
		return nil, err
	}
	var updates []Update
	for some := range slices.Chunk(removed, removedAtOnce) {
		updates = append(updates, Update{Removed: some})
	}
	for i := range lines {
		if read && when(there[i]) >= news.ReadVersion {
			updates, read = append(updates, Update{ReadUpTo: &news.ReadUpTo}), false
		}
		updates = append(updates, Update{Line: &lines[i]})
	}
	if read {
		updates = append(updates, Update{ReadUpTo: &news.ReadUpTo})
	}
	w.last = news.Version
	return updates, nil
}

// Heard takes events of the tail. It returns at once.
func (l *Live) Heard(evs []events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.watched) == 0 {
		return
	}
	for _, e := range evs {
		if body, ok := e.Body.(social.NotificationBody); ok {
			for _, u := range body.UserIDs {
				l.wake(u.UserID)
			}
		}
	}
}

// Missed tells that events were missed.
func (l *Live) Missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for who := range l.watched {
		l.wake(who)
	}
}

func (l *Live) wake(who social.ID) {
	for w := range l.watched[who] {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}
