package rdb

import (
	"context"

	"kith/social"
)

// Ring makes every server that listens by [Redis.Rings] hear, the caller's too. It waits
// for Redis no longer than a command may take; UNAVAILABLE when it was not sent.
func (r *Redis) Ring(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	if err := r.client.Publish(ctx, bellChannel, "").Err(); err != nil {
		return &social.Error{Code: social.Unavailable, Message: "the bell cannot be rung now", Cause: err}
	}
	return nil
}

// Rings calls heard at every ring until ctx ends. Where the connection broke it is made
// anew, without end; heard is called each time that it is made, the first time too, for
// what was rung meanwhile. heard must not block.
func (r *Redis) Rings(ctx context.Context, heard func()) error {
	s := r.client.Subscribe(ctx, bellChannel)
	defer func() { _ = s.Close() }()
	rings := s.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-rings:
			if !ok { // Redis was closed
				return nil
			}
			heard()
		}
	}
}
