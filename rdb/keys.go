package rdb

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"kith/social"
)

// Keys: <what>:{tag}:... Within the braces stands the tag of the partition: keys with one
// tag share a slot of a cluster, and so a script's call. The keys of caches go on with the
// epoch of the partition and whose they are: a new epoch has none of the keys of the old.

// inboxKey is the head of a person's feed.
//
//	type      ZSET of 16-byte members (id of the blog, of its author; big-endian), by ms
//	meaning   the newest blogs of those followed. Below its lowest member, the floor, SQL
//	          is read; 16 bytes of 0 at score 0 say that nothing is below. At -inf is
//	          the token of who builds it; once that has been trimmed the building is given
//	          up, and the key, of a short life, not believed
//	bound     --inbox-size entries
//	lifetime  7 days since it was read; 10 s while being built
//	rebuilt   on the next reading of the feed (lua/home.lua, lua/build.lua)
func inboxKey(epoch int64, who social.ID) string { return cacheKey("inbox", epoch, who) }

// followingKey is whose blogs a person's feed has: whom they follow and do not mute.
//
//	type      ZSET of 8-byte ids by since; the member v has the version as its score
//	meaning   all of them, as of that version of the person's edges
//	bound     as many as may be followed, 5,000
//	lifetime  7 days
//	rebuilt   on the next reading of the feed, under the lease
func followingKey(epoch int64, who social.ID) string { return cacheKey("following", epoch, who) }

// countKey is the sizes of a person's lists.
//
//	type      text: followers, following and blogs
//	meaning   as in SQL when it was stored; dropped by whoever changes one
//	bound     one for each person
//	lifetime  an hour
//	rebuilt   on the next reading, under the lease
func countKey(epoch int64, who social.ID) string { return cacheKey("count", epoch, who) }

// likesKey is the newest likes of a person.
//
//	type      ZSET of 8-byte ids of blogs by since; the members v, f and g have, as scores
//	          -1-n so that they are below all others, the version of the person's likes,
//	          the floor, and the generation, a random number that each filling draws
//	meaning   what the person likes, as of that version. A blog that is not in it and is
//	          newer than the floor is not liked, since nobody likes one before it exists:
//	          the floor is the highest since that was ever trimmed or left out
//	bound     1,000 likes
//	lifetime  7 days since it was read
//	rebuilt   on the next reading, under the lease (lua/liked.lua, lua/filllikes.lua)
func likesKey(epoch int64, who social.ID) string { return cacheKey("likes", epoch, who) }

// oldLikesKey is a Bloom filter of the likes at and below the floor.
//
//	type      text: generation and how many more may be added, 15 digits each, then bits
//	meaning   what is not in it is not liked, if the generation is that of likesKey; what
//	          is may be. Ends of likes leave it as it is
//	bound     10 bits for each of 100,000 likes; of who has more there is none
//	lifetime  that of likesKey
//	rebuilt   with likesKey
func oldLikesKey(epoch int64, who social.ID) string { return cacheKey("oldlikes", epoch, who) }

// likeCountKey is how many like a blog.
//
//	type      text: likes, version
//	meaning   as in SQL at that version; whoever changes it sets a newer one
//	bound     one for each blog
//	lifetime  an hour
//	rebuilt   on the next reading, under the lease
func likeCountKey(epoch int64, blog social.ID) string { return cacheKey("likecount", epoch, blog) }

// wroteKey says that a person wrote lately.
//
//	type      text, empty
//	meaning   its age is how long ago the person wrote; without it, perhaps just now
//	bound     one for each person
//	lifetime  a day
//	rebuilt   by whoever misses it
func wroteKey(epoch int64, who social.ID) string { return cacheKey("wrote", epoch, who) }

// leaseOf is who may fill a key.
//
//	type      text
//	meaning   the token of the one filling; every change of the rows behind it ends it
//	bound     one for each key that is being filled
//	lifetime  10 s
//	rebuilt   never
func leaseOf(key string) string { return "lease:" + key }

func cacheKey(what string, epoch int64, who social.ID) string {
	return what + ":{" + tags[Partition(who)] + "}:" + strconv.FormatInt(epoch, 10) + ":" + who.String()
}

// epochKey says which history of its server the caches of a partition belong to.
//
//	type      text: the epoch, and the run and replication ids of the server
//	meaning   another, or none: this server may hold what is older than a change that has
//	          been answered
//	bound     one for each partition
//	lifetime  without end
//	rebuilt   when the partition is switched on
func epochKey(part int) string { return "epoch:{" + tags[part] + "}" }

// limitKey is the window of one policy for one who.
//
//	type      list of times in ms, newest first (lua/limit.lua)
//	meaning   when who did what, the last times
//	bound     as many as the policy allows; one key for each who and policy
//	lifetime  a window after the last that was let through
//	rebuilt   never: without it, who begins anew
//
// The window's length in ms is part of the name, so that a server whose setting is another
// does not end it sooner. All of one who share a slot.
func limitKey(p Policy, who string) string {
	return "limit:{" + tags[partitionOf(who)] + "}:" + p.What + ":" +
		strconv.FormatInt(p.Window.Milliseconds(), 10) + ":" + shortened(who)
}

// maxWho is how many bytes of who a key shows as they are.
const maxWho = 64

// shortened is text, or of a longer one its SHA-256: not even on purpose do two share it.
func shortened(text string) string {
	if len(text) <= maxWho {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:]) // longer than maxWho: no short text is it
}

// bellChannel is the Pub/Sub channel on which servers tell each other that there are new
// events. Its messages are empty.
const bellChannel = "kith:bell"
