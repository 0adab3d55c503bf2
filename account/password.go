package account

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/alexedwards/argon2id"

	"kith/social"
)

const (
	// maxHashes is how many passwords are hashed at once: each takes 46 MiB and a core.
	maxHashes = 2
	// maxWaiting is how many wait for that: more would wait longer than people do.
	maxWaiting = 64
)

// hasher hashes passwords by argon2id.
type hasher struct {
	params *argon2id.Params
	turns  chan struct{}
	queue  atomic.Int64
	// nobody is the hash that stands in for people who do not exist, so that their
	// absence cannot be told by the clock.
	nobody string
}

func newHasher(cheap bool) (*hasher, error) {
	// The first of the settings that OWASP's Password Storage Cheat Sheet recommends.
	p := &argon2id.Params{Memory: 46 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	if cheap {
		p.Memory = 8
	}
	nobody, err := argon2id.CreateHash("nobody", p)
	if err != nil {
		return nil, fmt.Errorf("hash a password: %w", err)
	}
	return &hasher{params: p, turns: make(chan struct{}, maxHashes), nobody: nobody}, nil
}

// turn waits for one of the places; call the answer to give it back. When too many wait
// it is UNAVAILABLE at once.
func (h *hasher) turn(ctx context.Context) (done func(), err error) {
	defer h.queue.Add(-1)
	if h.queue.Add(1) > maxWaiting {
		return nil, social.Errorf(social.Unavailable, "too many people are signing in; try again")
	}
	select {
	case h.turns <- struct{}{}:
		return func() { <-h.turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.CreateHash(password, h.params)
}

// matches tells whether the password has the hash; an empty hash takes as long and never
// matches.
func (h *hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	known := hash != ""
	if !known {
		hash = h.nobody
	}
	done, err := h.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	right, err := argon2id.ComparePasswordAndHash(password, hash)
	return right && known, err
}
