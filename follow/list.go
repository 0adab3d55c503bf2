package follow

import (
	"context"

	"kith/social"
)

// Followers lists, for each listing, who follows its owner, newest first.
func (g *Graph) Followers(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	peers, err := g.db.Followers(ctx, ls)
	return cut(ls, peers), err
}

// Following lists, for each listing, whom its owner follows, latest first.
func (g *Graph) Following(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	peers, err := g.db.Following(ctx, ls)
	return cut(ls, peers), err
}

func cut(ls []social.Listing, peers map[social.Listing][]social.Peer) map[social.Listing]social.Part[social.Peer] {
	parts := make(map[social.Listing]social.Part[social.Peer], len(ls))
	for _, l := range ls {
		parts[l] = social.Cut(l.Page, peers[l])
	}
	return parts
}
