package transport

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxWaiting is how many messages may wait for one client.
	maxWaiting = 64
	// maxWaitingBytes is how long they may be together; one that is longer waits alone.
	maxWaitingBytes = 1 << 20
)

// errSlow says that a client does not read what it asked for.
var errSlow = errors.New("the client does not read")

// outbox is what waits to be written to one client, in the order of push. Many may put into
// it; one takes at a time, until nothing is left: wake is called when somebody has to begin.
// Who finds it full waits: a burst, such as a replay, goes as fast as the client reads; whose
// client takes nothing gets errSlow.
type outbox struct {
	room     *semaphore.Weighted
	patience time.Duration
	wake     func()

	mu      sync.Mutex
	waiting [][]byte
	isTaken bool // somebody takes, or was woken to
}

func newOutbox(patience time.Duration, wake func()) *outbox {
	return &outbox{room: semaphore.NewWeighted(maxWaitingBytes), patience: patience, wake: wake}
}

// weight lets no more than maxWaiting messages in, however short they are.
func weight(message []byte) int64 {
	return int64(min(max(len(message), maxWaitingBytes/maxWaiting), maxWaitingBytes))
}

// reserve waits for room; then push or written is to follow.
func (o *outbox) reserve(ctx context.Context, message []byte) error {
	if o.room.TryAcquire(weight(message)) {
		return nil
	}
	waiting, cancel := context.WithTimeoutCause(ctx, o.patience, errSlow)
	defer cancel()
	if o.room.Acquire(waiting, weight(message)) != nil {
		return context.Cause(waiting)
	}
	return nil
}

// push puts in what has its room.
func (o *outbox) push(message []byte) {
	o.mu.Lock()
	o.waiting = append(o.waiting, message)
	o.mu.Unlock()
	if o.claim() {
		o.wake()
	}
}

// claim says whether nobody takes; now the caller does.
func (o *outbox) claim() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.isTaken
	o.isTaken = true
	return !was
}

// take gives the first message; without one the caller takes no more.
func (o *outbox) take() (message []byte, is bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		o.waiting, o.isTaken = nil, false
		return nil, false
	}
	message, o.waiting = o.waiting[0], o.waiting[1:]
	return message, true
}

// put is reserve and push.
func (o *outbox) put(ctx context.Context, message []byte) error {
	err := o.reserve(ctx, message)
	if err == nil {
		o.push(message)
	}
	return err
}

// written gives the room of a message back.
func (o *outbox) written(message []byte) { o.room.Release(weight(message)) }
