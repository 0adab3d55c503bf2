package transport

import (
	"context"
	"net/netip"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
)

// sender is who sends an operation, and from where.
type sender struct {
	who     identity
	address netip.Addr
	// readOnly is how GET sends, which foreign pages can.
	readOnly bool
}

// operation is one that may run: found, permitted, and within the limits.
type operation struct {
	*graphql.OperationContext
	cost cost
}

func (op *operation) isSubscription() bool { return op.Operation.Operation == ast.Subscription }

// prepare finds the operation, and says whether its sender may run it, whether its variables
// fit and whether its lists are not too large: the one way of all transports. It gives the
// context to run it under, or the answer that refuses it.
func (s *Server) prepare(ctx context.Context, from sender, params *graphql.RawParams) (context.Context, *operation, *answer) {
	doc, errs := s.documents.of(params.Query)
	if errs != nil {
		if from.who.err != nil {
			return ctx, nil, s.refusal(ctx, from.who)
		}
		return ctx, nil, notExecuted(errs...)
	}
	def, err := doc.operation(params.OperationName)
	if err != nil {
		if from.who.err != nil {
			return ctx, nil, s.refusal(ctx, from.who)
		}
		return ctx, nil, notExecuted(err)
	}
	if from.readOnly && def.Operation == ast.Mutation {
		return ctx, nil, notByGet()
	}
	viewer, ok := from.who.may(def)
	if !ok {
		return ctx, nil, s.refusal(ctx, from.who)
	}
	ctx = social.WithAddress(ctx, from.address)
	ctx = social.WithToken(social.WithViewer(ctx, viewer), from.who.token)
	ctx = graphql.StartOperationTrace(context.WithValue(ctx, documentKey{}, doc))
	op, errs := s.exec.CreateOperationContext(ctx, params)
	if errs != nil {
		// The document is known to be good: what is left are the variables.
		return ctx, nil, notExecuted(doc.variableError(def, errs[0]))
	}
	op.DisableIntrospection = !s.cfg.Introspection
	if err := doc.checkVariables(s.documents.schema, op.Operation, op.Variables); err != nil {
		return ctx, nil, notExecuted(err)
	}
	counted, err := doc.costOf(op.Operation, op.Variables)
	if err != nil {
		return ctx, nil, notExecuted(err)
	}
	return ctx, &operation{op, counted}, nil
}

// execute runs a query or a mutation.
func (s *Server) execute(ctx context.Context, op *operation) *answer {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	next, ctx := s.exec.DispatchOperation(ctx, op.OperationContext)
	result := next(ctx)
	if result == nil {
		// Out of time before the first resolver, or the client is gone.
		return outOfTime()
	}
	return &answer{errors: result.Errors, data: result.Data, cost: &op.cost}
}

// executed is execute where nothing above catches a panic.
func (s *Server) executed(ctx context.Context, op *operation) (a *answer) {
	defer func() {
		if v := recover(); v != nil {
			a = notExecuted(presenter{log: s.cfg.Log}.present(ctx, recovered(ctx, v)))
		}
	}()
	return s.execute(ctx, op)
}
