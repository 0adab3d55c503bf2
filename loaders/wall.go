package loaders

import (
	"context"

	"kith/social"
)

// Seen is a person as the viewer sees them; the zero Seen is nobody.
type Seen struct {
	User  *social.User
	Sight social.Sight
}

// wall reads people and blogs and leaves out what the viewer shall not see.
type wall struct {
	*Loaders
	from   Sources
	viewer social.ID
}

// people reads bodies, and how the viewer and these people stand to each other. Nobody's
// view follows from the bodies, which may be a second old; a viewer's never does.
func (w *wall) people(ctx context.Context, ids []social.ID) (map[social.ID]Seen, error) {
	users, err := w.from.Bodies.Users(ctx, ids)
	if err != nil {
		return nil, err
	}
	var others []social.ID
	for id, u := range users {
		if u != nil && id != w.viewer {
			others = append(others, id)
		}
	}
	relations, err := w.relations(ctx, others)
	if err != nil {
		return nil, err
	}
	seen := make(map[social.ID]Seen, len(users))
	for id, u := range users {
		if u == nil { // known to be nobody
			continue
		}
		r := relations[id]
		if w.viewer == 0 || id == w.viewer {
			r = social.Relation{IsThere: true, IsPrivate: u.IsPrivate}
		}
		w.Relations.Prime(ctx, id, r)
		if sight := social.See(w.viewer, id, r); sight != social.Nothing {
			seen[id] = Seen{User: u, Sight: sight}
		}
	}
	return seen, nil
}

// relations reads how the viewer and these people stand to each other, from rows alone.
func (w *wall) relations(ctx context.Context, ids []social.ID) (map[social.ID]social.Relation, error) {
	if w.viewer == 0 || len(ids) == 0 {
		return nil, nil
	}
	return w.from.DB.Relations(ctx, w.viewer, ids)
}

// blogs reads blogs whose authors the viewer sees everything of.
func (w *wall) blogs(ctx context.Context, ids []social.ID) (map[social.ID]*social.Blog, error) {
	blogs, err := w.from.Bodies.Blogs(ctx, ids)
	if err != nil {
		return nil, err
	}
	authors := make([]social.ID, 0, len(blogs))
	there := make([]*social.Blog, 0, len(blogs))
	for _, b := range blogs {
		if b != nil {
			there, authors = append(there, b), append(authors, b.AuthorID)
		}
	}
	seen, err := w.People.All(ctx, authors)
	if err != nil {
		return nil, err
	}
	visible := make(map[social.ID]*social.Blog, len(blogs))
	for i, b := range there {
		if seen[i].Sight == social.Everything {
			visible[b.ID] = b
		}
	}
	return visible, nil
}
