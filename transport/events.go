package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"kith/social"
)

// comment is a line that clients pass over.
const comment = ":\n\n"

// serveEvents answers by a stream of events, as graphql-sse has it for distinct connections:
// "next" for each answer, "complete" at the end. What was read but not executed is an answer
// too. A stream that ends without "complete" was cut: its client is to come again.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request, who identity, op *operation, refusal *answer) {
	ctx, cancel := context.WithCancel(r.Context())
	waits := make(chan struct{}, 1)
	out := newOutbox(s.pace.patience, func() { waits <- struct{}{} })
	e := &events{w: w, control: http.NewResponseController(w), out: out, waits: waits, pace: s.pace}
	st := &stream{refuse: cancel, drain: func() {}}
	if who.err == nil && who.token != "" {
		st.stands = s.cfg.Standing(who.token)
	}
	if op != nil && op.isSubscription() {
		st.drain = cancel
	}
	if !s.streams.add(st) {
		cancel()
		draining().write(w, acceptedMedia(r.Header))
		return
	}
	defer s.streams.remove(st)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.emit(ctx, op, refusal, e.out); err != nil {
			cancel()
		}
	}()
	defer func() { cancel(); <-done }()
	e.serve(ctx, done)
}

// emit puts all events of an operation into out; an error says that the stream is to be cut.
func (s *Server) emit(ctx context.Context, op *operation, refusal *answer, out *outbox) error {
	next := func(a *answer) error { return out.put(ctx, event("next", a.body())) }
	last := refusal
	switch {
	case refusal != nil:
	case op.isSubscription():
		var cut error
		failed := s.subscribe(ctx, op, func(a *answer) error {
			cut = next(a)
			return cut
		})
		if cut != nil || ctx.Err() != nil {
			return errors.Join(cut, ctx.Err())
		}
		if failed != nil {
			last = notExecuted(failed...)
		}
	default:
		last = s.executed(ctx, op)
	}
	if last != nil {
		if err := next(last); err != nil {
			return err
		}
	}
	return out.put(ctx, event("complete", nil))
}

// event is one as it is written. JSON has no line breaks; without a line of data, browsers
// would not tell of it.
func event(name string, data []byte) []byte {
	b := make([]byte, 0, len("event: ")+len(name)+len("\ndata: ")+len(data)+len("\n\n"))
	b = append(b, "event: "...)
	b = append(b, name...)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}

// events writes a stream of them.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	out     *outbox
	waits   <-chan struct{} // something does, in out
	pace    pace
}

// serve writes until all is written, or ctx ends, or the client is gone.
func (e *events) serve(ctx context.Context, done <-chan struct{}) {
	// The server's time-out for reading a request would end the stream.
	if err := e.control.SetReadDeadline(time.Time{}); err != nil {
		return
	}
	h := e.w.Header()
	h.Set("Content-Type", mediaEvents+"; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if e.write([]byte(comment)) != nil {
		return
	}
	beat := time.NewTicker(e.pace.beat)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-e.waits:
			err = e.writeAll(ctx)
		case <-beat.C:
			err = e.write([]byte(comment))
		case <-done:
			_ = e.writeAll(ctx)
			return
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// writeAll writes what waits.
func (e *events) writeAll(ctx context.Context) error {
	for m, is := e.out.take(); is; m, is = e.out.take() {
		err := e.write(m)
		e.out.written(m)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func (e *events) write(b []byte) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(e.pace.write)); err != nil {
		return err
	}
	if _, err := e.w.Write(b); err != nil {
		return err
	}
	return e.control.Flush()
}

func draining() *answer {
	return refused(http.StatusServiceUnavailable, fault(social.Unavailable, "", "draining"))
}
