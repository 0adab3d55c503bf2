package main

import (
	"context"
	"net/netip"
	"time"

	"kith/rdb"
	"kith/social"
)

// The policies: how often something may be done, by whom.
var (
	followLimits = []rdb.Policy{
		{What: "follow-minute", Max: 20, Window: time.Minute},
		{What: "follow-day", Max: 400, Window: 24 * time.Hour},
	}
	followManyLimit      = rdb.Policy{What: "followmany", Max: 300, Window: time.Hour}
	likeLimit            = rdb.Policy{What: "like", Max: 60, Window: time.Minute}
	publishLimit         = rdb.Policy{What: "publish", Max: 10, Window: time.Minute}
	signInLimitOfHandle  = rdb.Policy{What: "signin-handle", Max: 10, Window: time.Minute}
	signInLimitOfAddress = rdb.Policy{What: "signin-address", Max: 10, Window: time.Minute}
	signUpLimit          = rdb.Policy{What: "signup", Max: 5, Window: time.Hour}
)

// limits are what the verbs ask before they work. Each answer is nil or RATE_LIMITED.
type limits struct{ limiter *rdb.Limiter }

func (l limits) follow(ctx context.Context, viewer social.ID) error {
	return l.limiter.Take(ctx, viewer.String(), 1, followLimits...)
}

// followMany counts people, not calls.
func (l limits) followMany(ctx context.Context, viewer social.ID, n int) error {
	return l.limiter.Take(ctx, viewer.String(), int64(n), followManyLimit)
}

func (l limits) like(ctx context.Context, viewer social.ID) error {
	return l.limiter.Take(ctx, viewer.String(), 1, likeLimit)
}

func (l limits) publish(ctx context.Context, author social.ID) error {
	return l.limiter.Take(ctx, author.String(), 1, publishLimit)
}

// signIn counts for the address first: once that is refused, its calls no longer use up
// what the handle has.
func (l limits) signIn(ctx context.Context, handle string) error {
	if err := l.ofAddress(ctx, signInLimitOfAddress); err != nil {
		return err
	}
	return l.limiter.Take(ctx, handle, 1, signInLimitOfHandle)
}

func (l limits) signUp(ctx context.Context) error { return l.ofAddress(ctx, signUpLimit) }

// ofAddress counts for the address of whoever asks; for IPv6 that is its network of 64
// bits, within which one person has all addresses.
func (l limits) ofAddress(ctx context.Context, p rdb.Policy) error {
	a := social.Address(ctx)
	if !a.IsValid() { // asked from within
		return nil
	}
	who := a.String()
	if a.Is6() {
		who = netip.PrefixFrom(a, 64).Masked().String()
	}
	return l.limiter.Take(ctx, who, 1, p)
}
