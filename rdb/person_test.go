package rdb_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/rdb"
	"kith/social"
)

// head is the place from which a feed is read downwards.
const head = social.ID(math.MaxInt64)

// token is one for each filling.
func token() string { return someone()[:16] }

// anyone is an id that no other test has. Half of them have a highest byte in the middle
// bytes, which is where signs and locales show.
func anyone() social.ID { return social.ID(rand.Int64N(math.MaxInt64-1) + 1) }

// person is somebody in one Redis, whose keys a test reads as they are.
type person struct {
	*testing.T
	id    social.ID
	redis *rdb.Redis
}

func (w *world) person(t *testing.T) *person { return &person{t, anyone(), w.a} }

// inEpoch1 is the epoch of all keys here.
func inEpoch1(int) int64 { return 1 }

// run sends calls that must be answered.
func (p *person) run(calls ...*rdb.Call) {
	p.Helper()
	p.redis.Run(p.Context(), inEpoch1, calls...)
	for _, c := range calls {
		noError(p, c.Err())
	}
}

// does sends a call whose answer must be this one.
func (p *person) does(what string, c *rdb.Call, want any) {
	p.Helper()
	p.run(c)
	equal(p, what, c.Answered(), want)
}

func (p *person) home(past social.ID, up bool, n int, tok string) rdb.HomeAnswer {
	p.Helper()
	h := rdb.NewHome(p.id, past, up, n, tok)
	p.run(h.Call)
	a, err := h.Answer()
	noError(p, err)
	return a
}

// follows makes it known whom the person follows.
func (p *person) follows(version int64, ids ...social.ID) {
	p.Helper()
	tok := token()
	noError(p, p.redis.Client().Del(p.Context(), rdb.LeaseOf(rdb.FollowingKey(1, p.id))).Err()) // another's
	p.home(1, false, 1, tok)
	p.does("fill", rdb.FillFollowing(p.id, tok, version, peers(ids...)), int64(1))
}

func peers(ids ...social.ID) []social.Peer {
	all := make([]social.Peer, len(ids))
	for i, id := range ids {
		all[i] = social.Peer{ID: id, Since: social.Epoch + social.Millis(i)}
	}
	return all
}

// begin marks the inbox as being built.
func (p *person) begin() (tok string) {
	p.Helper()
	tok = token()
	if a := p.home(head, false, 1, tok); !a.Missing {
		p.Fatalf("nothing to build: %+v", a)
	}
	return tok
}

// has makes an inbox of these, which goes on below or does not.
func (p *person) has(size int, complete bool, refs ...social.BlogRef) {
	p.Helper()
	p.does("build", rdb.Build(p.id, p.begin(), size, refs, complete), int64(1))
}

func (p *person) push(size int, refs ...social.BlogRef) {
	p.Helper()
	p.run(rdb.Push(rdb.Partition(p.id), []social.ID{p.id}, size, refs...))
}

// building stands for the entry that says so, 0 for the one that says that nothing is below.
const building = -1

// inbox is what the key holds, lowest first; ids stand for whole members.
func (p *person) inbox() (ids []social.ID) {
	p.Helper()
	members, err := p.redis.Client().ZRangeWithScores(p.Context(), rdb.InboxKey(1, p.id), 0, -1).Result()
	noError(p, err)
	for _, m := range members {
		if math.IsInf(m.Score, -1) {
			defer func() { ids = append(ids, building) }()
			continue
		}
		id := idIn(m.Member.(string)[:8])
		if want := float64(id.Time()); id != 0 && m.Score != want || id == 0 && m.Score != 0 {
			p.Errorf("entry %d has score %f", id, m.Score)
		}
		ids = append(ids, id)
	}
	return ids
}

// following is the key's version, and whom it holds, ascending; -1 where it is not there.
func (p *person) following() (version int64, ids []social.ID) {
	p.Helper()
	members, err := p.redis.Client().ZRangeWithScores(p.Context(), rdb.FollowingKey(1, p.id), 0, -1).Result()
	noError(p, err)
	version = -1
	for _, m := range members {
		if m.Member == "v" {
			version = int64(m.Score)
			continue
		}
		ids = append(ids, idIn(m.Member.(string)))
	}
	slices.Sort(ids)
	return version, ids
}

func idIn(bytes string) (id social.ID) {
	for _, b := range []byte(bytes) {
		id = id<<8 | social.ID(b)
	}
	return id
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// by are blogs of an author.
func by(author social.ID, ids ...social.ID) []social.BlogRef {
	refs := make([]social.BlogRef, len(ids))
	for i, id := range ids {
		refs[i] = social.BlogRef{ID: id, AuthorID: author}
	}
	return refs
}

func idsOf(refs []social.BlogRef) []social.ID {
	ids := []social.ID{}
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return ids
}

// at is the n-th id of a millisecond after the beginning.
func at(ms social.Millis, n social.ID) social.ID { return social.FirstIDAt(social.Epoch+ms) + n }
