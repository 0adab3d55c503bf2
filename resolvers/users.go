package resolvers

import (
	"context"
	"math"

	"kith/loaders"
	"kith/social"
)

func (r query) Viewer(ctx context.Context) (*social.User, error) { return viewer(ctx) }

func (r query) User(ctx context.Context, handle string) (*social.User, error) {
	handle, err := social.ParseHandle("handle", handle)
	if err != nil {
		return nil, err
	}
	id, err := loaders.From(ctx).Handles.Load(ctx, handle)
	if err != nil || id == 0 {
		return nil, err
	}
	seen, err := loaders.From(ctx).People.Load(ctx, id)
	return seen.User, err
}

func (r user) FollowerCount(ctx context.Context, u *social.User) (int, error) {
	c, err := loaders.From(ctx).Counts.Load(ctx, u.ID)
	return shown(c.Followers), err
}

func (r user) FollowingCount(ctx context.Context, u *social.User) (int, error) {
	c, err := loaders.From(ctx).Counts.Load(ctx, u.ID)
	return shown(c.Following), err
}

func (r user) BlogCount(ctx context.Context, u *social.User) (int, error) {
	c, err := loaders.From(ctx).Counts.Load(ctx, u.ID)
	return shown(c.Blogs), err
}

// shown bounds a count to GraphQL's Int.
func shown(n int64) int { return int(min(n, math.MaxInt32)) }

func (r user) ViewerIsFollowing(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.ViewerFollows, err
}

func (r user) IsFollowingViewer(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.FollowsViewer, err
}

func (r user) IsMutual(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.ViewerFollows && rel.FollowsViewer, err
}

func (r user) ViewerHasRequestedFollow(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.ViewerRequested, err
}

func (r user) ViewerIsBlocking(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.ViewerBlocks, err
}

func (r user) ViewerIsMuting(ctx context.Context, u *social.User) (bool, error) {
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.ViewerMutes, err
}

func (r user) ViewerCanFollow(ctx context.Context, u *social.User) (bool, error) {
	if v := social.Viewer(ctx); v == 0 || v == u.ID {
		return false, nil
	}
	rel, err := loaders.From(ctx).Relations.Load(ctx, u.ID)
	return rel.IsThere && !rel.ViewerFollows && !rel.ViewerRequested && !rel.ViewerBlocks && !rel.BlocksViewer, err
}
