package like

import (
	"context"

	"kith/social"
)

// Likers lists, for each listing, who likes the blog that is its owner, latest first.
func (l *Likes) Likers(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	rows, err := l.caches.Likers(ctx, ls)
	return cut(ls, rows), err
}

// LikedBlogs lists, for each listing, the blogs that its owner likes, latest liked first; also
// those deleted.
func (l *Likes) LikedBlogs(ctx context.Context, ls []social.Listing) (map[social.Listing]social.Part[social.Peer], error) {
	rows, err := l.db.LikedBlogs(ctx, ls)
	return cut(ls, rows), err
}

func cut(ls []social.Listing, rows map[social.Listing][]social.Peer) map[social.Listing]social.Part[social.Peer] {
	parts := make(map[social.Listing]social.Part[social.Peer], len(ls))
	for _, l := range ls {
		parts[l] = social.Cut(l.Page, rows[l])
	}
	return parts
}
