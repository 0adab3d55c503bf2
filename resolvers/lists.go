package resolvers

import (
	"context"

	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r user) Followers(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return r.peers(ctx, loaders.From(ctx).Followers, social.FollowersCursor, u, first, after, u.ID)
}

func (r user) Following(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return r.peers(ctx, loaders.From(ctx).Following, social.FollowingCursor, u, first, after, u.ID)
}

func (r user) MutualFollows(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return r.peers(ctx, loaders.From(ctx).MutualFollows, social.MutualCursor, u, first, after, social.Viewer(ctx), u.ID)
}

func (r user) FollowersYouKnow(ctx context.Context, u *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return r.peers(ctx, loaders.From(ctx).FollowersYouKnow, social.KnownCursor, u, first, after, social.Viewer(ctx), u.ID)
}

func (r query) MutualFollows(ctx context.Context, userID string, first *int, after *string) (*graph.UserConnection, error) {
	id, err := social.ParseIDOf(social.UserNode, "userId", userID)
	if err != nil {
		return nil, err
	}
	seen, err := loaders.From(ctx).People.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	if seen.User == nil {
		return nil, &social.Error{Code: social.NotFound, Field: "userId", Message: "there is no such user"}
	}
	return user(r).MutualFollows(ctx, seen.User, first, after)
}

func (r query) SearchUsers(ctx context.Context, handlePrefix string, first *int, after *string) (*graph.UserConnection, error) {
	prefix, err := social.ParseHandlePrefix("handlePrefix", handlePrefix)
	if err != nil {
		return nil, err
	}
	p, err := social.PageArgs{First: first, After: r.Seal.Open(after)}.PageByHandle(prefix)
	if err != nil {
		return nil, err
	}
	part, err := r.Accounts.Search(ctx, prefix, p)
	if err != nil {
		return nil, err
	}
	c, err := people(ctx, part, place[*social.User]{
		least:  social.Profile,
		id:     func(u *social.User) social.ID { return u.ID },
		cursor: func(u *social.User) string { return r.Seal.Close(u.Cursor().EncodeByHandle(prefix)) },
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
		n, err = countSeen(ctx, l.MutualCounts, c.Owner)
	case social.KnownCursor:
		n, err = countSeen(ctx, l.KnownCounts, c.Owner)
	case social.HandlesCursor:
		n, err = r.Accounts.CountFound(ctx, c.Prefix)
	case social.LikersCursor:
		var count social.LikeCount
		count, err = l.LikeCounts.Load(ctx, c.Owner)
		n = count.Likes
	case social.RequestsCursor, social.BlockedCursor, social.MutedCursor:
		n, err = r.ownCount(ctx, c)
	default:
		var counts social.Counts
		counts, err = l.Counts.Load(ctx, c.Owner)
		if n = counts.Followers; c.Kind == social.FollowingCursor {
			n = counts.Following
		}
	}
	return shown(n), err
}

// countSeen is the length of a list that the viewer has a part in; of lists that the viewer
// does not see it would tell what is in them.
func countSeen(ctx context.Context, counts loaders.Loader[social.ID, int64], owner social.ID) (int64, error) {
	seen, err := loaders.From(ctx).People.Load(ctx, owner)
	if err != nil || seen.Sight != social.Everything {
		return 0, err
	}
	return counts.Load(ctx, owner)
}

func (r userConnection) ownCount(ctx context.Context, c *graph.UserConnection) (int64, error) {
	n, err := r.Graph.OwnCounts(ctx, c.Owner)
	switch c.Kind {
	case social.RequestsCursor:
		return n.Requests, err
	case social.BlockedCursor:
		return n.Blocking, err
	}
	return n.Muting, err
}

func (r query) FollowRequests(ctx context.Context, first *int, after *string) (*graph.UserConnection, error) {
	return r.ownPeers(ctx, loaders.From(ctx).Requests, social.RequestsCursor, first, after)
}

func (r query) BlockedUsers(ctx context.Context, first *int, after *string) (*graph.UserConnection, error) {
	return r.ownPeers(ctx, loaders.From(ctx).Blocked, social.BlockedCursor, first, after)
}

func (r query) MutedUsers(ctx context.Context, first *int, after *string) (*graph.UserConnection, error) {
	return r.ownPeers(ctx, loaders.From(ctx).Muted, social.MutedCursor, first, after)
}
