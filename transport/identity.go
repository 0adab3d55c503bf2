package transport

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"kith/social"
)

// tokenForm is that of a bearer token in RFC 6750.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// maxToken bounds a token in bytes; none of ours is near it.
const maxToken = 4096

// identify says who asks: nobody without an Authorization header, else the person whom
// the token names. ok is false for a header that is malformed or a token that is refused.
func (s *server) identify(h http.Header) (viewer social.ID, ok bool) {
	headers := h.Values("Authorization")
	if len(headers) == 0 {
		return 0, true
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	token = strings.TrimLeft(token, " ")
	if len(headers) > 1 || !strings.EqualFold(scheme, "Bearer") ||
		len(token) > maxToken || !tokenForm.MatchString(token) {
		return 0, false
	}
	viewer, err := s.cfg.Viewer(token)
	if err != nil || viewer <= 0 {
		return 0, false
	}
	return viewer, true
}

// isEntrance says whether an operation only signs in or up. Apps send an expired token
// with that too; refusing it would lock them out.
func isEntrance(op *ast.OperationDefinition) bool {
	return onlyEntrances(op.SelectionSet, make(map[string]bool))
}

func onlyEntrances(set ast.SelectionSet, seen map[string]bool) bool {
	for _, selection := range set {
		switch it := selection.(type) {
		case *ast.Field:
			if it.Name != "signIn" && it.Name != "signUp" && it.Name != "__typename" {
				return false
			}
		case *ast.InlineFragment:
			if !onlyEntrances(it.SelectionSet, seen) {
				return false
			}
		case *ast.FragmentSpread:
			if it.Definition == nil || seen[it.Name] {
				continue
			}
			seen[it.Name] = true
			if !onlyEntrances(it.Definition.SelectionSet, seen) {
				return false
			}
		}
	}
	return true
}

// unauthenticated refuses a whole request: a client that believes it is signed in must
// not be answered as a stranger.
func unauthenticated() *answer {
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
