// Package resolvers turns GraphQL into calls of verbs and their answers back: decode ids,
// call one verb, return. It holds no rules, no SQL and no state.
package resolvers

import (
	"context"

	"kith/account"
	"kith/feed"
	"kith/follow"
	"kith/graph"
	"kith/loaders"
	"kith/social"
)

// Root resolves the schema by the verbs.
type Root struct {
	Accounts *account.Accounts
	Graph    *follow.Graph
	Feed     *feed.Feed
}

// The types below are Root under the names that the generated code asks for.
type (
	query          struct{ *Root }
	mutation       struct{ *Root }
	user           struct{ *Root }
	blog           struct{ *Root }
	userConnection struct{ *Root }
)

// Query resolves the fields of Query.
func (r *Root) Query() graph.QueryResolver { return query{r} }

// Mutation resolves the fields of Mutation.
func (r *Root) Mutation() graph.MutationResolver { return mutation{r} }

// User resolves the fields of User that are not columns.
func (r *Root) User() graph.UserResolver { return user{r} }

// Blog resolves the fields of Blog that are not columns.
func (r *Root) Blog() graph.BlogResolver { return blog{r} }

// UserConnection resolves totalCount.
func (r *Root) UserConnection() graph.UserConnectionResolver { return userConnection{r} }

// viewer loads the person who asks; nil for nobody.
func viewer(ctx context.Context) (*social.User, error) {
	id := social.Viewer(ctx)
	if id == 0 {
		return nil, nil //nolint:nilnil // null is GraphQL's answer
	}
	return loaders.From(ctx).Users.Load(ctx, id)
}

// viewerAnd loads the person who asks and another, in one look-up.
func viewerAnd(ctx context.Context, other social.ID) (viewer, user *social.User, err error) {
	users, err := loaders.From(ctx).Users.All(ctx, []social.ID{social.Viewer(ctx), other})
	if err != nil {
		return nil, nil, err
	}
	return users[0], users[1], nil
}
