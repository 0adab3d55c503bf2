package rdb

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"kith/social"
)

const (
	likesLife = 7 * 24 * time.Hour
	// maxOldLikes is up to how many likes below the floor a person has a filter of them.
	maxOldLikes = 100_000
)

// MaxLikes is how many of a person's newest likes are of use to [FillLikes], beside the
// newest: of who has more no filter is kept.
const MaxLikes = maxOldLikes + 1

// Liked is a reading of which blogs a person likes.
type Liked struct {
	Who   social.ID
	Blogs []social.ID
	Token string // of what the reading found missing and marked as its own to fill
	Call  *Call
}

// NewLiked asks which of these blogs a person likes; who finds nothing may fill it by the
// token.
func NewLiked(who social.ID, token string, blogs ...social.ID) *Liked {
	args := make([]any, 0, 3+2*len(blogs))
	args = append(args, token, ms(leaseLife), ms(likesLife))
	for _, b := range blogs {
		args = append(args, idBytes(b), int64(b.Time()))
	}
	return &Liked{who, blogs, token, &Call{Part: Partition(who), script: likedScript, keys: likesKeys(who), args: args}}
}

// Answer puts into liked what is known of the blogs, and gives those of which it is not:
// then rows tell. Known is false where nothing is there.
func (l *Liked) Answer(liked map[social.ID]bool) (maybe []social.ID, known bool) {
	letters, err := l.Call.cmd.Text()
	if err != nil || len(letters) != len(l.Blogs) {
		return l.Blogs, false
	}
	for i, b := range l.Blogs {
		switch letters[i] {
		case 'm':
			maybe = append(maybe, b)
		default:
			liked[b] = letters[i] == 'y'
		}
	}
	return maybe, true
}

func likesKeys(who social.ID) func(int64) []string {
	return func(e int64) []string {
		return []string{likesKey(e, who), leaseOf(likesKey(e, who)), oldLikesKey(e, who)}
	}
}

// FillLikes stores a person's likes, latest first, as of a version of them, under the lease
// of token: the newest size of them, and a filter of the others. Liked are all there are, or
// more than size and [MaxLikes].
func FillLikes(who social.ID, token string, size int, version int64, liked []social.Peer) *Call {
	newest, old := liked, []social.Peer(nil)
	if len(liked) > size {
		newest, old = liked[:size], liked[size:]
	}
	floor := social.Millis(0)
	if len(old) > 0 {
		floor = old[0].Since
	}
	gen := rand.Int64N(1 << 48)
	args := make([]any, 0, 9+2*len(newest))
	args = append(args, token, ms(likesLife), oldLikes(gen, size, old), -1-version, "v", -1-int64(floor), "f", -1-gen, "g")
	for _, p := range newest {
		args = append(args, int64(p.Since), idBytes(p.ID))
	}
	return &Call{Part: Partition(who), script: fillLikesScript, keys: likesKeys(who), args: args}
}

// oldLikes is the filter of likes below the floor, of ten bits for each; none for none, and
// for too many. As many may be added as half its size, which for the smallest is that of the
// newest likes.
func oldLikes(gen int64, size int, old []social.Peer) []byte {
	if len(old) == 0 || len(old) > maxOldLikes {
		return nil
	}
	size = max(size, len(old))
	bits := make([]byte, (size*10+7)/8)
	for _, p := range old {
		for _, at := range bloomBits(p.ID, uint64(len(bits))*8) {
			bits[at/8] |= 0x80 >> (at % 8)
		}
	}
	return fmt.Appendf(nil, "%015d%015d%s", gen, (size+1)/2, bits)
}

// bloomBits are the bits of an id in a filter of so many: seven, at equal steps (Kirsch and
// Mitzenmacher, Less Hashing, Same Performance, 2006). The scripts do the same in doubles,
// which are exact up to 2^53.
func bloomBits(id social.ID, bits uint64) (at [7]uint64) {
	var a, b uint64
	for _, c := range binary.BigEndian.AppendUint64(nil, uint64(id)) {
		a = (a*1664525 + uint64(c)) % 4294967291
		b = (b*1103515 + uint64(c)) % 4294967279
	}
	for i := range at {
		at[i] = (a + uint64(i)*b) % bits
	}
	return at
}

// NewLike brings to the caches what a call has left behind, committed, of which size are kept.
func NewLike(l social.LikeCall, size int) *Call {
	return &Call{
		Part: Partition(l.UserID), script: likeScript, keys: likesKeys(l.UserID),
		args: []any{l.Version, bit(l.Changed), bit(l.State == social.Liked), idBytes(l.BlogID), int64(l.Since), size},
	}
}

// DropLikes drops a person's likes, and ends the filling of them that is under way.
func DropLikes(who social.ID) *Call {
	return &Call{Part: Partition(who), name: "DEL", keys: likesKeys(who)}
}
