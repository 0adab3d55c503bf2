package account

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/social"
)

const (
	// minSecret is the length of HS256's own output; a shorter secret is its weakest part.
	minSecret = 32
	// clockSkew is how far clocks may differ, for every time in a token alike.
	clockSkew = 30 * time.Second
	tokenLife = 30 * 24 * time.Hour
	// endedMargin is for how long it stays known that a token was ended, once it has expired:
	// longer than any server's clock is wrong.
	endedMargin = time.Hour
)

// token is what a token of ours says.
type token struct {
	user    social.ID
	version int64
	id      string // no other token has it
	expires social.Millis
}

// claims are those of a token; ver is the person's token version when it was issued. A
// token without it, as they were before there were versions, is of version 0.
type claims struct {
	jwt.RegisteredClaims
	Version int64 `json:"ver,omitempty"`
}

// tokens are JWTs by HS256: sub is the user's id, jti the token's own, exp when they end.
// iat is told and not checked, since the standard asks for no such check.
type tokens struct {
	secret []byte
	life   time.Duration
	clock  social.Clock
	parser *jwt.Parser
}

// CheckSecret refuses a secret that is too short to sign tokens.
func CheckSecret(secret string) error {
	if len(secret) < minSecret {
		return fmt.Errorf("the JWT secret has %d bytes; at least %d are needed", len(secret), minSecret)
	}
	return nil
}

func newTokens(secret string, life time.Duration, clock social.Clock) (tokens, error) {
	if err := CheckSecret(secret); err != nil {
		return tokens{}, err
	}
	if life == 0 {
		life = tokenLife
	}
	p := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithLeeway(clockSkew), jwt.WithExpirationRequired(), jwt.WithTimeFunc(clock))
	return tokens{secret: []byte(secret), life: life, clock: clock, parser: p}, nil
}

// lastKnown is until when it must be known that all tokens were ended that there are now.
func (t tokens) lastKnown() social.Millis { return known(t.clock().Add(t.life)) }

func (t tokens) issue(id social.ID, version int64) (string, social.Millis, error) {
	now := t.clock()
	until := jwt.NewNumericDate(now.Add(t.life)) // whole seconds
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{Version: version, RegisteredClaims: jwt.RegisteredClaims{
		ID: rand.Text(), Subject: id.String(), IssuedAt: jwt.NewNumericDate(now), ExpiresAt: until,
	}}).SignedString(t.secret)
	if err != nil {
		return "", 0, fmt.Errorf("sign token: %w", err)
	}
	return signed, social.Millis(until.UnixMilli()), nil
}

// read gives what a token says; UNAUTHENTICATED is one that is not ours. Of one that has
// expired it is told too, with [social.ErrTokenEnded].
func (t tokens) read(text string) (token, error) {
	var c claims
	parsed, err := t.parser.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return t.secret, nil })
	expired := errors.Is(err, jwt.ErrTokenExpired) // which is asked after the signature
	if err != nil && !expired {
		return token{}, notOurs(err)
	}
	id, err := strconv.ParseInt(c.Subject, 10, 64)
	if err != nil || id <= 0 {
		return token{}, notOurs(errors.New("its subject is no user"))
	}
	read := token{user: social.ID(id), version: c.Version, id: c.ID, expires: social.Millis(c.ExpiresAt.UnixMilli())}
	if read.id == "" { // one from before they had ids: nobody can give it another signature
		read.id = hex.EncodeToString(parsed.Signature)
	}
	if expired {
		return read, social.ErrTokenEnded
	}
	return read, nil
}

// haveExpired tells of a token that was read before whether it would be read as expired now.
func (t tokens) haveExpired(read token) bool {
	return !t.clock().Before(read.expires.Time().Add(clockSkew))
}

func notOurs(cause error) error {
	return &social.Error{Code: social.Unauthenticated, Message: "the token is not known: sign in again", Cause: cause}
}
