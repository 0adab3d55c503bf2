package notify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kith/db"
	"kith/social"
)

// readState locks the lists of the people who are told, and reads what the decision needs,
// plainly: a relation that changes after it was read has an event that comes later.
func (n *Notifications) readState(ctx context.Context, tx *db.Tx, causes []db.NotificationCause, people []social.ID) (state, error) {
	s := state{oldest: n.oldest()}
	var err error
	if s.lists, err = tx.LockNotificationLists(ctx, people); err != nil {
		return s, err
	}
	if s.stands, err = readStandings(ctx, tx, causes); err != nil {
		return s, err
	}
	if s.told, err = tx.NotificationActors(ctx, causes); err != nil {
		return s, err
	}
	return s, s.readLines(ctx, tx)
}

// readLines reads the lines that those told are behind, and those that others would go to.
func (s *state) readLines(ctx context.Context, tx *db.Tx) error {
	subjects, behind := map[social.NotificationSubject]bool{}, map[db.LineKey]bool{}
	for c := range s.stands {
		subjects[c.NotificationSubject] = true
	}
	for _, a := range s.told {
		behind[db.LineKey{UserID: a.UserID, ID: a.LineID}] = true
	}
	s.lines, s.unread = map[db.LineKey]*social.Notification{}, map[social.NotificationSubject]*social.Notification{}
	lines, err := tx.UnreadNotifications(ctx, slices.Collect(maps.Keys(subjects)))
	if err != nil {
		return err
	}
	for _, line := range lines {
		s.unread[line.NotificationSubject] = line
		s.lines[key(line)] = line
		delete(behind, key(line))
	}
	lines, err = tx.NotificationsOf(ctx, slices.Collect(maps.Keys(behind)))
	for _, line := range lines {
		s.lines[key(line)] = line
	}
	return err
}

func compareLines(a, b *social.Notification) int {
	return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.ID, b.ID))
}

func key(line *social.Notification) db.LineKey { return db.LineKey{UserID: line.UserID, ID: line.ID} }

// readStandings reads which of the causes are so now, and who of those behind them is hidden
// from who is told.
func readStandings(ctx context.Context, tx *db.Tx, causes []db.NotificationCause) (map[db.NotificationCause]standing, error) {
	var edges, likes, between []social.Pair
	var blogs, people []social.ID
	for _, c := range causes {
		between = append(between, social.Pair{UserID: c.UserID, TargetID: c.ActorID})
		people = append(people, c.ActorID)
		if c.Kind == social.BlogLiked {
			likes, blogs = append(likes, social.Pair{UserID: c.ActorID, TargetID: c.Subject}), append(blogs, c.Subject)
		} else {
			edges = append(edges, edgeOf(c))
		}
	}
	r, err := readRelations(ctx, tx, distinctPairs(edges), likes, distinctPairs(between))
	if err != nil {
		return nil, err
	}
	if r.blogs, err = tx.Authorships(ctx, distinct(blogs)); err != nil {
		return nil, err
	}
	if r.statuses, err = tx.Statuses(ctx, distinct(people)); err != nil {
		return nil, err
	}
	stands := make(map[db.NotificationCause]standing, len(causes))
	for _, c := range causes {
		if is, ok := r.standing(c); ok {
			stands[c] = is
		}
	}
	return stands, nil
}

// relations is what causes are judged by.
type relations struct {
	edges    map[social.Pair]social.Edge
	likes    map[social.Pair]social.Like
	blogs    map[social.ID]db.Authorship
	walls    db.Walls
	statuses map[social.ID]social.UserStatus
}

func readRelations(ctx context.Context, tx *db.Tx, edges, likes, between []social.Pair) (r relations, err error) {
	if r.edges, err = tx.EdgesOf(ctx, edges); err != nil {
		return r, err
	}
	if r.likes, err = tx.LikesOf(ctx, likes); err != nil {
		return r, err
	}
	r.walls, err = tx.WallsOf(ctx, between)
	return r, err
}

// standing tells whether a cause is so now. Follows and likes of somebody suspended are hidden by
// their own states, whose changes have events; their status may have changed back before these.
func (r relations) standing(c db.NotificationCause) (standing, bool) {
	status, known := r.statuses[c.ActorID]
	if !known || status == social.Deleted {
		return standing{}, false
	}
	pair := social.Pair{UserID: c.UserID, TargetID: c.ActorID}
	is := standing{hidden: r.walls.Blocks[pair] || r.walls.Blocks[pair.Reversed()] || r.walls.Mutes[pair]}
	if c.Kind == social.BlogLiked {
		blog, like := r.blogs[c.Subject], r.likes[social.Pair{UserID: c.ActorID, TargetID: c.Subject}]
		is.since = like.Since
		is.hidden = is.hidden || like.State == social.HiddenLike
		return is, like.State.Stands() && blog.AuthorID == c.UserID && !blog.Deleted
	}
	edge := r.edges[edgeOf(c)]
	is.since = edge.Since
	is.hidden = is.hidden || edge.State == social.Hidden
	switch c.Kind {
	case social.FollowRequested:
		is.hidden = is.hidden || status != social.Active
		return is, edge.State == social.Requested
	case social.FollowAccepted:
		return is, edge.State.Stands() && edge.Accepted
	default:
		return is, edge.State.Stands() && !edge.Accepted
	}
}

// edgeOf is the edge that a cause tells of.
func edgeOf(c db.NotificationCause) social.Pair {
	if c.Kind == social.FollowAccepted {
		return social.Pair{UserID: c.UserID, TargetID: c.ActorID}
	}
	return social.Pair{UserID: c.ActorID, TargetID: c.UserID}
}

func distinct(ids []social.ID) []social.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func distinctPairs(pairs []social.Pair) []social.Pair {
	slices.SortFunc(pairs, social.Pair.Compare)
	return slices.Compact(pairs)
}

// write stores what was decided, in the one order of locks.
func (o *outcome) write(ctx context.Context, tx *db.Tx, s state) error {
	if err := tx.PutNotificationActors(ctx, o.put); err != nil {
		return err
	}
	if err := tx.DropNotificationActors(ctx, o.drop); err != nil {
		return err
	}
	stale := slices.DeleteFunc(o.stale, func(line *social.Notification) bool { return line.ActorCount == 0 })
	newest, err := tx.NewestActors(ctx, stale, 1)
	if err != nil {
		return err
	}
	for line, actors := range newest {
		if len(actors) > 0 {
			line.UpdatedAt = actors[0].Since
		}
	}
	lines := slices.SortedFunc(maps.Keys(o.lines), compareLines)
	if err := tx.PutNotifications(ctx, lines); err != nil {
		return err
	}
	var lists []*db.NotificationList
	for _, line := range lines {
		if list := s.lists[line.UserID]; len(lists) == 0 || lists[len(lists)-1] != list {
			lists = append(lists, list)
		}
	}
	if err := tx.PutNotificationLists(ctx, lists); err != nil {
		return err
	}
	return publish(ctx, tx, slices.Sorted(maps.Keys(o.seen))...)
}
