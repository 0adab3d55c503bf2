package notify

import (
	"testing"

	"kith/events"
	"kith/social"
)

// Whoever watches is woken by news of theirs, and by a gap, until they have closed.
func TestWhoWatchesIsWokenUntilTheyClose(t *testing.T) {
	t.Parallel()
	l := NewLive(nil)
	var watches []*Watch
	for _, who := range []social.ID{1, 1, 2} {
		w := &Watch{live: l, who: who, wake: make(chan struct{}, 1)}
		if l.watched[who] == nil {
			l.watched[who] = map[*Watch]bool{}
		}
		l.watched[who][w] = true
		watches = append(watches, w)
	}
	woken := func() (woken [3]bool) {
		for i, w := range watches {
			select {
			case <-w.Wake():
				woken[i] = true
			default:
			}
		}
		return woken
	}
	news := []events.Event{{Event: social.Event{Kind: social.NotificationEvent, Body: social.NotificationBody{UserIDs: []social.NotifiedID{{UserID: 1}}}}}}
	l.Heard(news)
	l.Heard(news) // which nobody waits for
	if got := woken(); got != [3]bool{true, true, false} {
		t.Errorf("news wake %v", got)
	}
	l.Missed()
	if got := woken(); got != [3]bool{true, true, true} {
		t.Errorf("a gap wakes %v", got)
	}
	watches[0].Close()
	l.Missed()
	if got := woken(); got != [3]bool{false, true, true} {
		t.Errorf("after one has closed a gap wakes %v", got)
	}
	watches[1].Close()
	watches[2].Close()
	if len(l.watched) > 0 {
		t.Errorf("watched still: %v", l.watched)
	}
}
