package like

import (
	"context"
	"crypto/rand"
	"slices"

	"kith/rdb"
	"kith/social"
)

// Counts reads how many like blogs: in process where the request may, then in Redis, then in
// SQL, each blog once for all who ask at the same time. Absent is zero. At most 900 ids.
func (l *Likes) Counts(ctx context.Context, blogs []social.ID) (map[social.ID]social.LikeCount, error) {
	return l.caches.LikeCounts(ctx, blogs)
}

// Liked reads which of these blogs the viewer likes: by the viewer's newest likes in Redis,
// where a blog newer than they go back is known not to be liked, by a filter of the others,
// and in SQL, one statement, for what that leaves open. At most 900 ids.
func (l *Likes) Liked(ctx context.Context, viewer social.ID, blogs []social.ID) (map[social.ID]bool, error) {
	_, liked, err := l.read(ctx, viewer, blogs, nil)
	return liked, err
}

// Both reads the counts of blogs and which of them the viewer likes, in one round trip.
func (l *Likes) Both(ctx context.Context, viewer social.ID, blogs []social.ID) (map[social.ID]social.LikeCount, map[social.ID]bool, error) {
	return l.read(ctx, viewer, blogs, l.Counts)
}

func (l *Likes) read(ctx context.Context, viewer social.ID, blogs []social.ID,
	readCounts func(context.Context, []social.ID) (map[social.ID]social.LikeCount, error),
) (counts map[social.ID]social.LikeCount, liked map[social.ID]bool, err error) {
	q := l.ask(viewer, blogs)
	with, end := l.caches.Redis.Along(ctx, q.epochOf, q.calls()...)
	if readCounts != nil {
		if counts, err = readCounts(with, blogs); err != nil {
			return nil, nil, err
		}
	}
	end()
	liked, err = l.answer(ctx, q)
	return counts, liked, err
}

// question is a reading of what a viewer likes.
type question struct {
	viewer social.ID
	blogs  []social.ID
	epoch  int64
	call   *rdb.Liked // nil where the viewer's partition is off, or nothing is asked
}

func (l *Likes) ask(viewer social.ID, blogs []social.ID) *question {
	q := &question{viewer: viewer, blogs: blogs}
	if viewer == 0 || len(blogs) == 0 {
		q.blogs = nil
		return q
	}
	epoch, on := l.caches.Epoch(rdb.Partition(viewer))
	if on {
		q.epoch, q.call = epoch, rdb.NewLiked(viewer, rand.Text(), blogs...)
	}
	return q
}

func (q *question) epochOf(int) int64 { return q.epoch }

func (q *question) calls() []*rdb.Call {
	if q.call == nil {
		return nil
	}
	return []*rdb.Call{q.call.Call}
}

// answer is what the caches tell, and rows where they do not.
func (l *Likes) answer(ctx context.Context, q *question) (map[social.ID]bool, error) {
	liked := make(map[social.ID]bool, len(q.blogs))
	open, known := q.blogs, false
	switch {
	case q.call == nil:
	case q.call.Call.Err() != nil:
		l.caches.Failed(ctx, q.call.Call.Part)
	default:
		if open, known = q.call.Answer(liked); !known {
			return l.fill(ctx, q)
		}
	}
	return liked, l.rows(ctx, q.viewer, open, liked)
}

// rows puts into liked what rows tell of these blogs.
func (l *Likes) rows(ctx context.Context, viewer social.ID, blogs []social.ID, liked map[social.ID]bool) error {
	if len(blogs) == 0 {
		return nil
	}
	found, err := l.db.LikedAmong(ctx, viewer, blogs)
	for _, b := range found {
		liked[b] = true
	}
	return err
}

// fill reads what the viewer likes, and stores it for the next reading.
func (l *Likes) fill(ctx context.Context, q *question) (map[social.ID]bool, error) {
	most := l.kept + rdb.MaxLikes
	version, all, err := l.db.NewestLikes(ctx, q.viewer, most)
	if err != nil {
		return nil, err
	}
	l.caches.Redis.Run(ctx, q.epochOf, rdb.FillLikes(q.viewer, q.call.Token, l.kept, version, all))
	likes := make(map[social.ID]bool, len(all))
	for _, p := range all {
		likes[p.ID] = true
	}
	liked := make(map[social.ID]bool, len(q.blogs))
	open := slices.DeleteFunc(slices.Clone(q.blogs), func(b social.ID) bool {
		liked[b] = likes[b]
		return likes[b] || len(all) < most
	})
	return liked, l.rows(ctx, q.viewer, open, liked)
}
