package account

import (
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
)

// tokens are JWTs by HS256: sub is the user's id, exp when they end. iat is told and not
// checked, since the standard asks for no such check.
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

func (t tokens) issue(id social.ID) (string, social.Millis, error) {
	now := t.clock()
	until := jwt.NewNumericDate(now.Add(t.life)) // whole seconds
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: id.String(), IssuedAt: jwt.NewNumericDate(now), ExpiresAt: until,
	}).SignedString(t.secret)
	if err != nil {
		return "", 0, fmt.Errorf("sign token: %w", err)
	}
	return token, social.Millis(until.UnixMilli()), nil
}

func (t tokens) read(token string) (social.ID, error) {
	var claims jwt.RegisteredClaims
	if _, err := t.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return t.secret, nil }); err != nil {
		return 0, fmt.Errorf("read token: %w", err)
	}
	id, err := strconv.ParseInt(claims.Subject, 10, 64)
	if err != nil || id <= 0 {
		return 0, errors.New("read token: its subject is no user")
	}
	return social.ID(id), nil
}
