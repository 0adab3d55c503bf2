package social

import (
	"context"
	"net/netip"
)

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

type tokenKey struct{}

// WithToken says by which bearer token the viewer of ctx is known.
func WithToken(ctx context.Context, token string) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// Token is the bearer token that came with the request, empty for none.
func Token(ctx context.Context) string {
	token, _ := ctx.Value(tokenKey{}).(string)
	return token
}

type addressKey struct{}

// WithAddress says from which network address the work of ctx was asked for.
func WithAddress(ctx context.Context, address netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Address is the network address of whoever asked, the zero Addr where there is none.
func Address(ctx context.Context) netip.Addr {
	a, _ := ctx.Value(addressKey{}).(netip.Addr)
	return a
}
