package resolvers

import (
	"context"
	"time"

	"kith/graph"
	"kith/loaders"
	"kith/notify"
	"kith/social"
)

// newsEvery is how long after it was looked for news of notifications it is looked again.
const newsEvery = 250 * time.Millisecond

func (r query) Notifications(ctx context.Context, first *int, after *string) (*graph.NotificationConnection, error) {
	viewer := social.Viewer(ctx)
	p, err := social.PageArgs{First: first, After: after}.Page(social.NotificationsCursor, viewer)
	if err != nil {
		return nil, err
	}
	part, err := r.Told.List(ctx, viewer, p)
	if err != nil {
		return nil, err
	}
	lines, err := visibleLines(ctx, part.Items)
	if err != nil {
		return nil, err
	}
	c := &graph.NotificationConnection{
		Edges:    make([]*graph.NotificationEdge, len(lines)),
		Nodes:    make([]*social.Notification, len(lines)),
		PageInfo: pageInfo(part, func(l notify.Line) string { return notificationCursor(ctx, l) }),
	}
	for i, l := range lines {
		c.Edges[i], c.Nodes[i] = notificationEdge(ctx, l), l.Notification
	}
	return c, nil
}

func notificationCursor(ctx context.Context, l notify.Line) string {
	return l.Cursor.Encode(social.NotificationsCursor, social.Viewer(ctx))
}

func notificationEdge(ctx context.Context, l notify.Line) *graph.NotificationEdge {
	return &graph.NotificationEdge{Cursor: notificationCursor(ctx, l), Node: l.Notification}
}

// visibleLines leaves out those of which the viewer does not see the blog, or any of those
// behind them: the lines themselves follow such a change a moment later.
func visibleLines(ctx context.Context, lines []notify.Line) ([]notify.Line, error) {
	var people, blogs []social.ID
	for _, l := range lines {
		people = append(people, l.Newest...)
		if l.Kind == social.BlogLiked {
			blogs = append(blogs, l.Subject)
		}
	}
	if _, err := loaders.From(ctx).People.All(ctx, people); err != nil {
		return nil, err
	}
	if _, err := loaders.From(ctx).Blogs.All(ctx, blogs); err != nil {
		return nil, err
	}
	visible := make([]notify.Line, 0, len(lines))
	for _, l := range lines {
		actors, err := visibleActors(ctx, l.Newest)
		if err != nil {
			return nil, err
		}
		b, err := likedBlog(ctx, l.Notification)
		if err != nil {
			return nil, err
		}
		if len(actors) > 0 && (b != nil || l.Kind != social.BlogLiked) {
			visible = append(visible, l)
		}
	}
	return visible, nil
}

// visibleActors are those whom the viewer sees the profile of, and does not mute.
func visibleActors(ctx context.Context, ids []social.ID) ([]*social.User, error) {
	seen, err := loaders.From(ctx).People.All(ctx, ids)
	if err != nil {
		return nil, err
	}
	relations, err := loaders.From(ctx).Relations.All(ctx, ids)
	if err != nil {
		return nil, err
	}
	actors := make([]*social.User, 0, len(ids))
	for i, s := range seen {
		if s.Sight >= social.Profile && !relations[i].ViewerMutes {
			actors = append(actors, s.User)
		}
	}
	return actors, nil
}

// likedBlog is the blog that a line is about; nil of other kinds, and where it is not to be
// seen.
func likedBlog(ctx context.Context, n *social.Notification) (*social.Blog, error) {
	if n.Kind != social.BlogLiked {
		return nil, nil //nolint:nilnil // null is GraphQL's answer
	}
	return loaders.From(ctx).Blogs.Load(ctx, n.Subject)
}

func (r notification) Actors(ctx context.Context, n *social.Notification) ([]*social.User, error) {
	return visibleActors(ctx, n.Newest)
}

func (r notification) ActorCount(_ context.Context, n *social.Notification) (int, error) {
	return shown(n.ActorCount), nil
}

