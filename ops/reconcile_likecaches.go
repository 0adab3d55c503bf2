package ops

import (
	"context"
	"fmt"
	"iter"

	"kith/rdb"
	"kith/social"
)

// likesLook is what Redis holds of a person's likes.
type likesLook struct {
	looked
	keys    rdb.StoredLikes
	version int64
	rows    int
	// unliked are among the newest and not liked; denied are liked, and who reads is told that
	// they are not: those newer than the floor, and those that the filter does not know.
	unliked, denied []social.ID
}

// lookAtLikes reads the keys, then the rows.
func (r *reconciler) lookAtLikes(ctx context.Context, who social.ID, parts epochs) (*likesLook, error) {
	l := &likesLook{looked: parts.looked(who)}
	if l.epoch == 0 {
		return l, nil
	}
	keys, err := r.cfg.Redis.LikeKeys(ctx, who, l.epoch)
	if l.failed(err) {
		return l, ctx.Err()
	}
	if l.keys = keys; !keys.There {
		return l, nil
	}
	most := len(keys.Blogs) + rdb.MaxLikes
	version, liked, err := r.db.NewestLikes(ctx, who, most)
	if err != nil {
		return nil, err
	}
	l.version, l.rows = version, len(liked)
	l.compare(liked, len(liked) < most)
	return l, nil
}

// compare finds what the keys tell wrong of what is liked; all says that nothing else is.
func (l *likesLook) compare(liked []social.Peer, all bool) {
	kept := make(map[social.ID]bool, len(l.keys.Blogs))
	for _, b := range l.keys.Blogs {
		kept[b] = true
	}
	for _, p := range liked {
		if !kept[p.ID] && l.keys.Denies(p.ID) {
			l.denied = append(l.denied, p.ID)
		}
		delete(kept, p.ID)
	}
	for _, b := range l.keys.Blogs {
		if kept[b] && all {
			l.unliked = append(l.unliked, b)
		}
	}
}

func (l *likesLook) doubtful() bool {
	return l.keys.There && (l.keys.Version != l.version || len(l.unliked) > 0 || len(l.denied) > 0)
}

func judgeLikes(first, now *likesLook) (found []Found, settled bool) {
	have := now.keys.Version
	if !knownAt(have, first.version, now.version) {
		return nil, false
	}
	text := fmt.Sprintf("at version %d, rows %d at version %d", have, now.rows, now.version)
	if len(now.unliked) > 0 {
		text += fmt.Sprintf("; %d not liked, blog %d among them", len(now.unliked), now.unliked[0])
	}
	if len(now.denied) > 0 {
		text += fmt.Sprintf("; %d liked and denied, blog %d among them", len(now.denied), now.denied[0])
	}
	return []Found{{Kind: CacheLikes, Who: now.of, Detail: text}}, true
}

func dropLikes(_ Drift, who social.ID) []*rdb.Call { return []*rdb.Call{rdb.DropLikes(who)} }

// likeCountLook is what Redis holds of a blog's likes.
type likeCountLook struct {
	looked
	there      bool
	keys, rows social.LikeCount
}

// lookAtLikeCounts reads the keys, then the rows, of all at once. At most 900 blogs.
func (r *reconciler) lookAtLikeCounts(ctx context.Context, blogs []social.ID, parts epochs) iter.Seq2[*likeCountLook, error] {
	return func(yield func(*likeCountLook, error) bool) {
		stored := map[social.ID]rdb.StoredLikeCount{}
		for _, s := range r.cfg.Redis.StoredLikeCounts(ctx, parts.seen(blogs), parts.of) {
			stored[s.Blog] = s
		}
		rows, err := r.db.LikeCounts(ctx, blogs)
		for _, b := range blogs {
			l := &likeCountLook{looked: parts.looked(b), rows: rows[b]}
			l.ofBlog = true
			if s, there := stored[b]; there && !l.failed(s.Err) {
				l.there, l.keys = true, s.LikeCount
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

func (l *likeCountLook) doubtful() bool { return l.there && l.keys != l.rows }

func judgeLikeCounts(first, now *likeCountLook) (found []Found, settled bool) {
	if !knownAt(now.keys.Version, first.rows.Version, now.rows.Version) {
		return nil, false
	}
	return []Found{{Kind: CacheLikeCount, Blog: now.of, Detail: fmt.Sprintf("%d at version %d, rows %d at version %d",
		now.keys.Likes, now.keys.Version, now.rows.Likes, now.rows.Version)}}, true
}

func dropLikeCount(_ Drift, blog social.ID) []*rdb.Call { return []*rdb.Call{rdb.DropLikeCount(blog)} }
