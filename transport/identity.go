package transport

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
)

// tokenForm is that of a bearer token in RFC 6750.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// maxToken bounds a token in bytes; none of ours is near it.
const maxToken = 4096

// identity is who asks.
type identity struct {
	viewer social.ID // 0 for nobody
	token  string    // the bearer token
	err    error     // why the header is refused, or cannot be judged
}

// identify says who asks, by the Authorization headers: nobody without one, else the person
// whom the token names. A header that is malformed or a token that is refused is an error.
func (s *Server) identify(ctx context.Context, headers []string) identity {
	if len(headers) == 0 {
		return identity{}
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimLeft(token, " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") ||
		len(token) > maxToken || !tokenForm.MatchString(token) {
		return identity{err: social.Errorf(social.Unauthenticated, "the header is malformed")}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	who := identity{token: token}
	who.viewer, who.err = s.cfg.Viewer(ctx, token)
	return who
}

// may says whether the operation may run, and as whose. A refused token bars all but two:
// apps send an expired one with signing in too, and refusing that would lock them out; and
// whose token has ended is told that they are signed out.
func (who identity) may(op *ast.OperationDefinition) (viewer social.ID, ok bool) {
	switch {
	case who.err == nil:
		return who.viewer, true
	case only(op, "signIn", "signUp"):
		return 0, true
	}
	return who.viewer, errors.Is(who.err, social.ErrTokenEnded) && only(op, "signOut")
}

// only says whether an operation asks for these fields of the root alone.
func only(op *ast.OperationDefinition, names ...string) bool {
	return onlyFields(op.SelectionSet, append(names, "__typename"), make(map[string]bool))
}

func onlyFields(set ast.SelectionSet, names []string, seen map[string]bool) bool {
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			if !slices.Contains(names, it.Name) {
				return false
			}
		case *ast.InlineFragment:
			if !onlyFields(it.SelectionSet, names, seen) {
				return false
			}
		case *ast.FragmentSpread:
			if it.Definition == nil || seen[it.Name] {
				continue
			}
			seen[it.Name] = true
			if !onlyFields(it.Definition.SelectionSet, names, seen) {
				return false
			}
		}
	}
	return true
}

// refusal refuses a whole request: a client that believes it is signed in must not be
// answered as a stranger. Where nobody can say now whether it is, the token may be good.
func (s *Server) refusal(ctx context.Context, who identity) *answer {
	if !social.HasCode(who.err, social.Unauthenticated) {
		status := http.StatusInternalServerError
		if social.HasCode(who.err, social.Unavailable) {
			status = http.StatusServiceUnavailable
		}
		return refused(status, presenter{log: s.cfg.Log}.present(ctx, who.err))
	}
	a := refused(http.StatusUnauthorized,
		fault(social.Unauthenticated, "", "the token is malformed, expired or not known: sign in again"))
	a.challenge = true
	return a
}

// SignedIn is the directive @signedIn: the field needs a viewer.
func SignedIn(ctx context.Context, _ any, next graphql.Resolver) (any, error) {
	if social.Viewer(ctx) == 0 {
		return nil, social.Errorf(social.Unauthenticated, "sign in first")
	}
	return next(ctx)
}
