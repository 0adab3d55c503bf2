package account

import (
	"context"

	"kith/db"
	"kith/social"
)

// ProfilePatch is a change of a profile; what is nil keeps its value.
type ProfilePatch struct {
	Name *string // 1 to 50 characters
	Bio  *string // at most 500 characters
	// AvatarURL is an http(s) address; the empty one takes the avatar away.
	AvatarURL *string
	// IsPrivate: followers are approved.
	IsPrivate *bool
}

func (p ProfilePatch) check() error {
	if p.Name != nil {
		if err := nameRule.Check("name", *p.Name); err != nil {
			return err
		}
	}
	if p.Bio != nil {
		if err := bioRule.Check("bio", *p.Bio); err != nil {
			return err
		}
	}
	if p.AvatarURL != nil && *p.AvatarURL != "" {
		return social.CheckURL("avatarUrl", *p.AvatarURL)
	}
	return nil
}

func (p ProfilePatch) apply(u *social.User) {
	if p.Name != nil {
		u.Name = *p.Name
	}
	if p.Bio != nil {
		u.Bio = *p.Bio
	}
	if p.AvatarURL != nil {
		u.AvatarURL = p.AvatarURL
		if *p.AvatarURL == "" {
			u.AvatarURL = nil
		}
	}
	if p.IsPrivate != nil {
		u.IsPrivate = *p.IsPrivate
	}
}

// UpdateProfile changes the viewer's profile; two changes at once both take effect.
func (a *Accounts) UpdateProfile(ctx context.Context, viewer social.ID, p ProfilePatch) error {
	if err := p.check(); err != nil {
		return err
	}
	if p == (ProfilePatch{}) {
		return nil
	}
	err := a.change(ctx, func(tx *db.Tx) (done social.UserBody, err error) {
		u, err := tx.LockUser(ctx, viewer)
		if err := standing(u, err); err != nil {
			return done, err
		}
		p.apply(u)
		return social.UserBody{UserID: viewer}, tx.UpdateProfile(ctx, u)
	})
	if err != nil || a.cfg.Wrote == nil {
		return err
	}
	return a.cfg.Wrote(ctx, viewer)
}
