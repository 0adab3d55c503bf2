package cache

import (
	"context"
	"crypto/rand"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// maxLocal is how many people, blogs, counts and handles a server keeps in process, of each.
const maxLocal = 20_000

// Bodies reads people, blogs and counts by id, ids by handle, and lists of followers: in
// process where the request may, counts in Redis then, and last in SQL. What comes from process may be a second old, and is never
// older than a write of the viewer's own. Nobody may change the values. Safe for parallel
// use.
type Bodies struct {
	state  *State
	db     *db.DB
	users  *Local[social.ID, *social.User]
	blogs  *Local[social.ID, *social.Blog]
	counts *Local[social.ID, social.Counts]
	ids    *Local[string, social.ID]
	heads  *heads
}

// NewBodies keeps nothing yet.
func NewBodies(s *State) *Bodies {
	b := &Bodies{state: s, db: s.db}
	b.users = NewLocal(maxLocal, marked(b.readUsers))
	b.blogs = NewLocal(maxLocal, b.readBlogs)
	b.counts = NewLocal(maxLocal, marked(b.readCounts))
	b.ids = NewLocal(maxLocal, marked(s.db.IDsByHandle))
	b.heads = newHeads(s)
	return b
}

// marked reads the zero value for what is not there, so that this is kept too: whoever asks
// for nobody again and again does not reach SQL each time.
func marked[K comparable, V any](read func(context.Context, []K) (map[K]V, error)) func(context.Context, []K) (map[K]V, error) {
	return func(ctx context.Context, keys []K) (map[K]V, error) {
		found, err := read(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if _, ok := found[k]; !ok {
				var nobody V
				found[k] = nobody
			}
		}
		return found, nil
	}
}

// Users reads those people that exist; others are absent or nil. At most 900 ids.
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

// Handles reads whose these handles are; what is nobody's is absent or 0. At most 900
// handles.
func (b *Bodies) Handles(ctx context.Context, handles []string) (map[string]social.ID, error) {
	return read(ctx, b.state, b.ids, b.db.IDsByHandle, handles)
}

func read[K comparable, V any](ctx context.Context, s *State, local *Local[K, V],
	direct func(context.Context, []K) (map[K]V, error), keys []K,
) (map[K]V, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	if s.mayReadLocal(ctx) {
		return local.Get(ctx, keys)
	}
	return direct(ctx, keys)
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
			b.heads.known.Drop(c.TargetID)
		}
	case social.BlogBody:
		b.blogs.Drop(e.BlogID)
		b.counts.Drop(e.AuthorID)
	case social.UserBody:
		b.users.Drop(e.UserID)
		b.counts.Drop(e.UserID)
		b.ids.Clear() // of whom somebody new may be, the event does not tell
	}
}

// Clear drops all that this process keeps.
func (b *Bodies) Clear() {
	b.users.Clear()
	b.blogs.Clear()
	b.counts.Clear()
	b.ids.Clear()
	b.heads.known.Clear()
}
