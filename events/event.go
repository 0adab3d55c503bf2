package events

import (
	"encoding/json"
	"errors"
	"fmt"

	"kith/db"
	"kith/social"
)

// Event is an event with its place in the log, and when it was written there by the store's
// clock: shortly before its commit. Body is a value of its kind's type.
type Event struct {
	Lane int
	Seq  int64
	At   social.Millis
	social.Event
}

// Before tells that the event was committed before the other, of which one was answered
// before the other began: by their numbers in a lane, else by the store's clock. Of two
// lanes' events of one millisecond it is false both ways.
func (e Event) Before(other Event) bool {
	if e.Lane == other.Lane {
		return e.Seq < other.Seq
	}
	return e.At < other.At
}

// errUnknown is the error of a kind that this binary does not know. During a rolling
// upgrade newer ones write such: they are no fault, and passed by.
var errUnknown = errors.New("a kind of event that this binary does not know")

// decode gives the stored body the type of its kind.
func decode(s db.StoredEvent) (Event, error) {
	e := Event{Lane: s.Lane, Seq: s.Seq, At: s.CreatedAt, Event: social.Event{Kind: s.Kind}}
	var err error
	switch s.Kind {
	case social.FollowEvent:
		e.Body, err = body(s.Body, func(b social.FollowBody) []social.ID {
			ids := make([]social.ID, 0, 2*len(b.Changes))
			for _, c := range b.Changes {
				ids = append(ids, c.UserID, c.TargetID)
			}
			for _, w := range b.Walls {
				ids = append(ids, w.UserID, w.TargetID)
			}
			return ids
		})
	case social.NotificationEvent:
		e.Body, err = body(s.Body, func(b social.NotificationBody) []social.ID {
			ids := make([]social.ID, len(b.UserIDs))
			for i, u := range b.UserIDs {
				ids[i] = u.UserID
			}
			return ids
		})
	case social.BlogEvent:
		e.Body, err = body(s.Body, func(b social.BlogBody) []social.ID { return []social.ID{b.BlogID, b.AuthorID} })
	case social.UserEvent:
		e.Body, err = body(s.Body, func(b social.UserBody) []social.ID { return []social.ID{b.UserID} })
	case social.LikeEvent:
		e.Body, err = body(s.Body, func(b social.LikeBody) []social.ID {
			ids := b.Blogs()
			for _, c := range b.Changes {
				ids = append(ids, c.UserID)
			}
			return ids
		})
	default:
		err = errUnknown
	}
	if err != nil {
		return Event{}, fmt.Errorf("read %q event: %w", s.Kind, err)
	}
	return e, nil
}

// body reads JSON whose ids must all be there: an absent one would be read as 0. Fields
// that a newer binary adds are ignored.
func body[T any](text string, ids func(T) []social.ID) (T, error) {
	var b T
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, err
	}
	for _, id := range ids(b) {
		if id <= 0 {
			return b, fmt.Errorf("%d is no id", id)
		}
	}
	return b, nil
}
