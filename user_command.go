package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kith/account"
	"kith/social"
)

// userCommand is what operators do with accounts. All of it works beside running servers,
// embedded ones too: they hear of it by its event.
type userCommand struct {
	Suspend userSuspend `cmd:"" help:"Hide a person from everybody and end their tokens, until restored."`
	Restore userRestore `cmd:"" help:"Bring a suspended person back."`
	Delete  userDelete  `cmd:"" help:"Delete an account for good. Its handle stays taken."`
}

// handleArg names a person.
type handleArg struct {
	storeFlags
	Handle string `arg:"" help:"The person's handle."`
}

type userSuspend struct{ handleArg }

// Run suspends, and tells whether that changed anything.
func (c *userSuspend) Run(ctx context.Context, out io.Writer) error {
	return c.set(ctx, out, social.Suspended, "suspended")
}

type userRestore struct{ handleArg }

// Run restores, and tells whether that changed anything.
func (c *userRestore) Run(ctx context.Context, out io.Writer) error {
	return c.set(ctx, out, social.Active, "active")
}

type userDelete struct{ handleArg }

// Run deletes, and tells whether that changed anything.
func (c *userDelete) Run(ctx context.Context, out io.Writer) error {
	return c.set(ctx, out, social.Deleted, "deleted")
}

func (c *handleArg) set(ctx context.Context, out io.Writer, to social.UserStatus, state string) error {
	d, err := c.openBeside(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	changed, err := account.SetStatus(ctx, d, clock, c.Handle, to)
	var known *social.Error
	switch {
	case social.HasCode(err, social.NotFound), social.HasCode(err, social.BadUserInput):
		return fmt.Errorf("nobody has the handle %q", c.Handle)
	case errors.As(err, &known) && known.Code == social.Conflict:
		return errors.New(known.Message)
	case err != nil:
		return err
	}
	now := "is now"
	if !changed {
		now = "was already"
	}
	_, err = fmt.Fprintf(out, "%s %s %s\n", c.Handle, now, state)
	return err
}
