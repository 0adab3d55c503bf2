package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"kith/social"
)

// Policy says how often something may be done: at most Max times in any interval of a
// Window's length.
type Policy struct {
	// What names the policy, in keys too: a short word without colons.
	What string
	// Max is 1 to 1,000: so many times are kept.
	Max int64
	// Window is whole milliseconds, at least one.
	Window time.Duration
}

// Limiter counts who did what, together with all servers of one Redis. While Redis does
// not answer, each server counts by itself, from nothing.
type Limiter struct {
	redis   *Redis
	clock   social.Clock
	breaker breaker
	local   *local
}

// NewLimiter counts in r by the clock. Nothing is asked of Redis yet.
func NewLimiter(r *Redis, clock social.Clock, log *slog.Logger) *Limiter {
	return &Limiter{redis: r, clock: clock, breaker: breaker{clock: time.Now, log: log}, local: newLocal(localWindows)}
}

// Take counts n more of who, at most as many as each policy's Max, under every policy, or
// none under any and answers RATE_LIMITED with the time until all would let them through. Who is any text; policies of one call
// differ in name or window. Other errors are the end of ctx, and faults of the caller's.
// A nil Limiter lets everything through. One round trip; half a second at most (5 s of one in process).
func (l *Limiter) Take(ctx context.Context, who string, n int64, ps ...Policy) error {
	if l == nil || len(ps) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	keys := make([]string, len(ps))
	for i, p := range ps {
		if err := p.validate(n); err != nil {
			return err
		}
		keys[i] = limitKey(p, who)
	}
	waitMS, err := l.take(ctx, keys, n, ps)
	switch {
	case err != nil:
		return err
	case waitMS > 0:
		return limited(time.Duration(waitMS) * time.Millisecond)
	}
	return nil
}

// take asks Redis, or the windows of this server if Redis cannot be asked.
func (l *Limiter) take(ctx context.Context, keys []string, n int64, ps []Policy) (waitMS int64, err error) {
	nowMS := int64(l.clock.NowMS())
	if l.breaker.ask() {
		waitMS, err := l.takeShared(ctx, keys, n, ps, nowMS)
		if err == nil {
			l.breaker.answered()
			return waitMS, nil
		}
		if ctx.Err() != nil { // it may be that alone: says nothing about Redis
			return 0, ctx.Err()
		}
		l.breaker.failed(err)
	}
	return l.local.take(keys, n, ps, nowMS), nil
}

func (l *Limiter) takeShared(ctx context.Context, keys []string, n int64, ps []Policy, nowMS int64) (waitMS int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.redis.patience)
	defer cancel()
	args := make([]any, 0, 2+2*len(ps))
	args = append(args, nowMS, n)
	for _, p := range ps {
		args = append(args, p.Max, p.Window.Milliseconds())
	}
	return l.redis.run(ctx, limitScript, keys, args...).Int64()
}

// maxMax bounds the times that are kept of one window.
const maxMax = 1000

// validate tells faults of the code.
func (p Policy) validate(n int64) error {
	if p.What == "" || n < 1 || p.Max < n || p.Max > maxMax || p.Window < time.Millisecond {
		return fmt.Errorf("policy %q of %d in %s cannot count %d", p.What, p.Max, p.Window, n)
	}
	return nil
}

func limited(wait time.Duration) error {
	return &social.Error{
		Code: social.RateLimited, Message: "too often; try again in " + inWords(wait), RetryAfter: wait,
	}
}

// inWords is a time in the unit that people would choose, rounded up.
func inWords(d time.Duration) string {
	unit, name := time.Second, "second"
	switch {
	case d > 2*time.Hour:
		unit, name = time.Hour, "hour"
	case d > 2*time.Minute:
		unit, name = time.Minute, "minute"
	}
	n := (d + unit - 1) / unit
	if n != 1 {
		name += "s"
	}
	return fmt.Sprintf("%d %s", n, name)
}