func (r notification) Blog(ctx context.Context, n *social.Notification) (*social.Blog, error) {
	return likedBlog(ctx, n)
}

// unread is how many lines the viewer has not read.
func unread(ctx context.Context) (int, error) {
	n, err := loaders.From(ctx).Unread.Load(ctx, social.Viewer(ctx))
	return int(n), err
}

func (r notificationConnection) UnreadCount(ctx context.Context, _ *graph.NotificationConnection) (int, error) {
	return unread(ctx)
}

func (r user) UnreadNotificationCount(ctx context.Context, u *social.User) (*int, error) {
	if u.ID != social.Viewer(ctx) {
		return nil, nil //nolint:nilnil // null is GraphQL's answer
	}
	n, err := unread(ctx)
	return &n, err
}

func (r mutation) MarkNotificationsRead(ctx context.Context, in graph.MarkNotificationsReadInput) (*graph.MarkNotificationsReadPayload, error) {
	viewer := social.Viewer(ctx)
	var upTo social.Cursor
	if s, given := in.UpTo.ValueOK(); given && s != nil {
		var err error
		if upTo, err = social.DecodeCursor("upTo", *s, social.NotificationsCursor, viewer); err != nil {
			return nil, err
		}
	}
	if err := r.Told.MarkRead(ctx, viewer, upTo); err != nil {
		return nil, err
	}
	u := viewerAfter(ctx, "viewer")
	n, err := unread(ctx) // whoever is told that this failed may mark again
	if err != nil {
		return nil, err
	}
	return &graph.MarkNotificationsReadPayload{UnreadCount: n, Viewer: u}, nil
}

func (r subscription) NotificationUpdated(ctx context.Context) (<-chan *graph.NotificationUpdate, error) {
	watch, err := r.News.Watch(ctx, social.Viewer(ctx))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, watch.Close)
	n := notices{watch: watch, updates: make(chan *graph.NotificationUpdate, 1)}
	loaders.Feed(ctx, n.next)
	return n.updates, nil
}

// notices is a subscription to the viewer's notifications.
type notices struct {
	watch   *notify.Watch
	pending []notify.Update
	last    time.Time // when it looked for news
	updates chan *graph.NotificationUpdate
}

// next waits for the next update that the viewer shall see, and tells it.
func (n *notices) next(event context.Context) error {
	for {
		if len(n.pending) == 0 {
			if err := n.wait(event); err != nil {
				return err
			}
			continue
		}
		u := n.pending[0]
		n.pending = n.pending[1:]
		loaders.Forget(event)
		told, err := n.told(event, u)
		if err != nil {
			return err
		}
		if told != nil {
			n.updates <- told
			return nil
		}
	}
}

// wait waits until there may be news, and reads it.
func (n *notices) wait(event context.Context) error {
	select {
	case <-n.watch.Wake():
	case <-event.Done():
		return event.Err()
	}
	select {
	case <-time.After(time.Until(n.last.Add(newsEvery))):
	case <-event.Done():
		return event.Err()
	}
	n.last = time.Now()
	var err error
	n.pending, err = n.watch.News(event)
	return err
}

// told makes an event of an update; nil where the viewer sees nothing of it.
func (n *notices) told(event context.Context, u notify.Update) (*graph.NotificationUpdate, error) {
	me, err := viewer(event)
	if err != nil {
		return nil, err
	}
	if me == nil {
		return nil, loaders.ErrEnd
	}
	update := &graph.NotificationUpdate{RemovedIds: []string{}, ReadUpTo: u.ReadUpTo, Viewer: me}
	for _, id := range u.Removed {
		update.RemovedIds = append(update.RemovedIds, social.GlobalID(social.NotificationNode, id))
	}
	if u.Line == nil {
		return update, nil
	}
	visible, err := visibleLines(event, []notify.Line{*u.Line})
	if err != nil || len(visible) == 0 {
		return nil, err
	}
	update.Edge = notificationEdge(event, *u.Line)
	return update, nil
}
