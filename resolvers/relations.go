package resolvers

import (
	"context"
	"errors"

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
	both := after(ctx, "user", func() ([]loaders.Seen, error) {
		return loaders.From(ctx).People.All(ctx, []social.ID{other, social.Viewer(ctx)})
	})
	p := &graph.UserPayload{UserID: in.UserID}
	if both != nil {
		p.User, p.Viewer = both[0].User, both[1].User
	}
	return p, nil
}

// FollowMany answers for each text once; what is no id of a person is refused like a
// person who cannot be followed.
func (r mutation) FollowMany(ctx context.Context, in graph.FollowManyInput) (*graph.FollowManyPayload, error) {
	var targets []social.ID
	results := make([]*graph.FollowResult, 0, len(in.UserIds))
	of := map[string]*graph.FollowResult{}
	for _, text := range in.UserIds {
		if of[text] != nil {
			continue
		}
		if len(results) == follow.MaxMany {
			return nil, social.Invalid("userIds", "at most %d people at once", follow.MaxMany)
		}
		of[text] = &graph.FollowResult{UserID: text}
		results = append(results, of[text])
		target, err := social.ParseIDOf(social.UserNode, "userIds", text)
		if err != nil {
			of[text].ErrorCode = codeOf(err)
			continue
		}
		targets = append(targets, target)
	}
	many, err := r.Graph.FollowMany(ctx, social.Viewer(ctx), targets)
	if err != nil {
		return nil, err
	}
	me := viewerAfter(ctx)
	people := after(ctx, "results", func() ([]loaders.Seen, error) { return loaders.From(ctx).People.All(ctx, targets) })
	for i, m := range many {
		result := of[social.GlobalID(social.UserNode, m.Target)]
		result.State, result.Changed, result.ErrorCode = m.State, m.Changed, codeOf(m.Err)
		if people != nil {
			result.User = people[i].User
		}
	}
	return &graph.FollowManyPayload{Results: results, Viewer: me}, nil
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
