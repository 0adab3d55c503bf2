package transport

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// subscribe runs a subscription until it ends, or ctx or send does, and hands on the answer
// of each event. It gives the errors that ended it, if there are some to tell.
func (s *Server) subscribe(ctx context.Context, op *operation, send func(*answer) error) (failed gqlerror.List) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer func() {
		if v := recover(); v != nil {
			failed = gqlerror.List{presenter{log: s.cfg.Log}.present(ctx, recovered(ctx, v))}
		}
	}()
	fields := graphql.CollectFields(op.OperationContext, op.Operation.SelectionSet, []string{"Subscription"})
	if len(fields) != 1 {
		return gqlerror.List{fault(social.BadUserInput, "", "a subscription has one field, and that is not skipped")}
	}
	t := timer{after: s.cfg.Timeout}
	defer t.stop()
	op.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) {
		t.begin()
		return next(ctx)
	}
	t.watch(end)
	next, ctx := s.exec.DispatchOperation(ctx, op.OperationContext)
	t.stop()
	for {
		result := oneEvent(ctx, &t, fields[0], next)
		switch {
		case result == nil:
			return nil
		case result.Data == nil:
			return result.Errors
		case send(&answer{errors: result.Errors, data: result.Data, cost: &op.cost}) != nil:
			return nil
		}
	}
}

// oneEvent waits for the next event and executes it. Of that gqlgen tells the fields below
// the subscription's own, so the path of errors needs to be told how it begins.
func oneEvent(ctx context.Context, t *timer, field graphql.CollectedField, next graphql.ResponseHandler) *graphql.Response {
	ctx, cancel := context.WithCancelCause(withRequest(ctx, rand.Text()))
	defer cancel(nil)
	t.watch(cancel)
	defer t.stop()
	return next(graphql.WithFieldContext(ctx, &graphql.FieldContext{
		Object: "Subscription", Field: field, Args: map[string]any{},
	}))
}

// timer ends an execution that takes too long. Its time begins with the first field: before
// that, a subscription waits for an event, as long as that may take.
type timer struct {
	after time.Duration

	mu     sync.Mutex
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (t *timer) watch(cancel context.CancelCauseFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancel = cancel
}

func (t *timer) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cancel := t.cancel; cancel != nil && t.timer == nil {
		t.timer = time.AfterFunc(t.after, func() { cancel(context.DeadlineExceeded) })
	}
}

func (t *timer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer, t.cancel = nil, nil
}
