package social

import "context"

type viewerKey struct{}

// WithViewer says on whose behalf the work of ctx is done.
func WithViewer(ctx context.Context, viewer ID) context.Context {
	return context.WithValue(ctx, viewerKey{}, viewer)
}

// Viewer is the person on whose behalf ctx works, or 0 for nobody signed in.
func Viewer(ctx context.Context) ID {
	id, _ := ctx.Value(viewerKey{}).(ID)
	return id
}
