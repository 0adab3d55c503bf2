package rdb

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Keys: limit:{tag}:<what>:<window>:<who>. Within the braces stands the tag of the
// partition: keys with one tag share a slot of a cluster, and so a script's call.

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
