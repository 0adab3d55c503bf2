package notify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kith/db"
	"kith/events"
	"kith/social"
)

// Consumer is the name under which lines are made from events.
const Consumer = "notify"

// piece is how many causes share a transaction.
const piece = db.MaxIn

// Consume makes lines match the relations that events are about, as they are now. It may come
// late, twice, and out of order.
func (n *Notifications) Consume(ctx context.Context, evs []events.Event) error {
	w := work{n: n}
	wrote, err := n.authors(ctx, evs)
	if err != nil {
		return err
	}
	for _, e := range evs {
		switch body := e.Body.(type) {
		case social.FollowBody:
			err = w.followed(ctx, body)
		case social.LikeBody:
			err = w.liked(ctx, body, wrote)
		case social.BlogBody:
			err = w.blog(ctx, body)
		case social.UserBody:
			err = w.user(ctx, body)
		}
		if err != nil {
			return err
		}
	}
	return w.flush(ctx)
}

// work gathers causes to be looked at, and does so as soon as they are a piece.
type work struct {
	n      *Notifications
	causes []db.NotificationCause
}

func (w *work) add(ctx context.Context, causes ...db.NotificationCause) error {
	w.causes = append(w.causes, causes...)
	for len(w.causes) >= piece {
		if err := w.n.match(ctx, w.causes[:piece]); err != nil {
			return err
		}
		w.causes = w.causes[piece:]
	}
	return nil
}

func (w *work) flush(ctx context.Context) error {
	causes := w.causes
	w.causes = nil
	return w.n.match(ctx, causes)
}

