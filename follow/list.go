package follow

import (
	"context"

	"kith/db"
	"kith/social"
)

// The lists read, for each listing, a page: latest first.
type (
	listings = []social.Listing
	pages    = map[social.Listing]social.Part[social.Peer]
)

// Followers lists who follows the owner.
func (g *Graph) Followers(ctx context.Context, ls listings) (pages, error) {
	return cut(ctx, ls, g.db.Followers)
}

// Following lists whom the owner follows.
func (g *Graph) Following(ctx context.Context, ls listings) (pages, error) {
	return cut(ctx, ls, g.db.Following)
}

// Requests lists who has asked to follow the owner.
func (g *Graph) Requests(ctx context.Context, ls listings) (pages, error) {
	return cut(ctx, ls, g.db.Requests)
}

// Blocked lists whom the owner blocks.
func (g *Graph) Blocked(ctx context.Context, ls listings) (pages, error) {
	return cut(ctx, ls, g.db.Blocked)
}

// Muted lists whom the owner mutes.
func (g *Graph) Muted(ctx context.Context, ls listings) (pages, error) {
	return cut(ctx, ls, g.db.Muted)
}

func cut(ctx context.Context, ls listings, read func(context.Context, listings) (map[social.Listing][]social.Peer, error)) (pages, error) {
	peers, err := read(ctx, ls)
	parts := make(pages, len(ls))
	for _, l := range ls {
		parts[l] = social.Cut(l.Page, peers[l])
	}
	return parts, err
}

// OwnCounts are the sizes of the lists that only their owner sees.
func (g *Graph) OwnCounts(ctx context.Context, owner social.ID) (db.OwnCounts, error) {
	return g.db.OwnCountsOf(ctx, owner)
}
