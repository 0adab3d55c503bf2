package db_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"kith/social"
	"kith/socialtest"
)

// reader is a DB or a Tx.
type reader interface {
	Followers(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error)
	Following(context.Context, []social.Listing) (map[social.Listing][]social.Peer, error)
}

// page reads one page of one list.
func page[T any](ctx context.Context, read func(context.Context, []social.Listing) (map[social.Listing][]T, error), owner social.ID, p social.Page) ([]T, error) {
	l := social.Listing{Owner: owner, Page: p}
	found, err := read(ctx, []social.Listing{l})
	return found[l], err
}

// lists are the two lists of relations, each with how an edge of person 1 gets into it.
var lists = []struct {
	name string
	read func(reader, context.Context, social.ID, social.Page) ([]social.Peer, error)
	edge func(peer social.ID, state social.FollowState, since social.Millis) social.Edge
}{
	{"followers", func(r reader, ctx context.Context, id social.ID, p social.Page) ([]social.Peer, error) {
		return page(ctx, r.Followers, id, p)
	}, func(peer social.ID, state social.FollowState, since social.Millis) social.Edge {
		return edge(peer, 1, state, since)
	}},
	{"following", func(r reader, ctx context.Context, id social.ID, p social.Page) ([]social.Peer, error) {
		return page(ctx, r.Following, id, p)
	}, func(peer social.ID, state social.FollowState, since social.Millis) social.Edge {
		return edge(1, peer, state, since)
	}},
}

// Ties of 1, 2, 3 ... entries in one millisecond, in pages of every size: each entry comes
// once, latest first, and of one millisecond the highest id first.
func TestListsArePagedExactlyAtEverySize(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var want [2][]social.Peer
		for i, l := range lists {
			var edges []social.Edge
			peer := social.ID(1000 * (i + 1))
			for tie := range 6 {
				for range tie + 1 {
					peer++
					since := social.Millis(1_700_000_000_000 - 7*tie)
					edges = append(edges, l.edge(peer, following, since))
					want[i] = append(want[i], social.Peer{ID: peer, Since: since})
				}
				edges = append(edges, l.edge(peer+500, notFollowing, 1_700_000_000_000)) // ended: in no list
			}
			// A bystander's edges are in no list of person 1.
			edges = append(edges, edge(5000, social.ID(6000+i), following, 1_700_000_000_000))
			putEdges(t, s.DB, edges...)
			slices.SortFunc(want[i], func(a, b social.Peer) int {
				if a.Since != b.Since {
					return int(b.Since - a.Since)
				}
				return int(b.ID - a.ID)
			})
		}
		for i, l := range lists {
			for size := 1; size <= len(want[i])+1; size++ {
				equal(t, fmt.Sprintf("%s by %d", l.name, size), pageThrough(t, s, i, size), want[i])
			}
		}
	})
}

// pageThrough reads list i of person 1 to its end.
func pageThrough(t *testing.T, s *socialtest.Store, i, size int) []social.Peer {
	t.Helper()
	var all []social.Peer
	p := social.Page{Limit: size}
	for {
		peers, err := lists[i].read(s.DB, t.Context(), 1, p)
		noError(t, err)
		if len(peers) > size+1 {
			t.Fatalf("a page of %d read %d entries", size, len(peers))
		}
		part := social.Cut(p, peers)
		all = append(all, part.Items...)
		if !part.HasNext {
			return all
		}
		p.From = part.Items[len(part.Items)-1].Cursor()
	}
}

func TestPageOfNoneStillTellsWhetherThereAreAny(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		putEdges(t, s.DB, edge(2, 1, following, 5))
		peers, err := page(t.Context(), s.DB.Followers, 1, social.Page{Limit: 0})
		noError(t, err)
		equal(t, "with a follower", social.Cut(social.Page{}, peers).HasNext, true)
		peers, err = page(t.Context(), s.DB.Following, 1, social.Page{Limit: 0})
		noError(t, err)
		equal(t, "without", len(peers), 0)
	})
}

// What a cursor stands on may have gone: reading resumes after its place.
func TestPagingGoesOnAfterItsEntryHasEnded(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		for id := range social.ID(5) {
			putEdges(t, s.DB, edge(10+id, 1, following, 7))
		}
		putEdges(t, s.DB, edge(13, 1, notFollowing, 8), edge(14, 1, following, 9)) // followed again: to the head
		peers, err := page(t.Context(), s.DB.Followers, 1, social.Page{Limit: 10, From: social.Cursor{MinTime: 7, ID: 13}})
		noError(t, err)
		equal(t, "the rest", peers, []social.Peer{{ID: 12, Since: 7}, {ID: 11, Since: 7}, {ID: 10, Since: 7}})
	})
}

// Many lists of many people in one statement, each at its own place and of its own size.
func TestListingsAreReadTogetherAndKeptApart(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var ls []social.Listing
		var want [][]social.Peer
		for owner := range social.ID(30) {
			owner += 100
			var edges []social.Edge
			var all []social.Peer
			for i := range owner % 7 {
				edges = append(edges, edge(1000+i, owner, following, social.Millis(50-i/2)))
				all = append(all, social.Peer{ID: 1000 + i, Since: social.Millis(50 - i/2)})
			}
			putEdges(t, s.DB, edges...)
			slices.SortFunc(all, func(a, b social.Peer) int {
				return int(b.Since-a.Since)*10000 + int(b.ID-a.ID)
			})
			for limit := range 3 {
				ls = append(ls, social.Listing{Owner: owner, Page: social.Page{Limit: limit}})
				want = append(want, all[:min(limit+1, len(all))])
			}
			if len(all) > 2 {
				ls = append(ls, social.Listing{Owner: owner, Page: social.Page{Limit: 9, From: all[1].Cursor()}})
				want = append(want, all[2:])
			}
		}
		sent := s.DB.Statements()
		found, err := s.DB.Followers(t.Context(), ls)
		noError(t, err)
		equal(t, "statements", s.DB.Statements()-sent, 1)
		for i, l := range ls {
			if !slices.Equal(found[l], want[i]) {
				t.Errorf("%+v: %v, want %v", l, found[l], want[i])
			}
		}
	})
}
