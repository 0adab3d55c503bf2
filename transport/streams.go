package transport

import (
	"context"
	"fmt"
	"sync"
	"time"

	"kith/social"
)

// pace is how fast the two ends of what stays open have to be.
type pace struct {
	init     time.Duration // for a socket's connection_init
	ping     time.Duration // between pings of a socket
	silence  time.Duration // after which the peer of a socket is taken for dead
	beat     time.Duration // between comments in a stream of events
	write    time.Duration // for one write
	patience time.Duration // with a client that does not read
	farewell time.Duration // for the other end of a socket to close, too
	check    time.Duration // between looks at the tokens
}

// A peer that is gone is found within 30 s: the one of a socket because it answers no ping,
// that of a stream because it acknowledges no comment (see [Listen]).
var defaultPace = pace{
	init: 3 * time.Second, ping: 15 * time.Second, silence: 25 * time.Second, beat: 12 * time.Second,
	write: 10 * time.Second, patience: 5 * time.Second, farewell: time.Second, check: time.Second,
}

// stream is a socket or a stream of events that is open.
type stream struct {
	stands func(context.Context) error // whether its token does; nil for nobody's
	refuse func()                      // ends it because its token does not
	drain  func()                      // ends it once the queries and mutations under way are answered
}

// streams are all that are open.
type streams struct {
	mu      sync.Mutex
	open    map[*stream]struct{}
	closing bool
	changed chan struct{} // one has ended
}

// add says false when no more are taken.
func (s *streams) add(st *stream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.open[st] = struct{}{}
	}
	return !s.closing
}

func (s *streams) remove(st *stream) {
	s.mu.Lock()
	delete(s.open, st)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default: // they will be counted
	}
}

// setToken says by whose token a socket that is open is known.
func (s *streams) setToken(st *stream, stands func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.stands = stands
}

// each gives those that are open, as they are now.
func (s *streams) each() []stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]stream, 0, len(s.open))
	for st := range s.open {
		all = append(all, *st)
	}
	return all
}

// Run ends streams whose token has expired or was ended, within a second of
// [Config].Standing knowing it, until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	look := time.NewTicker(s.pace.check)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
			s.checkTokens(ctx)
		}
	}
}

// checkTokens asks for one token after the other: while the store has to be asked for each,
// it is asked no more than once at a time, and when it is away, not for all of them.
func (s *Server) checkTokens(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	for _, st := range s.streams.each() {
		if st.stands == nil {
			continue
		}
		switch err := st.stands(ctx); {
		case social.HasCode(err, social.Unauthenticated):
			st.refuse()
		case err != nil:
			return
		}
	}
}

// Close takes no more streams and ends those that are open: subscriptions at once, in a way
// that makes their clients come back, here or elsewhere; queries and mutations of sockets
// once they are answered. It returns when all have ended, or ctx has.
func (s *Server) Close(ctx context.Context) error {
	s.streams.mu.Lock()
	s.streams.closing = true
	s.streams.mu.Unlock()
	for {
		open := s.streams.each()
		if len(open) == 0 {
			return nil
		}
		for _, st := range open {
			st.drain()
		}
		select {
		case <-s.streams.changed:
		case <-ctx.Done():
			return fmt.Errorf("%d streams were cut off: %w", len(open), ctx.Err())
		}
	}
}
