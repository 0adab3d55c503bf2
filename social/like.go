package social

// LikeState is the state of one person's like of one blog. Numbers are stored.
type LikeState int8

// The states. A like that never was has state NotLiked too.
const (
	NotLiked LikeState = 0
	Liked    LikeState = 1
	// HiddenLike is one of somebody suspended: in no list and no count.
	HiddenLike LikeState = 2
)

// Stands tells that it is a like, perhaps of somebody who is not to be seen now.
func (s LikeState) Stands() bool { return s == Liked || s == HiddenLike }

// Like is a person's like of a blog, the pair's target, and since when it is in its state.
// Since is never before the blog's own time.
type Like struct {
	Pair
	State LikeState
	Since Millis
}

// LikeBody is a batch of likes that changed, in the order of the changes, and of blogs whose
// count of likes was mended.
type LikeBody struct {
	Changes []LikeChange  `json:"changes"`
	Mended  []MendedLikes `json:"mended,omitempty"`
}

// Blogs are those whose likes, or their count, are others now, each as often as it is told.
func (b LikeBody) Blogs() []ID {
	ids := make([]ID, 0, len(b.Changes)+len(b.Mended))
	for _, c := range b.Changes {
		ids = append(ids, c.BlogID)
	}
	for _, m := range b.Mended {
		ids = append(ids, m.BlogID)
	}
	return ids
}

// MendedLikes is a blog whose count of likes was mended.
type MendedLikes struct {
	BlogID ID `json:"blog,string"`
}

// LikeChange is one like that truly moved to State, since when, and the person's version of
// likes after that: versions of one person rise by one from change to change.
type LikeChange struct {
	UserID  ID        `json:"user,string"`
	BlogID  ID        `json:"blog,string"`
	State   LikeState `json:"state"`
	Since   Millis    `json:"since"`
	Version int64     `json:"version"`
}

// LikeCall is what a call left behind of a like, and of its person's version: as before
// where it Changed nothing.
type LikeCall struct {
	LikeChange
	Changed bool
}

// LikeCount is how many people like a blog, as of a version that rises with each change.
type LikeCount struct {
	Likes, Version int64
}
