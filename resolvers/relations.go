package resolvers

import (
	"context"
	"errors"

	"github.com/99designs/gqlgen/graphql"

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

func (r mutation) RemoveFollower(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.RemoveFollower)
}

func (r mutation) AcceptFollowRequest(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Accept)
}

func (r mutation) RejectFollowRequest(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Reject)
}

func (r mutation) Block(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Block)
}

func (r mutation) Unblock(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Unblock)
}

func (r mutation) Mute(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Mute)
}

func (r mutation) Unmute(ctx context.Context, in graph.UserIDInput) (*graph.UserPayload, error) {
	return change(ctx, in, r.Graph.Unmute)
}

func moveFollow(ctx context.Context, in graph.UserIDInput,
	move func(ctx context.Context, viewer, target social.ID) (follow.Result, error),
) (*graph.FollowPayload, error) {
	var moved follow.Result
	p, err := change(ctx, in, func(ctx context.Context, viewer, target social.ID) (err error) {
		moved, err = move(ctx, viewer, target)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &graph.FollowPayload{UserID: p.UserID, User: p.User, Viewer: p.Viewer, State: moved.State, Changed: moved.Changed}, nil
}

// change changes how the viewer and another person stand to each other.
func change(ctx context.Context, in graph.UserIDInput,
	do func(ctx context.Context, viewer, other social.ID) error,
) (*graph.UserPayload, error) {
	other, err := social.ParseIDOf(social.UserNode, "userId", in.UserID)
	if err != nil {
		return nil, err
	}
	if err := do(ctx, social.Viewer(ctx), other); err != nil {
		return nil, err
	}
	loaders.Renew(ctx)
	both := after(ctx, func() ([]loaders.Seen, error) {
		return loaders.From(ctx).People.All(ctx, []social.ID{other, social.Viewer(ctx)})
	}, "user", "viewer")
	p := &graph.UserPayload{UserID: in.UserID}
	if both != nil {
		p.User, p.Viewer = both[0].User, both[1].User
	}
	return p, nil
}

func (r mutation) FollowMany(ctx context.Context, in graph.FollowManyInput) (*graph.FollowManyPayload, error) {
	targets := make([]social.ID, len(in.UserIds))
	for i, text := range in.UserIds {
		var err error
		if targets[i], err = social.ParseIDOf(social.UserNode, "userIds", text); err != nil {
			return nil, err
		}
	}
	many, err := r.Graph.FollowMany(ctx, social.Viewer(ctx), targets)
	if err != nil {
		return nil, err
	}
	p := &graph.FollowManyPayload{Viewer: viewerAfter(ctx, "viewer"), Results: make([]*graph.FollowResult, len(many))}
	ids := make([]social.ID, len(many))
	for i, m := range many {
		ids[i] = m.Target
		p.Results[i] = &graph.FollowResult{
			UserID: social.GlobalID(social.UserNode, m.Target), State: m.State, Changed: m.Changed, ErrorCode: codeOf(m.Err),
		}
	}
	if !graphql.FieldRequested(ctx, "results.user") {
		return p, nil
	}
	people := after(ctx, func() ([]loaders.Seen, error) { return loaders.From(ctx).People.All(ctx, ids) }, "results")
	for i, s := range people {
		p.Results[i].User = s.User
	}
	return p, nil
}

// codeOf is the code of a refusal; nil for none.
func codeOf(err error) *graph.ErrorCode {
	var known *social.Error
	if !errors.As(err, &known) {
		return nil
	}
	code := graph.ErrorCode(known.Code)
	return &code
}