// followed adds what edges may be behind: each tells its target of who follows or asks, and
// its owner of who accepted. A wall may hide likes, too.
func (w *work) followed(ctx context.Context, body social.FollowBody) error {
	for _, c := range body.Changes {
		err := w.add(ctx, cause(c.TargetID, social.Followed, c.UserID, c.UserID),
			cause(c.TargetID, social.FollowRequested, c.UserID, c.UserID),
			cause(c.UserID, social.FollowAccepted, c.TargetID, c.TargetID))
		if err != nil {
			return err
		}
	}
	for _, wall := range body.Walls {
		pair := social.Pair(wall)
		for _, p := range []social.Pair{pair, pair.Reversed()} {
			if err := w.walled(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// walled adds what a person is told of somebody. Likes are looked for among those that are told, so
// not before those that are being told have been.
func (w *work) walled(ctx context.Context, p social.Pair) error {
	err := w.add(ctx, cause(p.UserID, social.Followed, p.TargetID, p.TargetID),
		cause(p.UserID, social.FollowRequested, p.TargetID, p.TargetID),
		cause(p.UserID, social.FollowAccepted, p.TargetID, p.TargetID))
	if err != nil {
		return err
	}
	if err := w.n.await(ctx, p.UserID); err != nil {
		return err
	}
	return w.all(ctx, func(after db.NotificationCause) ([]db.NotificationCause, error) {
		return w.n.db.LikedCauses(ctx, p, after.Subject, piece)
	})
}

// authors reads who wrote the blogs that events tell likes of.
func (n *Notifications) authors(ctx context.Context, evs []events.Event) (map[social.ID]db.Authorship, error) {
	var blogs []social.ID
	for _, e := range evs {
		if body, ok := e.Body.(social.LikeBody); ok {
			blogs = append(blogs, body.Blogs()...)
		}
	}
	wrote := map[social.ID]db.Authorship{}
	for ids := range slices.Chunk(distinct(blogs), db.MaxIn) {
		found, err := n.db.Authorships(ctx, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(wrote, found)
	}
	return wrote, nil
}

// liked adds what likes may be behind: they are told to authors.
func (w *work) liked(ctx context.Context, body social.LikeBody, wrote map[social.ID]db.Authorship) error {
	for _, c := range body.Changes {
		author := wrote[c.BlogID].AuthorID
		if author == 0 || author == c.UserID {
			continue
		}
		if err := w.add(ctx, cause(author, social.BlogLiked, c.BlogID, c.UserID)); err != nil {
			return err
		}
	}
	return nil
}

// blog adds what is told of a blog that was deleted.
func (w *work) blog(ctx context.Context, body social.BlogBody) error {
	if !body.Deleted {
		return nil
	}
	if err := w.n.await(ctx, body.AuthorID); err != nil {
		return err
	}
	of := social.NotificationSubject{UserID: body.AuthorID, Kind: social.BlogLiked, Subject: body.BlogID}
	return w.all(ctx, func(after db.NotificationCause) ([]db.NotificationCause, error) {
		return w.n.db.CausesAfter(ctx, of, after.ActorID, piece)
	})
}

// user adds the requests of somebody whose status may have changed: of their follows and likes
// other events tell, since those are settled.
func (w *work) user(ctx context.Context, body social.UserBody) error {
	asked, err := w.n.db.Asked(ctx, body.UserID)
	if err != nil {
		return err
	}
	for _, target := range asked {
		if err := w.add(ctx, cause(target, social.FollowRequested, body.UserID, body.UserID)); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the lines of a person are written that are being made now, perhaps by what was
// so before the event.
func (n *Notifications) await(ctx context.Context, who social.ID) error {
	return n.db.Transact(ctx, func(tx *db.Tx) error { return tx.AwaitNotificationList(ctx, who) })
}

// all adds all that there is, as next reads it on.
func (w *work) all(ctx context.Context, next func(after db.NotificationCause) ([]db.NotificationCause, error)) error {
	for after := (db.NotificationCause{}); ; {
		causes, err := next(after)
		if err != nil {
			return err
		}
		if err := w.add(ctx, causes...); err != nil {
			return err
		}
		if len(causes) < piece {
			return nil
		}
		after = causes[len(causes)-1]
	}
}

func cause(told social.ID, kind social.NotificationKind, subject, actor social.ID) db.NotificationCause {
	return db.NotificationCause{
		NotificationSubject: social.NotificationSubject{UserID: told, Kind: kind, Subject: subject}, ActorID: actor,
	}
}

func compareCauses(a, b db.NotificationCause) int {
	return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ActorID, b.ActorID))
}

// match makes the lines of these causes right, in one transaction.
func (n *Notifications) match(ctx context.Context, causes []db.NotificationCause) error {
	causes = slices.Clone(causes)
	slices.SortFunc(causes, compareCauses)
	causes = slices.Compact(causes)
	people, err := n.there(ctx, causes)
	if err != nil {
		return err
	}
	causes = slices.DeleteFunc(causes, func(c db.NotificationCause) bool { return !people[c.UserID] })
	if len(causes) == 0 {
		return nil
	}
	return n.db.Transact(ctx, func(tx *db.Tx) error {
		s, err := n.readState(ctx, tx, causes, slices.Sorted(maps.Keys(people)))
		if err != nil {
			return err
		}
		o, err := decide(causes, s, func() (social.ID, error) { return n.ids.Next(ctx) })
		if err != nil {
			return err
		}
		return o.write(ctx, tx, s)
	})
}

// there are those of the people who would be told who have an account: of nobody else is
// anything kept.
func (n *Notifications) there(ctx context.Context, causes []db.NotificationCause) (map[social.ID]bool, error) {
	var told []social.ID
	for _, c := range causes {
		told = append(told, c.UserID)
	}
	statuses := map[social.ID]social.UserStatus{}
	for ids := range slices.Chunk(slices.Compact(told), db.MaxIn) {
		found, err := n.db.Statuses(ctx, ids)
		if err != nil {
			return nil, err
		}
		maps.Copy(statuses, found)
	}
	people := map[social.ID]bool{}
	for id, status := range statuses {
		if status != social.Deleted {
			people[id] = true
		}
	}
	return people, nil
}
