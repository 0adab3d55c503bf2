package cache

import (
	"context"
	"slices"
	"sync"
	"time"

	"kith/social"
)

const (
	// headSize is how much of a list a server keeps in process.
	headSize = 1000
	// maxHeads is of how many lists of one kind: of 16 bytes each, 16 MB of followers.
	maxHeads = 1000
	// maxHot is how many lists are taken for often asked in one second: those of two
	// seconds find room. Of one that did not, every page would cost its head.
	maxHot = maxHeads / 2
	// often is how many pages of one list within a second make it worth keeping: up to
	// then SQL reads them, about 20 rows each, and a head is a thousand.
	often = 10
)

// heads are the beginnings of lists of people, of one kind, that are asked for often. That a
// list is empty is kept as well.
type heads struct {
	state *State
	read  peerLists
	known *Local[social.ID, []social.Peer]
	asked asked
}

// peerLists reads pages of lists, each up to one more than its page has.
type peerLists func(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error)

func newHeads(s *State, read peerLists) *heads {
	h := &heads{state: s, read: read, asked: asked{clock: func() time.Duration { return s.clock() }}}
	h.known = NewLocal(maxHeads, h.load)
	return h
}

// Followers reads lists of followers as [db.DB.Followers] does, each up to one more than its
// page has: what lies within the first thousand of somebody who is asked for often in
// process, where the request may.
func (b *Bodies) Followers(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return b.heads.pages(ctx, ls)
}

// Likers is like Followers, of people who like blogs.
func (b *Bodies) Likers(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	return b.likers.pages(ctx, ls)
}

func (h *heads) pages(ctx context.Context, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
	if len(ls) == 0 || !h.state.mayReadLocal(ctx) {
		return h.read(ctx, ls)
	}
	kept, err := h.of(ctx, ls)
	if err != nil {
		return nil, err
	}
	found := make(map[social.Listing][]social.Peer, len(ls))
	var rest []social.Listing
	for _, l := range ls {
		if head, ok := kept[l.Owner]; ok {
			if found[l], ok = within(head, l.Page); ok {
				continue
			}
		}
		rest = append(rest, l)
	}
	if len(rest) == 0 {
		return found, nil
	}
	read, err := h.read(ctx, rest)
	for _, l := range rest {
		found[l] = read[l]
	}
	return found, err
}

// of gives the heads of those lists that are asked for often.
func (h *heads) of(ctx context.Context, ls []social.Listing) (map[social.ID][]social.Peer, error) {
	var hot []social.ID
	for _, l := range ls {
		if h.asked.often(l.Owner) {
			hot = append(hot, l.Owner)
		}
	}
	if len(hot) == 0 {
		return nil, nil
	}
	return h.known.Get(ctx, hot)
}

func (h *heads) load(ctx context.Context, ids []social.ID) (map[social.ID][]social.Peer, error) {
	ls := make([]social.Listing, len(ids))
	for i, id := range ids {
		ls[i] = social.Listing{Owner: id, Page: social.Page{Limit: headSize}}
	}
	read, err := h.read(ctx, ls)
	found := make(map[social.ID][]social.Peer, len(ids))
	for _, l := range ls {
		found[l.Owner] = read[l]
	}
	return found, err
}

// within cuts a page out of a head, with one more where the list goes on; false where the
// page may reach beyond the head.
func within(head []social.Peer, p social.Page) ([]social.Peer, bool) {
	from := 0
	if !p.AtHead() {
		from = slices.IndexFunc(head, func(peer social.Peer) bool {
			return peer.Since < p.From.MinTime || peer.Since == p.From.MinTime && peer.ID < p.From.ID
		})
	}
	isWhole := len(head) <= headSize
	if from < 0 {
		return nil, isWhole
	}
	to := from + p.Limit + 1
	if to > len(head) && !isWhole {
		return nil, false
	}
	return slices.Clone(head[from:min(to, len(head))]), true // the head is others' too
}

// asked counts how often lists were asked for, in this second and the last.
type asked struct {
	clock func() time.Duration

	mu        sync.Mutex
	second    time.Duration
	now, last map[social.ID]int
	hot       map[social.ID]bool // what was asked for often in this second
}

// often counts one more for a list, by its owner, and tells whether it was asked for often. In
// one second it counts maxLocal lists and takes maxHot for often asked; all others are not.
func (a *asked) often(id social.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if second := a.clock().Truncate(time.Second); second != a.second || a.now == nil {
		if a.last = a.now; second != a.second+time.Second {
			a.last = nil
		}
		a.second, a.now, a.hot = second, map[social.ID]int{}, map[social.ID]bool{}
	}
	n, known := a.now[id]
	if known || len(a.now) < maxLocal {
		a.now[id] = n + 1
	}
	if (n >= often || a.last[id] >= often) && len(a.hot) < maxHot {
		a.hot[id] = true
	}
	return a.hot[id]
}
