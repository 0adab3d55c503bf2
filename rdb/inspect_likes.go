package rdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"kith/social"
)

// StoredLikes are a person's likes as they lie in Redis, at one moment.
type StoredLikes struct {
	Key string
	// There says that the key exists. The fields below need it.
	There   bool
	Version int64
	// Blogs are the newest likes. What is not among them and newer than Floor is not liked.
	Blogs []social.ID
	Floor social.Millis

	gen    int64
	filter []byte // its bits; nil where it is not believed
}

// LikeKeys looks at what a person's likes are read from, and changes nothing of it, as
// FeedKeys. UNAVAILABLE where Redis does not answer.
func (r *Redis) LikeKeys(ctx context.Context, who social.ID, epoch int64) (k StoredLikes, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	k.Key = likesKey(epoch, who)
	p := r.client.TxPipeline()
	likes, old := p.ZRangeWithScores(ctx, k.Key, 0, -1), p.Get(ctx, oldLikesKey(epoch, who))
	if _, err := p.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return k, unavailable(err)
	}
	if err := k.parse(likes.Val()); err != nil {
		return k, err
	}
	k.believe(old.Val())
	return k, nil
}

func (k *StoredLikes) parse(members []redis.Z) error {
	reserved := map[string]func(int64){
		"v": func(n int64) { k.There, k.Version = true, n },
		"f": func(n int64) { k.Floor = social.Millis(n) },
		"g": func(n int64) { k.gen = n },
	}
	for _, m := range members {
		text, _ := m.Member.(string)
		set, isReserved := reserved[text]
		switch {
		case isReserved:
			set(-1 - int64(m.Score))
			delete(reserved, text)
		case len(text) == 8:
			k.Blogs = append(k.Blogs, social.ID(binary.BigEndian.Uint64([]byte(text))))
		default:
			return fmt.Errorf("%s: a member of %d bytes", k.Key, len(text))
		}
	}
	if len(members) > 0 && len(reserved) > 0 {
		return fmt.Errorf("%s: without its version, floor or generation", k.Key)
	}
	return nil
}

// believe takes a filter that is of the likes' generation.
func (k *StoredLikes) believe(old string) {
	if len(old) <= 30 {
		return
	}
	if gen, err := strconv.ParseInt(old[:15], 10, 64); err == nil && gen == k.gen {
		k.filter = []byte(old[30:])
	}
}

// Denies tells that whoever reads is told that a blog, which is not among Blogs, is not liked:
// see lua/liked.lua.
func (k *StoredLikes) Denies(blog social.ID) bool {
	if blog.Time() > k.Floor {
		return true
	}
	if k.filter == nil {
		return false
	}
	for _, at := range bloomBits(blog, uint64(len(k.filter))*8) {
		if k.filter[at/8]&(0x80>>(at%8)) == 0 {
			return true
		}
	}
	return false
}

// StoredLikeCount is the count of a blog's likes as it lies in Redis.
type StoredLikeCount struct {
	Blog social.ID
	social.LikeCount
	// Err is UNAVAILABLE where Redis did not answer, another where the key cannot be read.
	Err error
}

// StoredLikeCounts looks at what there is of these blogs' counts, in their order; what is not
// there is left out. One round trip to each server.
func (r *Redis) StoredLikeCounts(ctx context.Context, blogs []social.ID, epoch func(part int) int64) []StoredLikeCount {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	p := r.client.Pipeline()
	texts := make([]*redis.StringCmd, len(blogs))
	for i, b := range blogs {
		texts[i] = p.Get(ctx, likeCountKey(epoch(Partition(b)), b))
	}
	_, _ = p.Exec(ctx) // each command has its own error
	var stored []StoredLikeCount
	for i, b := range blogs {
		text, err := texts[i].Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		s := StoredLikeCount{Blog: b}
		if err != nil {
			s.Err = unavailable(err)
		} else if err := parseLikeCount(text, &s.LikeCount); err != nil {
			s.Err = fmt.Errorf("%s: %w", likeCountKey(epoch(Partition(b)), b), err)
		}
		stored = append(stored, s)
	}
	return stored
}

// DropLikeCount drops the count of a blog's likes, and ends the filling of it that is under way.
func DropLikeCount(blog social.ID) *Call {
	return &Call{Part: Partition(blog), name: "DEL", keys: withLease(blog, likeCountKey)}
}
