package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// panicked is a panic on its way to the presenter.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered turns a panic into an error, with the stack where it happened.
func recovered(_ context.Context, v any) error {
	return &panicked{value: v, stack: debug.Stack()}
}

// presenter puts the errors of execution into the form that clients get, and logs what
// they don't get.
type presenter struct {
	log *slog.Logger
}

func (p presenter) present(ctx context.Context, err error) *gqlerror.Error {
	told := p.told(ctx, err)
	var placed *gqlerror.Error
	if errors.As(err, &placed) {
		told.Path, told.Locations = placed.Path, placed.Locations
	}
	if isArgumentError(ctx) {
		told.Path = graphql.GetPath(ctx) // what follows are names of arguments, not of the answer
	}
	return told
}

// told is the error without its place.
func (p presenter) told(ctx context.Context, err error) *gqlerror.Error {
	var panicked *panicked
	var known *social.Error
	switch {
	case errors.As(err, &panicked):
		return p.internal(ctx, err, slog.String("stack", string(panicked.stack)))
	case errors.As(err, &known):
		if known.Code == social.Unavailable {
			p.report(ctx, slog.LevelWarn, "unavailable", err)
		}
		told := fault(known.Code, known.Field, "%s", known.Message)
		if known.Code == social.RateLimited {
			setRetryAfter(told, known.RetryAfter)
		}
		return told
	case isArgumentError(ctx):
		return argumentError(ctx, err)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		// Drivers tell a lapsed context in many ways; after one, all errors come of it.
		p.report(ctx, slog.LevelWarn, "out of time", err)
		return fault(social.Unavailable, "", "the operation took too long")
	default:
		return p.internal(ctx, err)
	}
}

// internal tells nothing but the id under which the cause is in the log.
func (p presenter) internal(ctx context.Context, err error, attrs ...slog.Attr) *gqlerror.Error {
	p.report(ctx, slog.LevelError, "internal error", err, attrs...)
	return &gqlerror.Error{
		Message:    "internal error",
		Extensions: map[string]any{"code": "INTERNAL", "requestId": requestOf(ctx).id},
	}
}

// report logs a cause, up to maxErrors of a request. When the client has gone, whatever
// fails for that reason is nobody's concern; a panic still is.
func (p presenter) report(ctx context.Context, level slog.Level, message string, err error, attrs ...slog.Attr) {
	var panicked *panicked
	if errors.Is(context.Cause(ctx), context.Canceled) && !errors.As(err, &panicked) {
		level = slog.LevelDebug
	}
	r := requestOf(ctx)
	if r.reported.Add(1) > maxErrors {
		return
	}
	attrs = append(attrs, slog.String("requestId", r.id), slog.String("cause", cause(err).Error()))
	if fc := graphql.GetFieldContext(ctx); fc != nil && fc.Field.Field != nil {
		attrs = append(attrs, slog.String("field", fc.Object+"."+fc.Field.Name))
	}
	p.log.LogAttrs(ctx, level, message, attrs...)
}

// cause is the error below the wrapper that gqlgen puts around it: the wrapper's text
// repeats the message and the place.
func cause(err error) error {
	var placed *gqlerror.Error
	if errors.As(err, &placed) && placed.Err != nil {
		return placed.Err
	}
	return err
}

// isArgumentError says whether the field of ctx failed while its arguments were read:
// gqlgen then calls no resolver and leaves Args nil.
func isArgumentError(ctx context.Context) bool {
	fc := graphql.GetFieldContext(ctx)
	return fc != nil && fc.Args == nil && fc.Field.Field != nil &&
		fc.Field.Definition != nil && len(fc.Field.Definition.Arguments) > 0
}

// argumentError tells what a scalar did not take. gqlgen puts the argument, and the input
// fields below it, behind the path of the field.
func argumentError(ctx context.Context, err error) *gqlerror.Error {
	var field string
	var placed *gqlerror.Error
	if errors.As(err, &placed) {
		at := len(graphql.GetFieldContext(ctx).Path())
		for _, step := range placed.Path[min(at, len(placed.Path)):] {
			if name, ok := step.(ast.PathName); ok {
				field = string(name)
			}
		}
	}
	return fault(social.BadUserInput, field, "%s", inWords(cause(err).Error()))
}
