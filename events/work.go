package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// minPause and maxPause are how long a lane rests after a failure: twice as long each
	// time.
	minPause = 100 * time.Millisecond
	maxPause = 2 * time.Second
	// tries is how often an event is given alone before it is a dead letter.
	tries = 3
)

// deadLetter is an event that cannot be taken, and why.
type deadLetter struct {
	event  db.StoredEvent
	reason error
}

// work does what comes in one lane until ctx ends.
func (c *Consumer) work(ctx context.Context, l *lane) {
	pause := c.pause
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.moved:
		}
		for {
			position, seq, ok := l.next()
			if !ok {
				c.outage.tell(ctx, l.number, nil) // nothing to do is nothing that fails
				break
			}
			err := c.turn(ctx, l, position, seq)
			c.outage.tell(ctx, l.number, err)
			if err == nil {
				pause = c.pause
			} else if !rest(ctx, pause) {
				return
			} else {
				pause = min(2*pause, maxPause)
			}
		}
	}
}

// turn waits until few enough others work, and does a chunk.
func (c *Consumer) turn(ctx context.Context, l *lane, position, seq int64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case c.slots <- struct{}{}:
	}
	defer func() { <-c.slots }()
	return c.chunk(ctx, l, position, seq)
}

// chunk hands on what follows position, then moves the position: a crash between the two
// repeats events, and never leaves one out.
func (c *Consumer) chunk(ctx context.Context, l *lane, position, seq int64) error {
	stored, err := c.db.EventsAfter(ctx, l.number, position, chunk)
	if err != nil {
		return err
	}
	to := seq // where nothing is left of what follows: it was trimmed
	if len(stored) > 0 {
		to = stored[len(stored)-1].Seq
	}
	dead, err := c.effects(ctx, stored)
	if err != nil {
		return err
	}
	advanced, err := c.advance(ctx, l.number, position, to, dead)
	if err != nil {
		return err
	}
	if !advanced {
		l.drop()
		mark(c.lost)
		return nil
	}
	for _, d := range dead {
		c.log.Error("an event is a dead letter", "lane", d.event.Lane, "seq", d.event.Seq, "error", d.reason)
	}
	l.pass(to)
	return nil
}

// advance moves the position and keeps the dead letters, both or neither; false when the
// lane is another's.
func (c *Consumer) advance(ctx context.Context, lane int, from, to int64, dead []deadLetter) (advanced bool, err error) {
	err = c.db.Transact(ctx, func(tx *db.Tx) (err error) {
		if advanced, err = tx.AdvanceLane(ctx, c.name, c.holder, lane, from, to); err != nil || !advanced {
			return err
		}
		for _, d := range dead {
			if err := tx.PutDeadLetter(ctx, c.name, d.event, d.reason.Error()); err != nil {
				return err
			}
		}
		return nil
	})
	return advanced, err
}

// effects hands the events to the handler and answers those that cannot be taken.
func (c *Consumer) effects(ctx context.Context, stored []db.StoredEvent) (dead []deadLetter, err error) {
	var events []Event
	var from []db.StoredEvent // of each of events
	for _, s := range stored {
		e, err := decode(s)
		switch {
		case err == nil:
			events, from = append(events, e), append(from, s)
		case !errors.Is(err, errUnknown):
			dead = append(dead, deadLetter{s, err})
		}
	}
	if len(events) == 0 {
		return dead, nil
	}
	if err := c.guarded(ctx, events); err == nil || passing(ctx, err) {
		return dead, err
	}
	for i := range events { // one of them is at fault
		if err := c.alone(ctx, events[i:i+1]); passing(ctx, err) {
			return nil, err
		} else if err != nil {
			dead = append(dead, deadLetter{from[i], err})
		}
	}
	return dead, nil
}

// alone gives one event a few times.
func (c *Consumer) alone(ctx context.Context, event []Event) (err error) {
	for try := range tries {
		if try > 0 && !rest(ctx, c.pause) {
			return ctx.Err()
		}
		if err = c.guarded(ctx, event); err == nil || passing(ctx, err) {
			break
		}
	}
	return err
}

// guarded runs the handler, and makes an error of a panic: it must not end the process.
func (c *Consumer) guarded(ctx context.Context, events []Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.handle(ctx, events)
}

// passing tells errors that are of no event: they end by themselves.
func passing(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || social.HasCode(err, social.Unavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// rest waits, and is false when ctx ends first.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
