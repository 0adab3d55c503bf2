// Package resolvers turns GraphQL into calls of verbs and their answers back: decode ids,
// call one verb, return. It holds no rules, no SQL and no state.
package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/account"
	"kith/feed"
	"kith/follow"
	"kith/graph"
	"kith/like"
	"kith/loaders"
	"kith/notify"
	"kith/social"
)

// Root resolves the schema by the verbs.
type Root struct {
	Accounts *account.Accounts
	Graph    *follow.Graph
	Feed     *feed.Feed
	Live     *feed.Live
	Likes    *like.Likes
	// LikeCounts are what subscriptions to counts hear of.
	LikeCounts *like.Live
	Told       *notify.Notifications
	// News is what subscriptions to notifications hear of.
	News *notify.Live
	// Seal closes the cursors of lists of people.
	Seal *social.Seal
}

// The types below are Root under the names that the generated code asks for.
type (
	query          struct{ *Root }
	mutation       struct{ *Root }
	subscription   struct{ *Root }
	user           struct{ *Root }
	blog           struct{ *Root }
	userConnection struct{ *Root }

	notification           struct{ *Root }
	notificationConnection struct{ *Root }
)

// Query resolves the fields of Query.
func (r *Root) Query() graph.QueryResolver { return query{r} }

// Mutation resolves the fields of Mutation.
func (r *Root) Mutation() graph.MutationResolver { return mutation{r} }

// Subscription resolves the fields of Subscription.
func (r *Root) Subscription() graph.SubscriptionResolver { return subscription{r} }

// User resolves the fields of User that are not columns.
func (r *Root) User() graph.UserResolver { return user{r} }

// Blog resolves the fields of Blog that are not columns.
func (r *Root) Blog() graph.BlogResolver { return blog{r} }

// Notification resolves the fields of Notification that are not columns.
func (r *Root) Notification() graph.NotificationResolver { return notification{r} }

// NotificationConnection resolves unreadCount.
func (r *Root) NotificationConnection() graph.NotificationConnectionResolver {
	return notificationConnection{r}
}

// UserConnection resolves totalCount.
func (r *Root) UserConnection() graph.UserConnectionResolver { return userConnection{r} }

// viewer loads the person who asks; nil for nobody.
func viewer(ctx context.Context) (*social.User, error) {
	id := social.Viewer(ctx)
	if id == 0 {
		return nil, nil //nolint:nilnil // null is GraphQL's answer
	}
	seen, err := loaders.From(ctx).People.Load(ctx, id)
	return seen.User, err
}

// after loads what the request asks, in any of these fields, of the payload of a change that is
// committed; where it asks none of them, nothing. When that fails they are null with its error,
// and the payload stands, for else the client would try again.
func after[T any](ctx context.Context, load func() (T, error), fields ...string) (v T) {
	keys := asked(ctx, fields)
	if len(keys) == 0 {
		return v
	}
	v, err := load()
	if err != nil {
		for _, key := range keys {
			graphql.AddError(ctx, gqlerror.WrapPath(append(graphql.GetPath(ctx), ast.PathName(key)), err))
		}
	}
	return v
}

// asked gives the keys in the answer under which the request asks for these fields of a payload.
func asked(ctx context.Context, fields []string) (keys []string) {
	selected := graphql.GetFieldContext(ctx).Field.Selections
	for _, f := range graphql.CollectFields(graphql.GetOperationContext(ctx), selected, nil) {
		if slices.Contains(fields, f.Name) {
			keys = append(keys, f.Alias)
		}
	}
	return keys
}

// viewerAfter loads the person who asks for the payload of a change, which has them in these
// fields.
func viewerAfter(ctx context.Context, fields ...string) *social.User {
	loaders.Renew(ctx)
	return after(ctx, func() (*social.User, error) { return viewer(ctx) }, fields...)
}
