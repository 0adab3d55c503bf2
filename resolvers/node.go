package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"kith/graph"
	"kith/loaders"
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

// visibleNodes reads what is visible of these ids, by global id.
func visibleNodes(ctx context.Context, ids map[social.NodeType][]social.ID) (map[string]graph.Node, error) {
	found := map[string]graph.Node{}
	users, err := loaders.From(ctx).Users.All(ctx, ids[social.UserNode])
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if u != nil {
			found[u.GlobalID()] = u
		}
	}
	blogs, err := visibleBlogs(ctx, ids[social.BlogNode])
	for _, b := range blogs {
		found[b.GlobalID()] = b
	}
	return found, err
}

// visibleBlogs reads the blogs that are there and whose authors are.
func visibleBlogs(ctx context.Context, ids []social.ID) ([]*social.Blog, error) {
	blogs, err := loaders.From(ctx).Blogs.All(ctx, ids)
	if err != nil {
		return nil, err
	}
	var authorIDs []social.ID
	var there []*social.Blog
	for _, b := range blogs {
		if b != nil {
			there, authorIDs = append(there, b), append(authorIDs, b.AuthorID)
		}
	}
	authors, err := loaders.From(ctx).Users.All(ctx, authorIDs)
	if err != nil {
		return nil, err
	}
	visible := there[:0]
	for i, b := range there {
		if authors[i] != nil {
			visible = append(visible, b)
		}
	}
	return visible, nil
}
