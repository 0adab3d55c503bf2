package resolvers

import (
	"context"

	"kith/account"
	"kith/graph"
	"kith/loaders"
	"kith/social"
)

func (r mutation) SignUp(ctx context.Context, in graph.SignUpInput) (*graph.AuthPayload, error) {
	s, err := r.Accounts.SignUp(ctx, in.Handle, in.Name, in.Password)
	if err != nil {
		return nil, err
	}
	return auth(ctx, s), nil
}

func (r mutation) SignIn(ctx context.Context, in graph.SignInInput) (*graph.AuthPayload, error) {
	s, err := r.Accounts.SignIn(ctx, in.Handle, in.Password)
	if err != nil {
		return nil, err
	}
	return auth(ctx, s), nil
}

func (r mutation) SignOut(ctx context.Context, in graph.SignOutInput) (*graph.SignOutPayload, error) {
	everywhere := in.Everywhere.Value()
	if err := r.Accounts.SignOut(ctx, social.Token(ctx), everywhere != nil && *everywhere); err != nil {
		return nil, err
	}
	return &graph.SignOutPayload{SignedOut: true}, nil
}

func (r mutation) ChangePassword(ctx context.Context, in graph.ChangePasswordInput) (*graph.AuthPayload, error) {
	s, err := r.Accounts.ChangePassword(ctx, social.Viewer(ctx), in.Current, in.New)
	if err != nil {
		return nil, err
	}
	return auth(ctx, s), nil
}

func (r mutation) DeleteAccount(ctx context.Context, in graph.DeleteAccountInput) (*graph.DeleteAccountPayload, error) {
	id := social.Viewer(ctx)
	if err := r.Accounts.DeleteAccount(ctx, id, in.Password); err != nil {
		return nil, err
	}
	loaders.Renew(ctx)
	return &graph.DeleteAccountPayload{DeletedUserID: social.GlobalID(social.UserNode, id)}, nil
}

// auth answers with a session. Whoever sends the request is not signed in by it, and yet sees
// everything of the person: they had the password.
func auth(ctx context.Context, s *account.Session) *graph.AuthPayload {
	loaders.Renew(ctx)
	loaders.From(ctx).People.Prime(ctx, s.User.ID, loaders.Seen{User: s.User, Sight: social.Everything})
	return &graph.AuthPayload{Token: s.Token, ExpiresAt: s.ExpiresAt, User: s.User}
}

func (r mutation) UpdateProfile(ctx context.Context, in graph.UpdateProfileInput) (*graph.UserPayload, error) {
	patch, err := profilePatch(in)
	if err != nil {
		return nil, err
	}
	id := social.Viewer(ctx)
	if err := r.Accounts.UpdateProfile(ctx, id, patch); err != nil {
		return nil, err
	}
	me := viewerAfter(ctx, "user", "viewer")
	return &graph.UserPayload{UserID: social.GlobalID(social.UserNode, id), User: me, Viewer: me}, nil
}

// profilePatch tells an omitted field, which keeps its value, from null, which only
// avatarUrl can be.
func profilePatch(in graph.UpdateProfileInput) (p account.ProfilePatch, err error) {
	p.Name, p.Bio, p.IsPrivate = in.Name.Value(), in.Bio.Value(), in.IsPrivate.Value()
	switch {
	case in.Name.IsSet() && p.Name == nil:
		err = social.Invalid("name", "a name cannot be null")
	case in.Bio.IsSet() && p.Bio == nil:
		err = social.Invalid("bio", "a bio cannot be null; it can be empty")
	case in.IsPrivate.IsSet() && p.IsPrivate == nil:
		err = social.Invalid("isPrivate", "an account is private or it is not, never null")
	}
	if p.AvatarURL = in.AvatarURL.Value(); p.AvatarURL != nil && *p.AvatarURL == "" {
		err = social.Invalid("avatarUrl", "an empty address is none; null takes the avatar away")
	}
	if in.AvatarURL.IsSet() && p.AvatarURL == nil {
		p.AvatarURL = new(string)
	}
	return p, err
}
