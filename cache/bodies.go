package cache

import (
	"context"
	"crypto/rand"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// maxLocal is how many people, blogs and counts a server keeps in process, of each.
const maxLocal = 20_000

// Bodies reads people, blogs and counts by id: in process where the request may, counts in
// Redis then, and last in SQL. What comes from process may be a second old, and is never
// older than a write of the viewer's own. Nobody may change the values. Safe for parallel
// use.
type Bodies struct {
	state  *State
	db     *db.DB
	users  *Local[social.ID, *social.User]
	blogs  *Local[social.ID, *social.Blog]
	counts *Local[social.ID, social.Counts]
}

// NewBodies keeps nothing yet.
func NewBodies(s *State) *Bodies {
	b := &Bodies{state: s, db: s.db}
	b.users = NewLocal(maxLocal, b.readUsers)
	b.blogs = NewLocal(maxLocal, b.readBlogs)
	b.counts = NewLocal(maxLocal, b.readCounts)
	return b
}

// Users reads those people that exist. At most 900 ids.
func (b *Bodies) Users(ctx context.Context, ids []social.ID) (map[social.ID]*social.User, error) {
	return read(ctx, b.state, b.users, b.readUsers, ids)
}

// Blogs reads those blogs that are published. At most 900 ids.
func (b *Bodies) Blogs(ctx context.Context, ids []social.ID) (map[social.ID]*social.Blog, error) {
	return read(ctx, b.state, b.blogs, b.readBlogs, ids)
}

// Counts reads the sizes of people's lists. At most 900 ids.
func (b *Bodies) Counts(ctx context.Context, ids []social.ID) (map[social.ID]social.Counts, error) {
	return read(ctx, b.state, b.counts, b.readCounts, ids)
}

func read[V any](ctx context.Context, s *State, local *Local[social.ID, V],
	direct func(context.Context, []social.ID) (map[social.ID]V, error), ids []social.ID,
) (map[social.ID]V, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if s.mayReadLocal(ctx) {
		return local.Get(ctx, ids)
	}
	return direct(ctx, ids)
}

func (b *Bodies) readUsers(ctx context.Context, ids []social.ID) (map[social.ID]*social.User, error) {
	users, err := b.db.UsersByID(ctx, ids)
	found := make(map[social.ID]*social.User, len(users))
	for _, u := range users {
		found[u.ID] = u
	}
	return found, err
}

func (b *Bodies) readBlogs(ctx context.Context, ids []social.ID) (map[social.ID]*social.Blog, error) {
	blogs, err := b.db.BlogsByID(ctx, ids)
	found := make(map[social.ID]*social.Blog, len(blogs))
	for _, blog := range blogs {
		found[blog.ID] = blog
	}
	return found, err
}

// readCounts reads counts in Redis, and where those are missing in SQL, one statement, and
// stores them.
func (b *Bodies) readCounts(ctx context.Context, ids []social.ID) (map[social.ID]social.Counts, error) {
	token := rand.Text()
	epochs := map[int]int64{}
	var takes []rdb.Counts
	var calls []*rdb.Call
	var missing, fillable []social.ID
	for _, id := range ids {
		epoch, on := b.state.Epoch(rdb.Partition(id))
		if !on {
			missing = append(missing, id)
			continue
		}
		take := rdb.TakeCounts(id, token)
		epochs[take.Call.Part] = epoch
		takes, calls = append(takes, take), append(calls, take.Call)
	}
	epochOf := func(part int) int64 { return epochs[part] }
	b.state.redis.Run(ctx, epochOf, calls...)
	counts := make(map[social.ID]social.Counts, len(ids))
	for _, take := range takes {
		n, known := take.Answer()
		switch {
		case take.Call.Err() != nil:
			b.state.Failed(ctx, take.Call.Part)
			missing = append(missing, take.Who)
		case known:
			counts[take.Who] = n
		default:
			missing, fillable = append(missing, take.Who), append(fillable, take.Who)
		}
	}
	if len(missing) == 0 {
		return counts, nil
	}
	read, err := b.db.CountsByID(ctx, missing)
	if err != nil {
		return nil, err
	}
	var fills []*rdb.Call
	for _, id := range fillable {
		if n, ok := read[id]; ok {
			fills = append(fills, rdb.FillCounts(id, token, n))
		}
	}
	b.state.redis.Run(ctx, epochOf, fills...)
	for id, n := range read {
		counts[id] = n
	}
	return counts, nil
}

// Heard drops from this process what an event says has changed.
func (b *Bodies) Heard(body any) {
	switch e := body.(type) {
	case social.FollowBody:
		for _, c := range e.Changes {
			b.counts.Drop(c.UserID, c.TargetID)
		}
	case social.BlogBody:
		b.blogs.Drop(e.BlogID)
		b.counts.Drop(e.AuthorID)
	case social.UserBody:
		b.users.Drop(e.UserID)
	}
}

// Clear drops all that this process keeps.
func (b *Bodies) Clear() {
	b.users.Clear()
	b.blogs.Clear()
	b.counts.Clear()
}
