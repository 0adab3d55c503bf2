package feed

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

const (
	// sendPiece is how many viewers of blogs are asked about in one round trip.
	sendPiece = 2000
	// minRest and maxRest are how long sending rests after a failure: twice as long each
	// time.
	minRest = 50 * time.Millisecond
	maxRest = time.Second
)

// Run sends until ctx ends; then subscriptions end.
func (l *Live) Run(ctx context.Context) error {
	l.begin()
	defer l.End()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		}
		jobs, seen, gaps := l.take()
		rest := minRest
		for len(jobs) > 0 && ctx.Err() == nil {
			n := piece(jobs)
			err := l.guarded(ctx, jobs[:n], gaps)
			if err == nil {
				jobs, rest = jobs[n:], minRest
				continue
			}
			l.log.Warn("new blogs wait to be sent", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(rest):
			}
			rest = min(2*rest, maxRest)
		}
		l.finish(seen)
	}
}

// guarded sends, and makes a gap of a panic: it must not end the process.
func (l *Live) guarded(ctx context.Context, jobs []job, gaps int) error {
	defer func() {
		if v := recover(); v != nil {
			l.log.Error("new blogs were not sent", "panic", v, "stack", string(debug.Stack()))
			l.Missed()
		}
	}()
	return l.send(ctx, jobs, gaps)
}

func (l *Live) take() (jobs []job, seen social.Millis, gaps int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs, l.jobs, l.busy = l.jobs, nil, true
	return jobs, l.seen, l.gaps
}

func (l *Live) finish(seen social.Millis) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy, l.done = false, seen
}

// piece is how many of the jobs are sent at once.
func piece(jobs []job) int {
	viewers := 0
	for i, j := range jobs {
		if viewers += len(j.to); i > 0 && viewers > sendPiece || i == db.MaxIn {
			return i
		}
	}
	return len(jobs)
}

// send sends some blogs, in their order: two statements for their bodies, whoever and how
// many they are for, and what shown takes.
func (l *Live) send(ctx context.Context, jobs []job, gaps int) error {
	refs := make([]social.BlogRef, len(jobs))
	var pairs []social.Pair
	for i, j := range jobs {
		refs[i] = j.BlogRef
		for _, v := range j.to {
			pairs = append(pairs, social.Pair{UserID: v.id, TargetID: j.AuthorID})
		}
	}
	entries, err := l.published(ctx, refs)
	if err != nil || len(entries) == 0 {
		return err
	}
	shown, err := l.shown(ctx, pairs)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if gaps != l.gaps { // all these are replayed
		return nil
	}
	for _, j := range jobs {
		e, is := entries[j.ID]
		if !is {
			continue
		}
		item := &item{Entry: e, lane: j.event.Lane, seq: j.event.Seq}
		for _, v := range j.to {
			if shown[social.Pair{UserID: v.id, TargetID: j.AuthorID}] {
				l.push(v, item)
			}
		}
	}
	return nil
}

// published reads the blogs that are there, of authors who are not hidden, from SQL alone.
// At most 900.
func (l *Live) published(ctx context.Context, refs []social.BlogRef) (map[social.ID]Entry, error) {
	refs, authors, err := l.visible(ctx, refs)
	if err != nil {
		return nil, err
	}
	found, err := l.Feed.entries(ctx, refs, authors)
	entries := make(map[social.ID]Entry, len(found))
	for _, e := range found {
		e.Cursor = social.Cursor{MinTime: e.Blog.CreatedAt(), ID: e.Blog.ID}
		entries[e.Blog.ID] = e
	}
	return entries, err
}

// shown tells which viewers' feeds have which authors' blogs now. One round trip to Redis
// for every 2,000 pairs; of those whose lists are not there, one statement for every 900.
func (l *Live) shown(ctx context.Context, pairs []social.Pair) (map[social.Pair]bool, error) {
	shown := make(map[social.Pair]bool, len(pairs))
	var unknown []social.Pair
	for some := range slices.Chunk(pairs, sendPiece) {
		unknown = append(unknown, l.shownByRedis(ctx, some, shown)...)
	}
	for some := range slices.Chunk(unknown, db.MaxIn) {
		found, err := l.db.Shown(ctx, some)
		if err != nil {
			return nil, err
		}
		for pair := range found {
			shown[pair] = true
		}
	}
	return shown, nil
}

// shownByRedis asks the lists of those followed, and gives the pairs of which they do not
// tell.
func (l *Live) shownByRedis(ctx context.Context, pairs []social.Pair, shown map[social.Pair]bool) (unknown []social.Pair) {
	authors := map[social.ID][]social.ID{}
	for _, p := range pairs {
		authors[p.UserID] = append(authors[p.UserID], p.TargetID)
	}
	epochs := map[int]int64{}
	var asked []rdb.Follows
	var calls []*rdb.Call
	for who, of := range authors {
		part := rdb.Partition(who)
		epoch, on := l.caches.Epoch(part)
		if !on {
			unknown = append(unknown, pairsOf(who, of)...)
			continue
		}
		a := rdb.NewFollows(who, of...)
		epochs[part], asked, calls = epoch, append(asked, a), append(calls, a.Call)
	}
	l.caches.Redis.Run(ctx, func(part int) int64 { return epochs[part] }, calls...)
	for _, a := range asked {
		if a.Call.Err() != nil {
			l.caches.Failed(ctx, a.Call.Part)
			unknown = append(unknown, pairsOf(a.Who, a.Authors)...)
			continue
		}
		is, known := a.Answer()
		if !known {
			unknown = append(unknown, pairsOf(a.Who, a.Authors)...)
			continue
		}
		for i, author := range a.Authors {
			if is[i] {
				shown[social.Pair{UserID: a.Who, TargetID: author}] = true
			}
		}
	}
	return unknown
}

func pairsOf(who social.ID, authors []social.ID) []social.Pair {
	pairs := make([]social.Pair, len(authors))
	for i, a := range authors {
		pairs[i] = social.Pair{UserID: who, TargetID: a}
	}
	return pairs
}
