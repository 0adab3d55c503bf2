package transport

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
)

// graphql answers one request at /graphql.
func (s *server) graphql(w http.ResponseWriter, r *http.Request) {
	params, a := read(w, r)
	if a == nil {
		a = s.answer(r, params)
	}
	a.write(w, acceptedMedia(r.Header))
}

// answer finds the operation and who asks for it, and runs it.
func (s *server) answer(r *http.Request, params *graphql.RawParams) *answer {
	who := s.identify(r.Context(), r.Header)
	doc, errs := s.documents.of(params.Query)
	if errs != nil {
		if who.err != nil {
			return s.refusal(r.Context(), who)
		}
		return notExecuted(errs...)
	}
	op, err := doc.operation(params.OperationName)
	if err != nil {
		if who.err != nil {
			return s.refusal(r.Context(), who)
		}
		return notExecuted(err)
	}
	if r.Method == http.MethodGet && op.Operation != ast.Query {
		a := refused(http.StatusMethodNotAllowed,
			fault(social.BadUserInput, "", "GET takes queries alone: send a %s by POST", op.Operation))
		a.allow = http.MethodPost
		return a
	}
	viewer, ok := who.may(op)
	if !ok {
		return s.refusal(r.Context(), who)
	}
	ctx := social.WithAddress(r.Context(), clientAddress(r, s.cfg.TrustedProxies))
	ctx = social.WithToken(social.WithViewer(ctx, viewer), who.token)
	return s.execute(ctx, doc, params)
}

// execute runs an operation that may run, if its variables fit and its lists are not too
// large.
func (s *server) execute(ctx context.Context, doc *document, params *graphql.RawParams) *answer {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()

	ctx = graphql.StartOperationTrace(context.WithValue(ctx, documentKey{}, doc))
	op, errs := s.exec.CreateOperationContext(ctx, params)
	if errs != nil {
		// The document is known to be good: what is left are the variables.
		return notExecuted(doc.variableError(doc.ast.Operations.ForName(params.OperationName), errs[0]))
	}
	op.DisableIntrospection = !s.cfg.Introspection
	if err := doc.checkVariables(s.documents.schema, op.Operation, op.Variables); err != nil {
		return notExecuted(err)
	}
	counted, err := doc.costOf(op.Operation, op.Variables)
	if err != nil {
		return notExecuted(err)
	}

	next, ctx := s.exec.DispatchOperation(s.cfg.Operation(ctx), op)
	result := next(ctx)
	if result == nil {
		// Out of time before the first resolver, or the client is gone.
		return refused(http.StatusServiceUnavailable,
			fault(social.Unavailable, "", "the operation took too long"))
	}
	return &answer{errors: result.Errors, data: result.Data, cost: &counted}
}
