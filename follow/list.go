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
	return cut(ctx, ls, g.cfg.Followers)
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

// MutualFollows lists whom both the viewer and the owner follow, latest followed by the
// viewer first. With oneself these are all whom one follows; without a viewer there are
// none.
func (g *Graph) MutualFollows(ctx context.Context, viewer social.ID, ls listings) (pages, error) {
	return shared(ctx, viewer, ls, g.db.MutualFollows)
}

// FollowersYouKnow lists who of those whom the viewer follows follows the owner, latest
// followed by the viewer first. Of oneself these are the people one follows who follow
// back; without a viewer there are none.
func (g *Graph) FollowersYouKnow(ctx context.Context, viewer social.ID, ls listings) (pages, error) {
	return shared(ctx, viewer, ls, g.db.FollowersYouKnow)
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

func shared(ctx context.Context, viewer social.ID, ls listings,
	read func(context.Context, social.ID, listings) (map[social.Listing][]social.Peer, error),
) (pages, error) {
	if viewer == 0 {
		return nil, nil
	}
	return cut(ctx, ls, func(ctx context.Context, ls listings) (map[social.Listing][]social.Peer, error) {
		return read(ctx, viewer, ls)
	})
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
