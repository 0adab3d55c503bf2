package events

import (
	"sync"
	"time"
)

// lane is what a consumer knows of one lane: whether it may work there, and on what.
type lane struct {
	number int
	moved  chan struct{} // there may be work

	mu       sync.Mutex
	until    time.Time // the end of the lease; zero: not held
	position int64     // the last event that was passed; only the worker moves it while held
	seq      int64     // the newest event known
}

// see takes note of the lane's newest number.
func (l *lane) see(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq = seq
	if !l.until.IsZero() && l.position < seq {
		mark(l.moved)
	}
}

// hold notes a lease. The position that was read with it counts only where the lane was
// not held before: the worker may have moved it since.
func (l *lane) hold(position int64, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until.IsZero() {
		l.position = position
	}
	l.until = until
}

// drop notes that the lane is another's.
func (l *lane) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
}

// next is the work to be done: what follows position, up to seq; none where there is
// nothing new or the lane is not held.
func (l *lane) next() (position, seq int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.position, l.seq, l.position < l.seq && time.Now().Before(l.until)
}

// pass moves the position.
func (l *lane) pass(to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.position = to
}
