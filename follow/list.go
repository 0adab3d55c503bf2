package follow

import (
	"context"

	"kith/social"
)

// Followers lists who follows the person, newest first, by the page.
func (g *Graph) Followers(ctx context.Context, user social.ID, p social.Page) (social.Part[social.Peer], error) {
	peers, err := g.db.Followers(ctx, user, p)
	return social.Cut(p, peers), err
}

// Following lists whom the person follows, latest first, by the page.
func (g *Graph) Following(ctx context.Context, user social.ID, p social.Page) (social.Part[social.Peer], error) {
	peers, err := g.db.Following(ctx, user, p)
	return social.Cut(p, peers), err
}
