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

// Bodies reads people, blogs and counts by id, ids by handle, and lists of followers and of
// likers: in process where the request may, counts in Redis then, and last in SQL. What comes
// from process may be a second old, and is never older than a write of the viewer's own.
// Nobody may change the values. Safe for parallel use.
type Bodies struct {
	state  *State
	db     *db.DB
	users  *Local[social.ID, *social.User]
	blogs  *Local[social.ID, *social.Blog]
	counts *Local[social.ID, social.Counts]
	likes  *Local[social.ID, social.LikeCount]
	ids    *Local[string, social.ID]
	heads  *heads // of followers
	likers *heads
}

// NewBodies keeps nothing yet.
func NewBodies(s *State) *Bodies {
	b := &Bodies{state: s, db: s.db}
	b.users = NewLocal(maxLocal, marked(b.readUsers))
	b.blogs = NewLocal(maxLocal, b.readBlogs)
	b.counts = NewLocal(maxLocal, marked(b.readCounts))
	b.likes = NewLocal(maxLocal, marked(b.readLikes))
	b.ids = NewLocal(maxLocal, marked(s.db.IDsByHandle))
	b.heads = newHeads(s, s.db.Followers)
	b.likers = newHeads(s, s.db.Likers)
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

// LikeCounts reads how many like blogs; of one that nobody ever liked the count is absent or
// zero. At most 900 ids.
func (b *Bodies) LikeCounts(ctx context.Context, blogs []social.ID) (map[social.ID]social.LikeCount, error) {
	return read(ctx, b.state, b.likes, b.readLikes, blogs)
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

func (b *Bodies) readCounts(ctx context.Context, ids []social.ID) (map[social.ID]social.Counts, error) {
	return readThrough(ctx, b.state, ids, rdb.TakeCounts, b.db.CountsByID, rdb.FillCounts)
}

// readLikes takes that nobody ever liked a blog for a count, of version 0, like others.
func (b *Bodies) readLikes(ctx context.Context, blogs []social.ID) (map[social.ID]social.LikeCount, error) {
	return readThrough(ctx, b.state, blogs, rdb.TakeLikeCount, marked(b.db.LikeCounts), rdb.FillLikeCount)
}

// readThrough reads small values in Redis, and where those are missing in SQL, one statement,
// and stores them.
func readThrough[T any](ctx context.Context, s *State, ids []social.ID, take func(social.ID, string) rdb.Taken[T],
	read func(context.Context, []social.ID) (map[social.ID]T, error), fill func(social.ID, string, T) *rdb.Call,
) (map[social.ID]T, error) {
	token := rand.Text()
	epochs := map[int]int64{}
	var takes []rdb.Taken[T]
	var calls []*rdb.Call
	var missing, fillable []social.ID
	for _, id := range ids {
		epoch, on := s.Epoch(rdb.Partition(id))
		if !on {
			missing = append(missing, id)
			continue
		}
		t := take(id, token)
		epochs[t.Call.Part] = epoch
		takes, calls = append(takes, t), append(calls, t.Call)
	}
	epochOf := func(part int) int64 { return epochs[part] }
	s.redis.Run(ctx, epochOf, calls...)
	values := make(map[social.ID]T, len(ids))
	for _, t := range takes {
		v, known := t.Answer()
		switch {
		case t.Call.Err() != nil:
			s.Failed(ctx, t.Call.Part)
			missing = append(missing, t.Of)
		case known:
			values[t.Of] = v
		default:
			missing, fillable = append(missing, t.Of), append(fillable, t.Of)
		}
	}
	if len(missing) == 0 {
		return values, nil
	}
	found, err := read(ctx, missing)
	if err != nil {
		return nil, err
	}
	var fills []*rdb.Call
	for _, id := range fillable {
		if v, ok := found[id]; ok {
			fills = append(fills, fill(id, token, v))
		}
	}
	s.redis.Run(ctx, epochOf, fills...)
	for id, v := range found {
		values[id] = v
	}
	return values, nil
}

// Heard drops from this process what an event says has changed.
func (b *Bodies) Heard(body any) {
	switch e := body.(type) {
	case social.FollowBody:
		for _, c := range e.Changes {
			b.counts.Drop(c.UserID, c.TargetID)
			b.heads.known.Drop(c.TargetID)
		}
	case social.LikeBody:
		blogs := e.Blogs()
		b.likes.Drop(blogs...)
		b.likers.known.Drop(blogs...)
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
	b.likes.Clear()
	b.heads.known.Clear()
	b.likers.known.Clear()
}
