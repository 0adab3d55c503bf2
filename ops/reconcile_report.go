package ops

import "kith/social"

// Drift is a kind of disagreement within the stores, as it is told.
type Drift string

// The kinds, in the order in which they are told.
const (
	NoMirror       Drift = "the follower row is missing"
	OtherMirror    Drift = "the follower row differs"
	NoEdge         Drift = "the following row is missing"
	EdgeAndBlock   Drift = "an edge despite a block"
	NoActor        Drift = "the actor row is missing"
	NoCounts       Drift = "the user_count row is missing"
	WrongFollowing Drift = "actor.following is wrong"
	WrongPending   Drift = "actor.pending is wrong"
	WrongBlocking  Drift = "actor.blocking is wrong"
	WrongMuting    Drift = "actor.muting is wrong"
	WrongFollowers Drift = "user_count.followers is wrong"
	WrongRequests  Drift = "user_count.requests is wrong"
	WrongBlogs     Drift = "user_count.blogs is wrong"
	NoLiker        Drift = "the blog_liker row is missing"
	OtherLiker     Drift = "the blog_liker row differs"
	NoLike         Drift = "the blog_like row is missing"
	NoLikeCount    Drift = "the blog_count row is missing"
	WrongLikes     Drift = "blog_count.likes is wrong"
	WrongHeat      Drift = "blog_count.heat is wrong"
	CacheFollowing Drift = "Redis has other people followed"
	CacheCounts    Drift = "Redis has other counts"
	InboxLacks     Drift = "the inbox lacks blogs"
	CacheLikes     Drift = "Redis has other likes"
	CacheLikeCount Drift = "Redis has another count of likes"
	CacheGarbled   Drift = "a key of Redis cannot be read"
	// InboxLeftovers is no drift: such entries are left when things happen at once, and are
	// passed over by whoever reads the inbox. They only take up its room.
	InboxLeftovers Drift = "the inbox has entries that nobody is shown"
)

// drifts are all kinds, in their order.
var drifts = []Drift{
	NoMirror, OtherMirror, NoEdge, EdgeAndBlock, NoActor, NoCounts, WrongFollowing, WrongPending, WrongBlocking,
	WrongMuting, WrongFollowers, WrongRequests, WrongBlogs, NoLiker, OtherLiker, NoLike, NoLikeCount, WrongLikes, WrongHeat,
	CacheFollowing, CacheCounts, InboxLacks, CacheLikes, CacheLikeCount, CacheGarbled, InboxLeftovers,
}

// maxExamples is how many of a kind are told one by one.
const maxExamples = 10

// Found is one thing that was found.
type Found struct {
	Kind Drift
	// Who it is about; 0 where it is about a blog alone.
	Who social.ID
	// Target is at the other end of the edge, and Blog what is liked; 0 where it is not about one.
	Target, Blog social.ID
	Detail       string
}

// DriftCount is what was found of a kind.
type DriftCount struct {
	Kind          Drift
	Found, Mended int
	Examples      []Found // the first ten
}

// Reconciled is what [Reconcile] did.
type Reconciled struct {
	// People, Blogs, Edges, Likes and Keyed are how many people, blogs that were ever liked,
	// rows of edges and of likes, and people with keys in Redis were looked at.
	People, Blogs, Edges, Likes, Keyed int
	// Unjudged is of how many people the caches were not judged, since changes were still on
	// their way to them, or Redis did not answer; UnjudgedLikes of how many people the likes,
	// and of how many blogs the counts of those.
	Unjudged, UnjudgedLikes int
	// Next is the id, of a person or a blog, from which a run that was cut off goes on.
	Next social.ID

	counts map[Drift]*DriftCount
}

func newReconciled(next social.ID) *Reconciled {
	return &Reconciled{Next: next, counts: map[Drift]*DriftCount{}}
}

// add notes what was found, and whether it was mended.
func (r *Reconciled) add(found []Found, mended bool) {
	for _, f := range found {
		c := r.counts[f.Kind]
		if c == nil {
			c = &DriftCount{Kind: f.Kind}
			r.counts[f.Kind] = c
		}
		if c.Found++; mended {
			c.Mended++
		}
		if len(c.Examples) < maxExamples {
			c.Examples = append(c.Examples, f)
		}
	}
}

// Counts are the kinds of which anything was found, in their order.
func (r *Reconciled) Counts() []DriftCount {
	var counts []DriftCount
	for _, kind := range drifts {
		if c := r.counts[kind]; c != nil {
			counts = append(counts, *c)
		}
	}
	return counts
}

// Drift is how much was found of all kinds that are drift, and how much of it is left.
func (r *Reconciled) Drift() (found, left int) {
	for kind, c := range r.counts {
		if kind != InboxLeftovers {
			found, left = found+c.Found, left+c.Found-c.Mended
		}
	}
	return found, left
}
