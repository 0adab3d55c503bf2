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
	// Wrote says, before the answer, that a person changed something; nil says nothing.
	Wrote func(ctx context.Context, who social.ID) error
}

// Accounts signs people up and in. Safe for parallel use.
type Accounts struct {
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
	return &Accounts{db: d, ids: ids, tokens: t, hashes: h, cfg: cfg}, nil
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
	err = a.db.Transact(ctx, func(tx *db.Tx) error {
		if err := tx.InsertUser(ctx, u, hash); err != nil {
			return err
		}
		return a.changed(ctx, tx, u)
	})
	if err != nil {
		return nil, err
	}
	return a.session(u)
}

// SignIn signs a person in. An unknown handle and a wrong password are told the same way,
// after the same work: UNAUTHENTICATED.
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
	u, hash, err := a.db.UserByHandle(ctx, handle)
	if err != nil && !social.HasCode(err, social.NotFound) {
		return nil, err
	}
	right, failed := a.hashes.matches(ctx, password, hash)
	switch {
	case failed != nil:
		return nil, failed
	case err != nil || !right:
		return nil, social.Errorf(social.Unauthenticated, "handle or password is wrong")
	}
	return a.session(u)
}

// SessionOf signs in whoever has the handle, without a password: for operators.
func (a *Accounts) SessionOf(ctx context.Context, handle string) (*Session, error) {
	u, err := a.ByHandle(ctx, "handle", handle)
	if err != nil {
		return nil, err
	}
	return a.session(u)
}

// ByHandle finds a person; NOT_FOUND where nobody has the handle, BAD_USER_INPUT about
// field where nobody could.
func (a *Accounts) ByHandle(ctx context.Context, field, handle string) (*social.User, error) {
	handle, err := social.ParseHandle(field, handle)
	if err != nil {
		return nil, err
	}
	u, _, err := a.db.UserByHandle(ctx, handle)
	return u, err
}

// Viewer is the person a token names; a token that is not ours, ended or not yet valid is
// an error. It asks no store: whether the account still stands shows when it is read.
func (a *Accounts) Viewer(token string) (social.ID, error) { return a.tokens.read(token) }

func (a *Accounts) session(u *social.User) (*Session, error) {
	token, until, err := a.tokens.issue(u.ID)
	return &Session{User: u, Token: token, ExpiresAt: until}, err
}

// changed tells others that the person is new or has another profile.
func (a *Accounts) changed(ctx context.Context, tx *db.Tx, u *social.User) error {
	return tx.Publish(ctx, social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: u.ID}})
}
