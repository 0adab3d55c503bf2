package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kith/social"
	"kith/socialtest"
)

// probes are the lists of those followed by the viewer that somebody shares, each with the
// edge that puts them there.
var probes = []struct {
	name  string
	read  func(context.Context, *socialtest.Store, social.ID, []social.Listing) (map[social.Listing][]social.Peer, error)
	count func(context.Context, *socialtest.Store, social.ID, []social.ID) (map[social.ID]int64, error)
	needs func(owner, peer social.ID) social.Pair
}{
	{"mutual follows", func(ctx context.Context, s *socialtest.Store, viewer social.ID, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
		return s.DB.MutualFollows(ctx, viewer, ls)
	}, func(ctx context.Context, s *socialtest.Store, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
		return s.DB.CountMutualFollows(ctx, viewer, ids)
	}, func(owner, peer social.ID) social.Pair { return social.Pair{UserID: owner, TargetID: peer} }},
	{"followers you know", func(ctx context.Context, s *socialtest.Store, viewer social.ID, ls []social.Listing) (map[social.Listing][]social.Peer, error) {
		return s.DB.FollowersYouKnow(ctx, viewer, ls)
	}, func(ctx context.Context, s *socialtest.Store, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
		return s.DB.CountFollowersYouKnow(ctx, viewer, ids)
	}, func(owner, peer social.ID) social.Pair { return social.Pair{UserID: peer, TargetID: owner} }},
}

// A random graph of 14 people, full of ties and of edges that have ended: for every pair, in
// pages of every size, each list has who it should, once, by the viewer's edges; and the
// count of it is its length.
func TestSharedListsArePagedExactlyAtEverySize(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		const people = 14
		rng := rand.New(rand.NewPCG(1, 2))
		follows := map[social.Pair]social.Millis{}
		var edges []social.Edge
		for from := social.ID(1); from <= people; from++ {
			for to := social.ID(1); to <= people; to++ {
				if from == to || rng.IntN(10) == 0 { // never
					continue
				}
				e := edge(from, to, []social.FollowState{following, following, notFollowing}[rng.IntN(3)], social.Millis(1_700_000_000_000+rng.Int64N(4)))
				if edges = append(edges, e); e.State == following {
					follows[e.Pair] = e.Since
				}
			}
		}
		putEdges(t, s.DB, edges...)
		for _, p := range probes {
			for viewer := social.ID(1); viewer <= people; viewer++ {
				counts, err := p.count(t.Context(), s, viewer, seq(1, people+1))
				noError(t, err)
				for owner := social.ID(1); owner <= people+1; owner++ {
					var want []social.Peer
					for peer := social.ID(1); peer <= people; peer++ {
						since, mine := follows[social.Pair{UserID: viewer, TargetID: peer}]
						if _, theirs := follows[p.needs(owner, peer)]; mine && theirs {
							want = append(want, social.Peer{ID: peer, Since: since})
						}
					}
					slices.SortFunc(want, latestFirst)
					what := fmt.Sprintf("%s of %d and %d", p.name, viewer, owner)
					equal(t, "count of "+what, counts[owner], int64(len(want)))
					for size := 1; size <= len(want)+1; size++ {
						pg := social.Page{Limit: size}
						var all []social.Peer
						for {
							l := social.Listing{Owner: owner, Page: pg}
							found, err := p.read(t.Context(), s, viewer, []social.Listing{l})
							noError(t, err)
							part := social.Cut(pg, found[l])
							if all = append(all, part.Items...); !part.HasNext {
								break
							}
							pg.From = part.Items[len(part.Items)-1].Cursor()
						}
						equal(t, fmt.Sprint(what, " by ", size), all, want)
					}
				}
			}
		}
	})
}

func latestFirst(a, b social.Peer) int {
	if a.Since != b.Since {
		return int(b.Since - a.Since)
	}
	return int(b.ID - a.ID)
}

// The shared lists of many people are one statement, and so are their counts; each list has
// its own place and size.
func TestSharedListsAreReadTogetherAndKeptApart(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var edges []social.Edge
		for i := range social.ID(30) {
			edges = append(edges, edge(1, 100+i, following, social.Millis(50-i/2)))
			for owner := range social.ID(10) { // the first owner shares one in ten, the last all
				if i%10 <= owner {
					edges = append(edges, edge(200+owner, 100+i, following, 1), edge(100+i, 200+owner, following, 1))
				}
			}
		}
		putEdges(t, s.DB, edges...)
		var ls []social.Listing
		for owner := range social.ID(10) {
			ls = append(ls, social.Listing{Owner: 200 + owner, Page: social.Page{Limit: int(owner)}},
				social.Listing{Owner: 200 + owner, Page: social.Page{Limit: 2, From: social.Cursor{MinTime: 40, ID: 121}}})
		}
		for _, p := range probes {
			sent := s.DB.Statements()
			found, err := p.read(t.Context(), s, 1, ls)
			noError(t, err)
			counts, err := p.count(t.Context(), s, 1, seq(200, 209))
			noError(t, err)
			equal(t, "statements", s.DB.Statements()-sent, 2)
			for i, l := range ls {
				one, err := p.read(t.Context(), s, 1, ls[i:i+1])
				noError(t, err)
				equal(t, fmt.Sprintf("%s %+v", p.name, l), found[l], one[l])
				equal(t, p.name+" count", counts[l.Owner], 3*int64(l.Owner-199))
			}
		}
	})
}
