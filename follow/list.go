package follow

import (
	"context"

	"kith/social"
)

// Followers lists, for each listing, who follows its owner, newest first.
func (g *Graph) Followers(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	peers, err := g.followers(ctx, ls)
	return cut(ls, peers), err
}

// Following lists, for each listing, whom its owner follows, latest first.
func (g *Graph) Following(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	peers, err := g.db.Following(ctx, ls)
	return cut(ls, peers), err
}

// MutualFollows lists, for each listing, whom both the viewer and its owner follow, latest
// followed by the viewer first. With oneself these are all whom one follows; without a
// viewer there are none.
func (g *Graph) MutualFollows(ctx context.Context, viewer social.ID, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	if viewer == 0 {
		return nil, nil
	}
	peers, err := g.db.MutualFollows(ctx, viewer, ls)
	return cut(ls, peers), err
}

// FollowersYouKnow lists, for each listing, who of those whom the viewer follows follows its
// owner, latest followed by the viewer first. Of oneself these are the people one follows
// who follow back; without a viewer there are none.
func (g *Graph) FollowersYouKnow(ctx context.Context, viewer social.ID, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	if viewer == 0 {
		return nil, nil
	}
	peers, err := g.db.FollowersYouKnow(ctx, viewer, ls)
	return cut(ls, peers), err
}

// CountMutualFollows is how long the lists of [Graph.MutualFollows] of these people are.
func (g *Graph) CountMutualFollows(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
	if viewer == 0 {
		return nil, nil
	}
	return g.db.CountMutualFollows(ctx, viewer, ids)
}

// CountFollowersYouKnow is how long the lists of [Graph.FollowersYouKnow] of these people
// are.
func (g *Graph) CountFollowersYouKnow(ctx context.Context, viewer social.ID, ids []social.ID) (map[social.ID]int64, error) {
	if viewer == 0 {
		return nil, nil
	}
	return g.db.CountFollowersYouKnow(ctx, viewer, ids)
}

func cut(ls []social.Listing, peers map[social.Listing][]social.Peer) map[social.Listing]social.Part[social.Peer] {
	parts := make(map[social.Listing]social.Part[social.Peer], len(ls))
	for _, l := range ls {
		parts[l] = social.Cut(l.Page, peers[l])
	}
	return parts
}
