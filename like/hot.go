package like

import (
	"context"
	"slices"
	"time"

	"kith/db"
	"kith/social"
)

const (
	// hotSize is how many blogs a hot list has.
	hotSize = 1000
	// hotEvery is how long a list stays the newest, and hotLife how long its pages can be
	// read.
	hotEvery = 10 * time.Second
	hotLife  = time.Hour
	// reheatBy is of how many of its newest likes a blog has its heat again that lost it.
	reheatBy = 100
	// maxHotLists is how many lists a server keeps in process.
	maxHotLists = 64
	// newestHot stands for the newest list.
	newestHot social.Millis = 0
)

// Hot gives a page of the blogs that are hot, hottest first: of the newest list, or of that
// which the cursor belongs to, whose time is the page's Snapshot. A list that is no longer kept
// is BAD_USER_INPUT. A list is the same on all servers, and of what everybody may see.
func (l *Likes) Hot(ctx context.Context, p social.Page) (social.Part[Ranked], error) {
	key := newestHot
	if !p.AtHead() {
		key = p.From.MinTime
	}
	found, err := l.hot.Get(ctx, []social.Millis{key})
	if err != nil {
		return social.Part[Ranked]{}, err
	}
	list, kept := found[key]
	if !kept {
		return social.Part[Ranked]{}, social.Invalid("after", "this list is too old; begin at its head again")
	}
	from := 0
	if !p.AtHead() {
		from = min(p.From.Offset, len(list.Blogs))
	}
	ids := list.Blogs[from:min(from+p.Limit+1, len(list.Blogs))]
	ranked := make([]Ranked, len(ids))
	for i, id := range ids {
		ranked[i] = Ranked{BlogID: id, Cursor: social.Cursor{MinTime: list.At, Offset: from + i + 1, ID: id}}
	}
	return social.Cut(p, ranked), nil
}

// Ranked is a blog in a hot list, and its place there.
type Ranked struct {
	BlogID social.ID
	Cursor social.Cursor
}

// hotLists reads lists by their times.
func (l *Likes) hotLists(ctx context.Context, at []social.Millis) (map[social.Millis]db.HotList, error) {
	found := map[social.Millis]db.HotList{}
	for _, t := range at {
		list, err := l.hotList(ctx, t)
		switch {
		case social.HasCode(err, social.NotFound):
		case err != nil:
			return nil, err
		default:
			found[t] = list
		}
	}
	return found, nil
}

// hotList reads a list. The newest is made by whoever finds that it is time for a new one: who
// keeps it first makes it for all.
func (l *Likes) hotList(ctx context.Context, at social.Millis) (db.HotList, error) {
	if at != newestHot {
		return l.db.HotListAt(ctx, at)
	}
	newest, err := l.db.NewestHotList(ctx)
	if err != nil {
		return newest, err
	}
	due := newest.Now - newest.Now%social.Millis(hotEvery.Milliseconds())
	if newest.At >= due {
		return newest, nil
	}
	made := db.HotList{At: due}
	if made.Blogs, err = l.db.HottestBlogs(ctx, hotSize); err != nil {
		return newest, err
	}
	made.Blogs = slices.Clip(made.Blogs)
	err = l.db.Transact(ctx, func(tx *db.Tx) error {
		return tx.PutHotList(ctx, made, due-social.Millis(hotLife.Milliseconds()))
	})
	if err != nil {
		return newest, err
	}
	return l.db.HotListAt(ctx, due)
}

// reheat gives heat to blogs that have likes left but lost what these make up, since it was too
// small a part of what has just ended: whoever likes an old blog and takes that back must not
// take it out of the hot lists.
func reheat(ctx context.Context, tx *db.Tx, counts []db.LikeCountChange) error {
	var cooled []social.ID
	for _, c := range counts {
		if c.Warmth.Cools() {
			cooled = append(cooled, c.BlogID)
		}
	}
	if len(cooled) == 0 {
		return nil
	}
	cold, err := tx.Unheated(ctx, cooled)
	if err != nil || len(cold) == 0 {
		return err
	}
	ls := make([]social.Listing, len(cold))
	for i, b := range cold {
		ls[i] = social.Listing{Owner: b, Page: social.Page{Limit: reheatBy}}
	}
	likers, err := tx.Likers(ctx, ls)
	if err != nil {
		return err
	}
	changes := make([]db.LikeCountChange, len(ls))
	for i, l := range ls {
		changes[i].BlogID = l.Owner
		for _, p := range likers[l] {
			changes[i].Warmth.Add(p.Since, 1)
		}
	}
	return tx.AddLikeCounts(ctx, changes)
}
