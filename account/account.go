package account

import (
	"context"
	"time"

	"kith/db"
	"kith/social"
)

// Config holds the settings of accounts.
type Config struct {
	// Secret signs the tokens: at least 32 bytes, the same on all servers.
	Secret string
	// TokenLife is how long a token lasts; 0 is 30 days.
	TokenLife time.Duration
	// CheapHashes makes passwords quick to hash, and to guess: for tests alone.
	CheapHashes bool
	// SignUpLimit and SignInLimit refuse what comes too soon, from where ctx says or for
	// the handle; nil lets all through.
	SignUpLimit func(ctx context.Context) error
	SignInLimit func(ctx context.Context, handle string) error
	// EndedTrust is for how long the last look at the events is believed to have told of
	// all tokens that have ended; 0 is a second. See [Revocations].
	EndedTrust time.Duration
	// Wrote says, before the answer, that a person changed something; nil says nothing.
	Wrote func(ctx context.Context, who social.ID) error
}

// Accounts signs people up, in and out. Safe for parallel use.
type Accounts struct {
	// Revocations knows which tokens have ended; it is to be told of events.
	Revocations *Revocations

	db     *db.DB
	ids    *social.Snowflake
	tokens tokens
	hashes *hasher
	cfg    Config
}

// New makes the accounts over the store; ids names the people. An unfit secret is an
// error.
func New(d *db.DB, ids *social.Snowflake, clock social.Clock, cfg Config) (*Accounts, error) {
	t, err := newTokens(cfg.Secret, cfg.TokenLife, clock)
	if err != nil {
		return nil, err
	}
	h, err := newHasher(cfg.CheapHashes)
	if err != nil {
		return nil, err
	}
	r := newRevocations(d, clock, cfg.EndedTrust)
	return &Accounts{Revocations: r, db: d, ids: ids, tokens: t, hashes: h, cfg: cfg}, nil
}

// Session is a person who has just signed in.
type Session struct {
	User      *social.User
	Token     string
	ExpiresAt social.Millis
}

var (
	nameRule     = social.TextRule{Min: 1, Max: 50}
	bioRule      = social.TextRule{Max: 500, Lines: true}
	passwordRule = social.TextRule{Min: 8, Max: 128}
)

// SignUp makes an account and signs it in. A handle that is taken is a CONFLICT.
func (a *Accounts) SignUp(ctx context.Context, handle, name, password string) (*Session, error) {
	handle, err := social.ParseHandle("handle", handle)
	if err != nil {
		return nil, err
	}
	if err := nameRule.Check("name", name); err != nil {
		return nil, err
	}
	if err := passwordRule.Check("password", password); err != nil {
		return nil, err
	}
	if a.cfg.SignUpLimit != nil {
		if err := a.cfg.SignUpLimit(ctx); err != nil {
			return nil, err
		}
	}
	hash, err := a.hashes.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	id, err := a.ids.Next(ctx)
	if err != nil {
		return nil, err
	}
	u := &social.User{ID: id, Handle: handle, Name: name}
	err = a.change(ctx, func(tx *db.Tx) (social.UserBody, error) {
		return social.UserBody{UserID: id}, tx.InsertUser(ctx, u, hash)
	})
	if err != nil {
		return nil, err
	}
	return a.session(u, 0)
}

// SignIn signs a person in. An unknown handle and a wrong password are told the same way,
// after the same work: UNAUTHENTICATED; so is a deleted account. Who is suspended is told
// so, FORBIDDEN, once the password was right.
func (a *Accounts) SignIn(ctx context.Context, handle, password string) (*Session, error) {
	handle, err := social.ParseHandle("handle", handle)
	if err != nil {
		return nil, err
	}
	if err := passwordRule.Check("password", password); err != nil {
		return nil, err
	}
	if a.cfg.SignInLimit != nil {
		if err := a.cfg.SignInLimit(ctx, handle); err != nil {
			return nil, err
		}
	}
	u, c, err := a.db.UserByHandle(ctx, handle)
	if err != nil && !social.HasCode(err, social.NotFound) {
		return nil, err
	}
	right, failed := a.hashes.matches(ctx, password, c.Hash) // a deleted account has none
	switch {
	case failed != nil:
		return nil, failed
	case err != nil || !right:
		return nil, social.Errorf(social.Unauthenticated, "handle or password is wrong")
	case u.Status != social.Active:
		return nil, errSuspended()
	}
	return a.session(u, c.Version)
}

func errSuspended() error { return social.Errorf(social.Forbidden, "this account is suspended") }

// SessionOf signs in whoever has the handle, without a password: for operators. NOT_FOUND
// where nobody has it or the account is deleted, FORBIDDEN where it is suspended.
func (a *Accounts) SessionOf(ctx context.Context, handle string) (*Session, error) {
	u, c, err := a.byHandle(ctx, "handle", handle)
	if err == nil && u.Status == social.Suspended {
		err = errSuspended()
	}
	if err != nil {
		return nil, err
	}
	return a.session(u, c.Version)
}

// ByHandle finds a person who is active; NOT_FOUND where nobody is who has the handle,
// BAD_USER_INPUT about field where nobody could.
func (a *Accounts) ByHandle(ctx context.Context, field, handle string) (*social.User, error) {
	u, _, err := a.byHandle(ctx, field, handle)
	if err == nil && u.Status != social.Active {
		err = errNobody()
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

func errNobody() error { return social.Errorf(social.NotFound, "nobody has this handle") }

// byHandle finds a person who is not deleted.
func (a *Accounts) byHandle(ctx context.Context, field, handle string) (*social.User, db.Credentials, error) {
	handle, err := social.ParseHandle(field, handle)
	if err != nil {
		return nil, db.Credentials{}, err
	}
	u, c, err := a.db.UserByHandle(ctx, handle)
	if err == nil && u.Status == social.Deleted {
		err = errNobody()
	}
	return u, c, err
}

func (a *Accounts) session(u *social.User, version int64) (*Session, error) {
	token, until, err := a.tokens.issue(u.ID, version)
	return &Session{User: u, Token: token, ExpiresAt: until}, err
}

// change commits a change of a person with its event; this server knows at once of tokens
// that have ended with it.
func (a *Accounts) change(ctx context.Context, do func(*db.Tx) (social.UserBody, error)) error {
	done, err := commit(ctx, a.db, do)
	if err == nil {
		a.Revocations.Heard(done)
	}
	return err
}
