package ops

import (
	"context"
	"math"
	"slices"

	"kith/db"
	"kith/feed"
	"kith/rdb"
	"kith/social"
)

const (
	// maxCompared bounds how many blogs of SQL are looked for in an inbox.
	maxCompared = 10_000
	// newest is how many blogs of a feed are told where there is no inbox to compare.
	newest = 20
)

// FeedState is what the stores hold of a person's feed.
type FeedState struct {
	Person *social.User
	// Version is that of the person's edges in SQL, and Followed whom they follow.
	Version  int64
	Followed map[social.ID]bool
	// Stars are the stars among them.
	Stars map[social.ID]bool
	// Cache says whether the caches of the person's partition are on, and History what
	// the Redis server that has them says.
	Cache   db.CachePart
	History rdb.History
	// Keys are there where Seen; else Unseen may say why Redis does not show them.
	Seen   bool
	Unseen error
	Keys   rdb.FeedKeys
	// Consumer is who brings blogs to the inboxes; empty where nobody ever did.
	Consumer db.ConsumerState
	// Entries are those of the inbox, newest first. Lacking is what SQL has at and above
	// the floor and the inbox has not; without a whole inbox, the newest of the feed.
	Entries, Lacking []InspectedBlog
	// Asked is the blog that was asked about; nil for none.
	Asked *InspectedBlog
}

// Whole says that the feed is read from its inbox, down to the floor.
func (s *FeedState) Whole() bool {
	return s.Seen && s.Keys.Inbox.There && !s.Keys.Inbox.Building && s.Keys.Following.There
}

// Floor is the lowest blog of the inbox; 0 where nothing is below.
func (s *FeedState) Floor() social.ID {
	refs := s.Keys.Inbox.Refs
	if s.Keys.Inbox.Complete || len(refs) == 0 {
		return 0
	}
	return refs[len(refs)-1].ID
}

// InspectFeed looks at a person's feed, and with a blog, not 0, at what becomes of that. It
// changes nothing. Without a Redis, nil, it tells what SQL says. NOT_FOUND where nobody has
// the handle.
func InspectFeed(ctx context.Context, d *db.DB, r *rdb.Redis, handle string, blog social.ID) (*FeedState, error) {
	person, _, err := d.UserByHandle(ctx, handle)
	if err != nil {
		return nil, err
	}
	i := &inspection{db: d, redis: r, asked: blog, state: &FeedState{Person: person}}
	// The floor says what is to be read in SQL. Then the blogs are read before the lag, and
	// the lag before the inbox: so what a consumer that is not behind has not brought there
	// by then is truly lacking, and not on its way.
	for _, step := range []func(context.Context) error{
		i.readCaches, i.readSQL, i.readAsked, i.readLag, i.readCaches, i.judge,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return i.state, nil
}

// inspection is a look at a feed, under way.
type inspection struct {
	db        *db.DB
	redis     *rdb.Redis // nil where it cannot be seen
	asked     social.ID  // 0 for none
	state     *FeedState
	published []social.BlogRef // by those followed, newest first, down to the floor
}

// readCaches reads what Redis has, if it is used.
func (i *inspection) readCaches(ctx context.Context) error {
	parts, err := i.db.CacheParts(ctx)
	if err != nil {
		return err
	}
	s := i.state
	s.Cache = parts[rdb.Partition(s.Person.ID)]
	s.Seen, s.Unseen = false, nil
	if i.redis == nil {
		return nil
	}
	s.History = i.redis.Histories(ctx)[s.Cache.Part]
	if !s.Cache.On || s.History.Err != nil {
		s.Unseen = s.History.Err
		return nil
	}
	s.Keys, s.Unseen = i.redis.FeedKeys(ctx, s.Person.ID, s.Cache.Epoch)
	s.Seen = s.Unseen == nil
	return nil
}

// readSQL reads whom the person follows and what those have published.
func (i *inspection) readSQL(ctx context.Context) error {
	s := i.state
	version, followed, err := i.db.Followed(ctx, s.Person.ID)
	if err != nil {
		return err
	}
	s.Version, s.Followed = version, map[social.ID]bool{}
	ids := make([]social.ID, len(followed))
	for n, p := range followed {
		ids[n], s.Followed[p.ID] = p.ID, true
	}
	if s.Stars, err = starsAmong(ctx, i.db, ids); err != nil {
		return err
	}
	limit, down := newest, social.ID(0)
	if s.Whole() {
		limit, down = maxCompared, s.Floor()
	}
	i.published, err = i.db.BlogRefsNearest(ctx, ids, db.IDRange{Above: max(0, down-1), Below: math.MaxInt64}, false, limit)
	return err
}

// starsAmong are the stars among these people.
func starsAmong(ctx context.Context, d *db.DB, ids []social.ID) (map[social.ID]bool, error) {
	stars := map[social.ID]bool{}
	for chunk := range slices.Chunk(ids, db.MaxIn) {
		standings, err := d.Standings(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for id, s := range standings {
			if s.StarSince != nil {
				stars[id] = true
			}
		}
	}
	return stars, nil
}

// readAsked reads who wrote the blog that is asked about.
func (i *inspection) readAsked(ctx context.Context) error {
	if i.asked == 0 {
		return nil
	}
	author, _, err := i.db.BlogStatus(ctx, i.asked)
	if err != nil && !social.HasCode(err, social.NotFound) {
		return err
	}
	i.state.Asked = &InspectedBlog{BlogRef: social.BlogRef{ID: i.asked, AuthorID: author}}
	return nil
}

// readLag reads how far the consumer is.
func (i *inspection) readLag(ctx context.Context) error {
	states, err := i.db.ConsumerStates(ctx)
	for _, c := range states {
		if c.Consumer == feed.Consumer {
			i.state.Consumer = c
		}
	}
	return err
}
