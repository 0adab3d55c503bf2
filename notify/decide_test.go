package notify

import (
	"testing"

	"kith/db"
	"kith/social"
)

// A line that shows nobody has the time of who left it; whoever comes to it then brings a time
// of their own, also an older one that is told late.
func TestALineThatShowsNobodyHasNoTimeOfItsOwn(t *testing.T) {
	t.Parallel()
	c := cause(1, social.BlogLiked, 5, 7)
	line := &social.Notification{ID: 9, NotificationSubject: c.NotificationSubject, UpdatedAt: 100}
	s := state{
		lists:  map[social.ID]*db.NotificationList{1: {UserID: 1, Version: 3}},
		stands: map[db.NotificationCause]standing{c: {since: 90}},
		lines:  map[db.LineKey]*social.Notification{key(line): line},
		unread: map[social.NotificationSubject]*social.Notification{c.NotificationSubject: line},
	}
	o, err := decide([]db.NotificationCause{c}, s, func() (social.ID, error) { return 10, nil })
	if err != nil || len(o.put) != 1 || !o.lines[line] {
		t.Fatalf("%+v, %v", o, err)
	}
	want := social.Notification{ID: 9, NotificationSubject: c.NotificationSubject, ActorCount: 1, UpdatedAt: 90, Grown: 4, Version: 4}
	if got := *line; got.ID != want.ID || got.ActorCount != 1 || got.UpdatedAt != 90 || got.Grown != 4 || got.Version != 4 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
