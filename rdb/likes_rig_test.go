package rdb_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"kith/rdb"
	"kith/social"
)

// change is one of a person's likes: to what, as of which version, and the millisecond after
// the beginning.
type change struct {
	v    int64
	blog social.ID
	is   social.LikeState
	at   social.Millis
	idle bool // it changed nothing
}

func likeCall(who social.ID, size int, c change) *rdb.Call {
	return rdb.NewLike(social.LikeCall{Changed: !c.idle, LikeChange: social.LikeChange{
		UserID: who, BlogID: c.blog, State: c.is, Since: social.Epoch + c.at, Version: c.v,
	}}, size)
}

// like brings changes of the person's likes to the caches, of which size are kept.
func (p *person) like(size int, changes ...change) {
	p.Helper()
	for _, c := range changes {
		p.run(likeCall(p.id, size, c))
	}
}

// liked is a letter for each blog: y, n or m; ? where nothing is there.
func (p *person) liked(tok string, blogs ...social.ID) string {
	p.Helper()
	l := rdb.NewLiked(p.id, tok, blogs...)
	p.run(l.Call)
	found := map[social.ID]bool{}
	maybe, known := l.Answer(found)
	if !known {
		equal(p, "open", maybe, blogs)
		return "?"
	}
	letters := make([]byte, len(blogs))
	for i, b := range blogs {
		liked, told := found[b]
		switch {
		case told == slices.Contains(maybe, b):
			p.Errorf("blog %d is both open and told, or neither", b)
		case !told:
			letters[i] = 'm'
		case liked:
			letters[i] = 'y'
		default:
			letters[i] = 'n'
		}
	}
	return string(letters)
}

// at9 is the 9th blog of each of these milliseconds, liked in it, latest first.
func at9(ms ...social.Millis) []social.Peer {
	peers := make([]social.Peer, len(ms))
	for i, m := range ms {
		peers[i] = social.Peer{ID: at(m, 9), Since: social.Epoch + m}
	}
	slices.SortFunc(peers, func(a, b social.Peer) int { return -cmp.Compare(a.Since, b.Since) })
	return peers
}

// likes makes the person's likes known: the 9th blogs of these milliseconds.
func (p *person) likes(size int, version int64, ms ...social.Millis) {
	p.Helper()
	p.run(rdb.DropLikes(p.id))
	tok := token()
	equal(p, "before the fill", p.liked(tok, 1), "?")
	p.does("fill", rdb.FillLikes(p.id, tok, size, version, at9(ms...)), int64(1))
}

// keptLikes is what the two keys hold.
type keptLikes struct {
	version int64 // -1: nothing is there
	floor   social.Millis
	gen     int64
	ids     []social.ID // ascending
	old     string      // the filter, as it is
}

func (p *person) kept() (k keptLikes) {
	p.Helper()
	members, err := p.redis.Client().ZRangeWithScores(p.Context(), rdb.LikesKey(1, p.id), 0, -1).Result()
	noError(p, err)
	k.version = -1
	for i, m := range members {
		name, head := m.Member.(string), -1-int64(m.Score)
		switch {
		case name == "v":
			k.version = head
		case name == "f":
			k.floor = social.Millis(head)
		case name == "g":
			k.gen = head
		case i < 3:
			p.Errorf("a like is below the head: %+v", members)
		default:
			k.ids = append(k.ids, idIn(name))
		}
	}
	slices.Sort(k.ids)
	k.old = p.redis.Client().Get(p.Context(), rdb.OldLikesKey(1, p.id)).Val()
	return k
}

// filter says what there is of a filter: for how many more it has room, if it is of the likes'
// own generation.
func (k keptLikes) filter() string {
	switch {
	case k.old == "":
		return "none"
	case k.old[:15] != fmt.Sprintf("%015d", k.gen):
		return "another's"
	}
	room, err := strconv.Atoi(k.old[15:30])
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint("room for ", room)
}

// has tells whether the filter has an id, as Go reads it.
func (k keptLikes) has(id social.ID) bool {
	bits := k.old[30:]
	for _, at := range rdb.BloomBits(id, uint64(len(bits))*8) {
		if bits[at/8]&(0x80>>(at%8)) == 0 {
			return false
		}
	}
	return true
}

// isKept checks what is there of the likes.
func (p *person) isKept(what string, version int64, floor social.Millis, filter string, ms ...social.Millis) {
	p.Helper()
	var ids []social.ID
	for _, m := range ms {
		ids = append(ids, at(m, 9))
	}
	k := p.kept()
	if k.floor > 0 {
		k.floor -= social.Epoch
	}
	equal(p, what, []any{k.version, k.floor, k.filter(), k.ids}, []any{version, floor, filter, ids})
}

// isDropped checks that both keys are gone.
func (p *person) isDropped(what string) { p.Helper(); p.isKept(what, -1, 0, "none") }
