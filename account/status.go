package account

import (
	"context"

	"kith/db"
	"kith/social"
)

// SetStatus suspends, restores or deletes whoever has the handle, for operators: by the
// store alone, which servers may be running on. All tokens of a person who is suspended or
// deleted end; every server refuses them within a second. It tells whether that changed
// anything. NOT_FOUND where nobody has the handle, BAD_USER_INPUT where nobody could, and
// CONFLICT for who is deleted already and is to be anything else.
func SetStatus(ctx context.Context, d *db.DB, clock social.Clock, handle string, to social.UserStatus) (changed bool, err error) {
	handle, err = social.ParseHandle("handle", handle)
	if err != nil {
		return false, err
	}
	found, _, err := d.UserByHandle(ctx, handle)
	if err != nil {
		return false, err
	}
	done, err := commit(ctx, d, func(tx *db.Tx) (done social.UserBody, err error) {
		u, c, err := tx.LockCredentials(ctx, found.ID)
		switch {
		case err != nil || u.Status == to:
			return done, err
		case u.Status == social.Deleted:
			return done, social.Errorf(social.Conflict, "the account of %s is deleted, for good", handle)
		}
		return setStatus(ctx, tx, u, c, to, known(clock().Add(tokenLife)))
	})
	return done.UserID != 0, err
}

// setStatus writes another status of a locked person, and gives the event of it. What is
// deleted loses its profile and its password.
func setStatus(ctx context.Context, tx *db.Tx, u *social.User, c db.Credentials, to social.UserStatus, until social.Millis) (done social.UserBody, err error) {
	if to == social.Deleted {
		c.Hash = ""
		blank := social.User{ID: u.ID, IsPrivate: u.IsPrivate}
		if err := tx.UpdateProfile(ctx, &blank); err != nil {
			return done, err
		}
	}
	if err := tx.UpdateStatus(ctx, u.ID, to); err != nil {
		return done, err
	}
	if to == social.Active {
		return social.UserBody{UserID: u.ID}, nil
	}
	return endAll(ctx, tx, u.ID, c, until)
}

// commit runs do in a transaction whose last step is the event that do gives; where that is
// about nobody, nothing has changed.
func commit(ctx context.Context, d *db.DB, do func(*db.Tx) (social.UserBody, error)) (done social.UserBody, err error) {
	err = d.Transact(ctx, func(tx *db.Tx) error {
		if done, err = do(tx); err != nil || done.UserID == 0 {
			return err
		}
		return tx.Publish(ctx, social.Event{Kind: social.UserEvent, Body: done})
	})
	return done, err
}
