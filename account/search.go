package account

import (
	"context"

	"kith/social"
)

// Search lists people whose handle begins so, by handle, with nothing of them but id and
// handle. The beginning is a parsed one, see [social.ParseHandlePrefix]. A cursor stays
// good when its person is gone.
func (a *Accounts) Search(ctx context.Context, prefix string, p social.Page) (social.Part[*social.User], error) {
	users, err := a.db.UsersByHandle(ctx, prefix, p.From.Handle, p.Limit+1)
	return social.Cut(p, users), err
}

// CountFound is how many people have a handle that begins so; past 10,000 nobody counts.
func (a *Accounts) CountFound(ctx context.Context, prefix string) (int64, error) {
	return a.db.CountHandles(ctx, prefix)
}
