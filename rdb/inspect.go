package rdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/social"
)

// FeedKeys is what Redis holds of a person's feed and counts, at one moment.
type FeedKeys struct {
	Inbox     StoredInbox
	Following StoredFollowing
	Counts    StoredCounts
}

// StoredInbox is an inbox as it lies in Redis.
type StoredInbox struct {
	Key string
	// There says that the key exists, Building that it is not to be read yet, Complete
	// that nothing is below its entries.
	There, Building, Complete bool
	// Life is how long the key stays; negative where it has no end, which is a fault.
	Life time.Duration
	// Refs are its entries, newest first.
	Refs []social.BlogRef
}

// StoredFollowing is whom a person follows, as it lies in Redis.
type StoredFollowing struct {
	Key string
	// There says that the key exists. The fields below need it.
	There    bool
	Version  int64
	Life     time.Duration
	Followed []social.ID
}

// StoredCounts are a person's counts as they lie in Redis.
type StoredCounts struct {
	Key string
	// There says that the key exists. The fields below need it.
	There bool
	// Age is how long ago they were stored; negative where they have no end, which is a
	// fault.
	Age    time.Duration
	Counts social.Counts
}

// FeedKeys looks at what a person's feed is read from, and changes nothing of it: where
// [NewHome] asks for more time to live and marks what is missing, this does not. For those
// who operate a Kith. UNAVAILABLE where Redis does not answer.
func (r *Redis) FeedKeys(ctx context.Context, who social.ID, epoch int64) (k FeedKeys, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	k.Inbox.Key, k.Following.Key, k.Counts.Key = inboxKey(epoch, who), followingKey(epoch, who), countKey(epoch, who)
	p := r.client.TxPipeline()
	inbox, inboxLife := p.ZRevRangeWithScores(ctx, k.Inbox.Key, 0, -1), p.PTTL(ctx, k.Inbox.Key)
	following, followingLife := p.ZRangeWithScores(ctx, k.Following.Key, 0, -1), p.PTTL(ctx, k.Following.Key)
	counts, countsLife := p.Get(ctx, k.Counts.Key), p.PTTL(ctx, k.Counts.Key)
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return k, unavailable(err)
	}
	k.Inbox.Life, k.Following.Life = inboxLife.Val(), followingLife.Val()
	if err := k.Inbox.parse(inbox.Val()); err != nil {
		return k, err
	}
	k.Inbox.Building = k.Inbox.Building || k.Inbox.Life > 0 && k.Inbox.Life <= leaseLife
	if err := k.Following.parse(following.Val()); err != nil {
		return k, err
	}
	return k, k.Counts.parse(counts, countsLife.Val())
}

// Keyed are those of these people for whom Redis holds anything that FeedKeys or LikeKeys
// tells, in their order, in one round trip to each server; at most a thousand. UNAVAILABLE where a
// server does not answer.
func (r *Redis) Keyed(ctx context.Context, people []social.ID, epoch func(part int) int64) ([]social.ID, error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	p := r.client.Pipeline()
	found := make([]*redis.IntCmd, len(people))
	for i, who := range people {
		e := epoch(Partition(who))
		found[i] = p.Exists(ctx, inboxKey(e, who), followingKey(e, who), countKey(e, who), likesKey(e, who))
	}
	if _, err := p.Exec(ctx); err != nil {
		return nil, unavailable(err)
	}
	var keyed []social.ID
	for i, who := range people {
		if found[i].Val() > 0 {
			keyed = append(keyed, who)
		}
	}
	return keyed, nil
}

func (k *StoredCounts) parse(text *redis.StringCmd, life time.Duration) error {
	if errors.Is(text.Err(), redis.Nil) {
		return nil
	}
	k.There, k.Age = true, countLife-life
	if life < 0 {
		k.Age = -1
	}
	if _, err := fmt.Sscan(text.Val(), &k.Counts.Followers, &k.Counts.Following, &k.Counts.Blogs); err != nil {
		return fmt.Errorf("%s: %w", k.Key, err)
	}
	return nil
}

func (k *StoredInbox) parse(members []redis.Z) error {
	k.There = len(members) > 0
	for _, m := range members {
		text, _ := m.Member.(string)
		switch {
		case math.IsInf(m.Score, -1):
			k.Building = true
		case len(text) != 16:
			return fmt.Errorf("%s: a member of %d bytes", k.Key, len(text))
		case parseMember(text) == social.BlogRef{}:
			k.Complete = true
		default:
			k.Refs = append(k.Refs, parseMember(text))
		}
	}
	return nil
}

func (k *StoredFollowing) parse(members []redis.Z) error {
	for _, m := range members {
		text, _ := m.Member.(string)
		switch {
		case text == "v":
			k.There, k.Version = true, int64(m.Score)
		case len(text) == 8:
			k.Followed = append(k.Followed, social.ID(binary.BigEndian.Uint64([]byte(text))))
		default:
			return fmt.Errorf("%s: a member of %d bytes", k.Key, len(text))
		}
	}
	return nil
}
