package notify

import (
	"context"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// most is how many lines of a person are kept, and for how long since they grew.
	most    = 1000
	keptFor = 90 * 24 * time.Hour
)

// Config holds the policies. The zero Config has the defaults.
type Config struct {
	// Most is how many lines of a person are kept; 0 is 1,000.
	Most int
}

// Notifications are those of all people. Safe for parallel use.
type Notifications struct {
	db    *db.DB
	ids   *social.Snowflake
	clock social.Clock
	most  int
}

// New makes them over the store.
func New(d *db.DB, ids *social.Snowflake, clock social.Clock, cfg Config) *Notifications {
	n := &Notifications{db: d, ids: ids, clock: clock, most: cfg.Most}
	if n.most == 0 {
		n.most = most
	}
	return n
}

// oldest is the time from before which nothing is kept.
func (n *Notifications) oldest() social.Millis {
	return n.clock.NowMS() - social.Millis(keptFor.Milliseconds())
}

// publish tells servers of people whose notifications are others now; the last step of a
// transaction.
func publish(ctx context.Context, tx *db.Tx, people ...social.ID) error {
	if len(people) == 0 {
		return nil
	}
	body := social.NotificationBody{UserIDs: make([]social.NotifiedID, len(people))}
	for i, id := range people {
		body.UserIDs[i].UserID = id
	}
	return tx.Publish(ctx, social.Event{Kind: social.NotificationEvent, Body: body})
}
