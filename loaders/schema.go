package loaders

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// schema gives every response loaders of its own.
type schema struct {
	graphql.ExecutableSchema
	from Sources
}

// Schema executes operations with loaders: a query or mutation with those of the request,
// a subscription with new ones for each event, so that none shows what was read for an
// earlier one. The ctx of each response has to name the viewer.
//
// Errors that the resolver of a subscription adds to its ctx before it ends the stream make
// the last response.
func Schema(es graphql.ExecutableSchema, from Sources) graphql.ExecutableSchema {
	return schema{es, from}
}

// Exec prepares an operation; the handler it gives executes one response.
func (s schema) Exec(ctx context.Context) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		next := s.ExecutableSchema.Exec(ctx)
		return func(ctx context.Context) *graphql.Response { return next(With(ctx, s.from)) }
	}
	asked := make(chan context.Context, 1)
	next := s.ExecutableSchema.Exec(context.WithValue(ctx, askedKey{}, asked))
	ended := false
	return func(event context.Context) *graphql.Response {
		event = With(event, s.from)
		select {
		case asked <- event:
		default: // the last asking was in vain
		}
		r := next(event)
		if r != nil || ended {
			return r
		}
		ended = true
		if errs := graphql.GetErrors(ctx); errs != nil {
			return &graphql.Response{Errors: errs}
		}
		return nil
	}
}

type askedKey struct{}

// Asked gives, to the resolver of a subscription, the ctx of the next event once that is
// asked for: the one before it has been executed by then. Receive once for each event,
// before it is sent.
func Asked(ctx context.Context) <-chan context.Context {
	asked, _ := ctx.Value(askedKey{}).(chan context.Context)
	return asked
}
