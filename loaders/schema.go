package loaders

import (
	"context"
	"errors"

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
func Schema(es graphql.ExecutableSchema, from Sources) graphql.ExecutableSchema {
	return schema{es, from}
}

// Exec prepares an operation; the handler it gives executes one response.
func (s schema) Exec(ctx context.Context) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		next := s.ExecutableSchema.Exec(ctx)
		return func(ctx context.Context) *graphql.Response { return next(With(ctx, s.from)) }
	}
	var f feeder
	next := s.ExecutableSchema.Exec(context.WithValue(ctx, feederKey{}, &f))
	return func(event context.Context) *graphql.Response {
		if f.ended {
			return nil
		}
		event = With(event, s.from)
		if f.feed == nil { // the resolver has failed
			return next(event)
		}
		if err := f.feed(event); err != nil {
			f.ended = true
			if event.Err() != nil || errors.Is(err, ErrEnd) {
				return nil
			}
			graphql.AddError(event, err)
			return &graphql.Response{}
		}
		return next(event)
	}
}

// ErrEnd ends a subscription that has told all there is to tell.
var ErrEnd = errors.New("the subscription has ended")

// feeder is what gives a subscription its events.
type feeder struct {
	feed  func(event context.Context) error
	ended bool
}

type feederKey struct{}

// Feed is for the resolver of a subscription, in place of a goroutine that would wait beside
// the one that executes events: feed is called when the next event is asked for, with the ctx
// it is executed under. It puts the event into the resolver's channel, which needs room for
// one; an error but [ErrEnd] is told as the last response.
func Feed(ctx context.Context, feed func(event context.Context) error) {
	ctx.Value(feederKey{}).(*feeder).feed = feed
}
