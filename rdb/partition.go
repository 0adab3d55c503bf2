package rdb

import (
	"hash/fnv"

	"kith/social"
)

// Parts is into how many partitions the keys are divided.
const Parts = 64

// Partition is the part of the keys, 0 to 63, that those of a person belong to. Mixed,
// since the low bits of ids are mostly 0, and the high ones mostly the same.
func Partition(id social.ID) int { return int(mix64(uint64(id)) >> 58) }

// partitionOf is the part that the keys of a text belong to: its FNV-1a, mixed, since FNV
// leaves the high bits of short texts alike.
func partitionOf(text string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return int(mix64(h.Sum64()) >> 58)
}

// mix64 is the finaliser of splitmix64: every bit of z moves every bit of the result.
func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// tags are the hash tags of the partitions. Cluster slot (CRC16 mod 16384) of tags[p] lies
// in [256p, 256p+255], so that partitions lie evenly over any even split of the slots; of
// all texts of two letters or digits it is the nearest to the middle. Keys carry them:
// never change one.
var tags = [Parts]string{
	"mm", "6q", "9i", "e8", "29", "21", "ap", "ax",
	"0j", "kv", "dn", "df", "3g", "o6", "gc", "xw",
	"8g", "d6", "lc", "02", "g3", "4c", "on", "4r",
	"99", "91", "1d", "m5", "fm", "yy", "2i", "iu",
	"7a", "k0", "ce", "8y", "4l", "op", "x9", "x1",
	"jf", "1z", "zj", "b3", "ik", "2w", "yg", "fs",
	"bk", "9w", "6o", "ms", "af", "an", "5b", "i3",
	"c5", "dp", "kh", "0t", "xi", "xa", "he", "44",
}
