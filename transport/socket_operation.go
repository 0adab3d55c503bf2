package transport

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// running is an operation under way. It has its id until it is told to be complete, or the
// client says so; then another may have the same.
type running struct {
	id             string
	cancel         context.CancelFunc
	isSubscription bool
}

// subscribeTo begins an operation of any kind.
func (k *socket) subscribeTo(ctx context.Context, m message) {
	var p parameters
	switch {
	case !k.acknowledged:
		k.end(unauthorized, "connection_init first")
		return
	case m.ID == "" || len(m.ID) > maxOperationID:
		k.end(badRequestCode, "subscribe needs an id of at most 256 bytes")
		return
	case k.isTaken(m.ID):
		k.end(takenID, "this id is taken")
		return
	}
	if err := json.Unmarshal(m.Payload, &p); errors.Is(err, errTooManyValues) {
		k.fail(ctx, m.ID, tooManyValues().errors)
		return
	} else if err != nil || m.Payload.Kind() != '{' || p.Query == "" {
		k.end(badRequestCode, "the payload of subscribe is not a GraphQL request")
		return
	}
	params, a := p.checked()
	if a != nil {
		k.fail(ctx, m.ID, a.errors)
		return
	}
	if k.countRunning() >= maxOperations {
		k.fail(ctx, m.ID, gqlerror.List{fault(social.LimitExceeded, "", "at most %d operations at once on a socket", maxOperations)})
		return
	}
	select {
	case k.slots <- struct{}{}: // one that the client has completed may still be ending
	case <-k.ended:
		return
	}
	ctx, cancel := context.WithCancel(withRequest(ctx, rand.Text()))
	r := &running{id: m.ID, cancel: cancel}
	k.mu.Lock()
	k.running[m.ID] = r
	k.mu.Unlock()
	k.work.Go(func() {
		defer func() { <-k.slots }()
		defer cancel()
		k.operate(ctx, r, params)
		k.finish(r)
	})
}

func (k *socket) isTaken(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running[id] != nil
}

func (k *socket) countRunning() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.running)
}

// complete ends an operation because the client wants no more of it.
func (k *socket) complete(id string) {
	if id == "" {
		k.end(badRequestCode, "complete needs an id")
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.running[id]; r != nil {
		delete(k.running, id)
		r.cancel()
	}
}

// operate runs an operation, and tells its answers and its end.
func (k *socket) operate(ctx context.Context, r *running, params *graphql.RawParams) {
	defer func() {
		if v := recover(); v != nil {
			told := presenter{log: k.cfg.Log}.present(ctx, recovered(ctx, v))
			_ = k.tell(ctx, r, errorMessage, encoded(gqlerror.List{told}))
		}
	}()
	from := sender{who: k.identify(ctx, k.authorization), address: k.address}
	ctx, op, a := k.prepare(ctx, from, params)
	if a != nil && a.challenge {
		k.refuse()
		return
	}
	var failed gqlerror.List
	switch {
	case a != nil:
		failed = a.errors
	case op.isSubscription():
		k.setSubscription(r)
		failed = k.subscribe(ctx, op, func(a *answer) error { return k.tell(ctx, r, nextMessage, a.body()) })
		if ctx.Err() != nil {
			return // nobody waits for its end, or it is to be begun anew
		}
	default:
		if a = k.execute(ctx, op); a.data == nil {
			failed = a.errors
		} else if k.tell(ctx, r, nextMessage, a.body()) != nil {
			return
		}
	}
	if failed != nil {
		_ = k.tell(ctx, r, errorMessage, encoded(failed[:min(len(failed), maxErrors)]))
		return
	}
	_ = k.tell(ctx, r, complete, nil)
}

// setSubscription says that the operation goes on for ever, unless the server is ending.
func (k *socket) setSubscription(r *running) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r.isSubscription = true
	if k.draining {
		r.cancel()
	}
}

// finish gives the id back.
func (k *socket) finish(r *running) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running[r.id] == r {
		delete(k.running, r.id)
	}
	k.leaveIfIdle()
}

// tell puts a message of an operation into the outbox while the id is its own; after its
// last one the id is free.
func (k *socket) tell(ctx context.Context, r *running, kind string, payload []byte) error {
	m := message{ID: r.id, Type: kind, Payload: payload}.encoded()
	if err := k.out.reserve(ctx, m); err != nil {
		if errors.Is(err, errSlow) {
			k.slow()
		}
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running[r.id] != r {
		k.out.written(m)
		return context.Canceled
	}
	if kind != nextMessage {
		delete(k.running, r.id)
	}
	k.out.push(m)
	return nil
}

// fail answers an operation that was not begun.
func (k *socket) fail(ctx context.Context, id string, errs gqlerror.List) {
	k.say(ctx, message{ID: id, Type: errorMessage, Payload: encoded(errs)})
}
