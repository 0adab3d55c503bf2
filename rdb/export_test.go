package rdb

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/social"
)

// OpenPatient is Open for tests of what a busy machine must not decide.
func OpenPatient(cfg Config) (*Redis, error) {
	cfg.Patience = time.Minute
	return Open(cfg)
}

// Client is for looking at what there is.
func (r *Redis) Client() redis.UniversalClient { return r.client }

// SetBreakerClock holds the clock of the breaker.
func (l *Limiter) SetBreakerClock(c social.Clock) { l.breaker.clock = c }

// Shared takes by the script alone, at a time.
func (l *Limiter) Shared(ctx context.Context, who string, nowMS, n int64, ps ...Policy) (waitMS int64, err error) {
	return l.takeShared(ctx, Keys(who, ps...), n, ps, nowMS)
}

// Local are windows in process alone.
type Local struct{ windows *local }

// NewLocal keeps so many windows.
func NewLocal(size int) Local { return Local{newLocal(size)} }

// Take takes in process alone, at a time.
func (l Local) Take(who string, nowMS, n int64, ps ...Policy) (waitMS int64) {
	return l.windows.take(Keys(who, ps...), n, ps, nowMS)
}

// Keys are the names of the windows.
func Keys(who string, ps ...Policy) []string {
	keys := make([]string, len(ps))
	for i, p := range ps {
		keys[i] = limitKey(p, who)
	}
	return keys
}

// Tags are the partitions' tags; PartitionOf is that of a text.
var (
	Tags        = tags
	PartitionOf = partitionOf
)

// The names of the keys.
var (
	InboxKey     = inboxKey
	FollowingKey = followingKey
	CountKey     = countKey
	LikesKey     = likesKey
	OldLikesKey  = oldLikesKey
	LikeCountKey = likeCountKey
	WroteKey     = wroteKey
	LeaseOf      = leaseOf
	EpochKey     = epochKey
)

// The filter of old likes.
var (
	OldLikes  = oldLikes
	BloomBits = bloomBits
)

// MaxOldLikes is up to how many likes it is kept.
const MaxOldLikes = maxOldLikes

// Answered is what Redis answered, as it is; nil for a failure.
func (c *Call) Answered() any {
	if c.cmd == nil {
		return nil
	}
	return c.cmd.Val()
}
