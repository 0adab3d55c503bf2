package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"kith/graph"
	"kith/loaders"
	"kith/notify"
	"kith/social"
)

// maxNodes bounds the ids of one call of nodes.
const maxNodes = 100

func (r query) Node(ctx context.Context, id string) (graph.Node, error) {
	t, key, err := social.ParseGlobalID("id", id)
	if err != nil {
		return nil, err
	}
	nodes, err := visibleNodes(ctx, map[social.NodeType][]social.ID{t: {key}})
	return nodes[id], err
}

// Nodes answers null and an error in the place of what is not an id; the others stand.
func (r query) Nodes(ctx context.Context, ids []string) ([]graph.Node, error) {
	if len(ids) > maxNodes {
		return nil, social.Invalid("ids", "at most %d ids", maxNodes)
	}
	byType := map[social.NodeType][]social.ID{}
	for i, id := range ids {
		t, key, err := social.ParseGlobalID("ids", id)
		if err != nil {
			at := graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i})
			graphql.AddError(at, err)
			continue
		}
		byType[t] = append(byType[t], key)
	}
	found, err := visibleNodes(ctx, byType)
	nodes := make([]graph.Node, len(ids))
	for i, id := range ids {
		nodes[i] = found[id]
	}
	return nodes, err
}

// visibleNotifications adds lines of the viewer's.
func visibleNotifications(ctx context.Context, ids []social.ID, found map[string]graph.Node) error {
	read, err := loaders.From(ctx).Notifications.All(ctx, ids)
	if err != nil {
		return err
	}
	var lines []notify.Line
	for _, n := range read {
		if n != nil {
			lines = append(lines, notify.Line{Notification: n})
		}
	}
	visible, err := visibleLines(ctx, lines)
	for _, l := range visible {
		found[l.GlobalID()] = l.Notification
	}
	return err
}

// visibleNodes reads what is visible of these ids, by global id.
func visibleNodes(ctx context.Context, ids map[social.NodeType][]social.ID) (map[string]graph.Node, error) {
	found := map[string]graph.Node{}
	people, err := loaders.From(ctx).People.All(ctx, ids[social.UserNode])
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		if p.User != nil {
			found[p.User.GlobalID()] = p.User
		}
	}
	blogs, err := loaders.From(ctx).Blogs.All(ctx, ids[social.BlogNode])
	for _, b := range blogs {
		if b != nil {
			found[b.GlobalID()] = b
		}
	}
	if err != nil {
		return nil, err
	}
	return found, visibleNotifications(ctx, ids[social.NotificationNode], found)
}
