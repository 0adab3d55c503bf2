package rdb_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kith/rdb"
	"kith/social"
)

// slot is a cluster's slot of a tag: CRC16 of XMODEM, bit by bit, as in the specification.
func slot(s string) int {
	crc := uint16(0)
	for _, b := range []byte(s) {
		for bit := 7; bit >= 0; bit-- {
			top := crc>>15 != uint16(b>>bit&1)
			crc <<= 1
			if top {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % 16384
}

func TestSlotsOfTheTagsLieEvenly(t *testing.T) {
	t.Parallel()
	if got := slot("123456789"); got != 0x31C3 {
		t.Fatalf("CRC16 is wrong: %x", got)
	}
	for p, tag := range rdb.Tags {
		if s := slot(tag); s < 256*p || s > 256*p+255 {
			t.Errorf("tag %d, %q: slot %d", p, tag, s)
		}
	}
}

func TestPartitionsAreEvenlyFilled(t *testing.T) {
	t.Parallel()
	const each = 2000
	for name, partition := range map[string]func(i int) int{
		"ids of idle servers: sequence 0": func(i int) int {
			return rdb.PartitionOf(social.FirstIDAt(social.Epoch + social.Millis(i)*977).String())
		},
		"ids of one millisecond": func(i int) int { return rdb.PartitionOf((social.FirstIDAt(social.Epoch+1e10) + social.ID(i)).String()) },
		"decimal ids":            func(i int) int { return rdb.PartitionOf(fmt.Sprint(i)) },
		"addresses":              func(i int) int { return rdb.PartitionOf(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)) },
		"handles":                func(i int) int { return rdb.PartitionOf(fmt.Sprintf("user%d_test", i)) },
	} {
		var counts [64]int
		for i := range each * 64 {
			counts[partition(i)]++
		}
		for p, n := range counts { // a binomial's deviation is 44
			if n < each-250 || n > each+250 {
				t.Errorf("%s: partition %d has %d of %d", name, p, n, each)
			}
		}
	}
}

func TestKeysOfOneWhoShareASlotAndKeepTheirBounds(t *testing.T) {
	t.Parallel()
	p, q := rdb.Policy{What: "a", Max: 1, Window: 1e9}, rdb.Policy{What: "b", Max: 1, Window: 2e9}
	seen := map[string]bool{}
	for _, who := range []string{
		"", "1", "{x}", "}{", "a:b", "::1", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 66),
		strings.Repeat("y", 1<<20), "\x00\xff\r\n", fmt.Sprint(rand.Int64()),
	} {
		keys := rdb.Keys(who, p, q)
		for _, k := range keys {
			if len(k) > 100 || seen[k] || !strings.HasPrefix(k, "limit:{") {
				t.Errorf("%.20q has key %q", who, k)
			}
			seen[k] = true
		}
		if tag(keys[0]) != tag(keys[1]) || tag(keys[0]) != rdb.Tags[rdb.PartitionOf(who)] {
			t.Errorf("%.20q: tags %q", who, keys)
		}
	}
}

// tag is the part of a key that a cluster hashes.
func tag(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}
