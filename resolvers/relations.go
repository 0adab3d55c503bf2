package resolvers

import (
	"context"

	"kith/follow"
	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r mutation) Follow(ctx context.Context, in graph.UserIDInput) (*graph.FollowPayload, error) {
	return moveFollow(ctx, in, r.Graph.Follow)
}

func (r mutation) Unfollow(ctx context.Context, in graph.UserIDInput) (*graph.FollowPayload, error) {
	return moveFollow(ctx, in, r.Graph.Unfollow)
}

func moveFollow(ctx context.Context, in graph.UserIDInput,
	move func(ctx context.Context, viewer, target social.ID) (follow.Result, error),
) (*graph.FollowPayload, error) {
	target, err := social.ParseIDOf(social.UserNode, "userId", in.UserID)
	if err != nil {
		return nil, err
	}
	moved, err := move(ctx, social.Viewer(ctx), target)
	if err != nil {
		return nil, err
	}
	loaders.Renew(ctx)
	both := after(ctx, "user", func() ([]*social.User, error) {
		return loaders.From(ctx).Users.All(ctx, []social.ID{target, social.Viewer(ctx)})
	})
	p := &graph.FollowPayload{UserID: in.UserID, State: moved.State, Changed: moved.Changed}
	if both != nil {
		p.User, p.Viewer = both[0], both[1]
	}
	return p, nil
}
