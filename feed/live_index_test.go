package feed

import (
	"log/slog"
	"testing"
	"time"

	"kith/events"
	"kith/social"
)

// What is heard while SQL tells whom somebody follows is newer than what SQL tells, and stays
// known when that arrives.
func TestAChangeHeardWhileItIsReadWhoIsFollowedIsKept(t *testing.T) {
	t.Parallel()
	l := NewLive(&Feed{clock: time.Now}, slog.New(slog.DiscardHandler))
	l.Seen(time.Now())
	s, err := l.register(1)
	if err != nil {
		t.Fatal(err)
	}
	gaps := l.beginReading(s.viewer)
	l.Heard([]events.Event{{Event: social.Event{Kind: social.FollowEvent, Body: social.FollowBody{Changes: []social.FollowChange{
		{UserID: 1, TargetID: 3, State: social.Following, Version: 6}, {UserID: 1, TargetID: 2, State: social.NotFollowing, Version: 7},
	}}}}})
	l.Seen(time.Now())
	equal(t, "known", l.endReading(s.viewer, gaps, 5, []social.ID{2, 4}, nil), true)
	equal(t, "the one unfollowed", len(l.authors[2]), 0)
	equal(t, "the one followed", len(l.authors[3]), 1)
	equal(t, "the one as before", len(l.authors[4]), 1)
}
