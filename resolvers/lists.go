package resolvers

import (
	"context"

	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r user) Followers(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return peers(ctx, loaders.From(ctx).Followers, social.FollowersCursor, u, first, after, u.ID)
}

func (r user) Following(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return peers(ctx, loaders.From(ctx).Following, social.FollowingCursor, u, first, after, u.ID)
}

func (r user) MutualFollows(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return peers(ctx, loaders.From(ctx).MutualFollows, social.MutualCursor, u, first, after, social.Viewer(ctx), u.ID)
}

func (r user) FollowersYouKnow(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return peers(ctx, loaders.From(ctx).FollowersYouKnow, social.KnownCursor, u, first, after, social.Viewer(ctx), u.ID)
}

func (r query) MutualFollows(ctx context.Context, userID string, first *int, after *string) (*graph.UserConnection, error) {
	id, err := social.ParseIDOf(social.UserNode, "userId", userID)
	if err != nil {
		return nil, err
	}
	u, err := loaders.From(ctx).Users.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, &social.Error{Code: social.NotFound, Field: "userId", Message: "there is no such person"}
	}
	return user(r).MutualFollows(ctx, u, first, after)
}

func (r query) SearchUsers(ctx context.Context, handlePrefix string, first *int, after *string) (*graph.UserConnection, error) {
	prefix, err := social.ParseHandlePrefix("handlePrefix", handlePrefix)
	if err != nil {
		return nil, err
	}
	p, err := social.PageArgs{First: first, After: after}.PageByHandle(prefix)
	if err != nil {
		return nil, err
	}
	part, err := r.Accounts.Search(ctx, prefix, p)
	if err != nil {
		return nil, err
	}
	c, err := people(ctx, part, place[*social.User]{
		id:     func(u *social.User) social.ID { return u.ID },
		cursor: func(u *social.User) string { return u.Cursor().EncodeByHandle(prefix) },
		since:  func(*social.User) *social.Millis { return nil },
	})
	if err != nil {
		return nil, err
	}
	c.Kind, c.Prefix = social.HandlesCursor, prefix
	return c, nil
}

func (r userConnection) TotalCount(ctx context.Context, c *graph.UserConnection) (int, error) {
	l := loaders.From(ctx)
	var n int64
	var err error
	switch c.Kind {
	case social.MutualCursor:
		n, err = l.MutualCounts.Load(ctx, c.Owner)
	case social.KnownCursor:
		n, err = l.KnownCounts.Load(ctx, c.Owner)
	case social.HandlesCursor:
		n, err = r.Accounts.CountFound(ctx, c.Prefix)
	default:
		var counts social.Counts
		counts, err = l.Counts.Load(ctx, c.Owner)
		if n = counts.Followers; c.Kind == social.FollowingCursor {
			n = counts.Following
		}
	}
	return shown(n), err
}
