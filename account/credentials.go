package account

import (
	"context"
	"errors"
	"time"

	"kith/db"
	"kith/social"
)

// Viewer is the person a token names. One that is not ours is UNAUTHENTICATED; so is one
// that was good and has expired or was ended, [social.ErrTokenEnded], which still names its
// person. Whether the account stands shows when it is read. Where the store has to be asked
// (see [Revocations]), its errors are told.
func (a *Accounts) Viewer(ctx context.Context, bearer string) (social.ID, error) {
	t, err := a.tokens.read(bearer)
	if err == nil {
		err = a.Revocations.judge(ctx, t)
	}
	return t.user, err
}

// Standing gives what tells again and again whether a token still stands: by the errors of
// [Accounts.Viewer], but its signature and what it says are read once.
func (a *Accounts) Standing(bearer string) func(ctx context.Context) error {
	t, err := a.tokens.read(bearer)
	return func(ctx context.Context) error {
		switch {
		case err != nil:
			return err
		case a.tokens.haveExpired(t):
			return social.ErrTokenEnded
		}
		return a.Revocations.judge(ctx, t)
	}
}

// SignOut ends a token, or with everywhere all tokens of its person. One that has ended
// before ends nothing, and is no error; one that is not ours is UNAUTHENTICATED. From then
// on this server refuses what has ended, the others within a second.
func (a *Accounts) SignOut(ctx context.Context, bearer string, everywhere bool) error {
	t, err := a.tokens.read(bearer)
	switch {
	case errors.Is(err, social.ErrTokenEnded):
		return nil
	case err != nil:
		return err
	}
	return a.change(ctx, func(tx *db.Tx) (done social.UserBody, err error) {
		_, c, err := tx.LockCredentials(ctx, t.user)
		if social.HasCode(err, social.NotFound) {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		if ended, err := tx.TokenEnded(ctx, t.user, t.id, t.version); err != nil || ended {
			return done, err
		}
		if everywhere {
			return endAll(ctx, tx, t.user, c, a.tokens.lastKnown())
		}
		return end(ctx, tx, social.EndedTokens{UserID: t.user, Token: t.id, Until: known(t.expires.Time())})
	})
}

// ChangePassword gives the viewer another password and ends all their tokens; the session
// has a new one. A current password that is wrong is FORBIDDEN, about current; too many
// tries are RATE_LIMITED, in the windows of signing in.
func (a *Accounts) ChangePassword(ctx context.Context, viewer social.ID, current, next string) (*Session, error) {
	if err := passwordRule.Check("current", current); err != nil {
		return nil, err
	}
	if err := passwordRule.Check("new", next); err != nil {
		return nil, err
	}
	verified, err := a.verify(ctx, viewer, "current", current)
	if err != nil {
		return nil, err
	}
	hash, err := a.hashes.hash(ctx, next)
	if err != nil {
		return nil, err
	}
	var u *social.User
	var c db.Credentials
	err = a.change(ctx, func(tx *db.Tx) (done social.UserBody, err error) {
		if u, c, err = lockVerified(ctx, tx, viewer, "current", verified); err != nil {
			return done, err
		}
		c.Hash = hash
		done, err = endAll(ctx, tx, viewer, c, a.tokens.lastKnown())
		return done, err
	})
	if err != nil {
		return nil, err
	}
	return a.session(u, c.Version+1)
}

// DeleteAccount deletes the viewer's account for good: for everybody the person is as if
// not there, name, bio, avatar and password are gone, the handle stays taken, all tokens
// end. A wrong password is FORBIDDEN, about password; too many tries are RATE_LIMITED, in
// the windows of signing in.
func (a *Accounts) DeleteAccount(ctx context.Context, viewer social.ID, password string) error {
	if err := passwordRule.Check("password", password); err != nil {
		return err
	}
	verified, err := a.verify(ctx, viewer, "password", password)
	if err != nil {
		return err
	}
	err = a.change(ctx, func(tx *db.Tx) (done social.UserBody, err error) {
		u, c, err := lockVerified(ctx, tx, viewer, "password", verified)
		if err != nil {
			return done, err
		}
		return setStatus(ctx, tx, u, c, social.Deleted, a.tokens.lastKnown())
	})
	if err != nil || a.cfg.Wrote == nil {
		return err
	}
	return a.cfg.Wrote(ctx, viewer)
}

// verify checks the viewer's password, and gives the hash that it was right for.
func (a *Accounts) verify(ctx context.Context, viewer social.ID, field, password string) (hash string, err error) {
	u, c, err := a.db.UserWithCredentials(ctx, viewer)
	if err := standing(u, err); err != nil {
		return "", err
	}
	if a.cfg.SignInLimit != nil {
		if err := a.cfg.SignInLimit(ctx, u.Handle); err != nil {
			return "", err
		}
	}
	right, err := a.hashes.matches(ctx, password, c.Hash)
	if err == nil && !right {
		err = wrongPassword(field)
	}
	return c.Hash, err
}

// lockVerified locks a person whose password was verified; when it has been changed since,
// that one is wrong now.
func lockVerified(ctx context.Context, tx *db.Tx, id social.ID, field, verified string) (*social.User, db.Credentials, error) {
	u, c, err := tx.LockCredentials(ctx, id)
	if err := standing(u, err); err != nil {
		return nil, c, err
	}
	if c.Hash != verified {
		return nil, c, wrongPassword(field)
	}
	return u, c, nil
}

func wrongPassword(field string) error {
	return &social.Error{Code: social.Forbidden, Field: field, Message: "the password is wrong"}
}

// standing is what a reading of the viewer says: whoever is not there any more, or
// suspended, is not signed in.
func standing(u *social.User, err error) error {
	if social.HasCode(err, social.NotFound) || err == nil && u.Status != social.Active {
		return social.Errorf(social.Unauthenticated, "this account does not exist any more")
	}
	return err
}

// end writes that tokens have ended, and gives the event of it.
func end(ctx context.Context, tx *db.Tx, e social.EndedTokens) (social.UserBody, error) {
	return social.UserBody{UserID: e.UserID, Ended: &e}, tx.InsertEnded(ctx, e)
}

// endAll stores the credentials with the next version, which ends all tokens there are;
// until says when that is of no interest any more.
func endAll(ctx context.Context, tx *db.Tx, id social.ID, c db.Credentials, until social.Millis) (social.UserBody, error) {
	c.Version++
	if err := tx.UpdateCredentials(ctx, id, c); err != nil {
		return social.UserBody{}, err
	}
	return end(ctx, tx, social.EndedTokens{UserID: id, Version: c.Version, Until: until})
}

// known is until when it must be known that a token was ended that expires then.
func known(expires time.Time) social.Millis {
	return social.Millis(expires.Add(clockSkew + endedMargin).UnixMilli())
}
