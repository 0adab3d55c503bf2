package main

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"kith/cache"
	"kith/events"
	"kith/feed"
	"kith/follow"
	"kith/like"
	"kith/notify"
	"kith/social"
)

// work gathers what runs beside the requests. What a worker does may run on any number of
// servers; those that serve requests know the state of the caches and hear of changes, of
// which those of tokens decide whom they let in.
func (s *server) work(roles []string) {
	d := s.store.db
	s.workers = append(s.workers, s.caches.State.Run, s.bell.Run)
	if slices.Contains(roles, apiRole) {
		ended, stars := s.accounts.Revocations, s.feed.Stars
		heard := func(evs []events.Event) {
			for _, e := range evs {
				s.caches.Heard(e.Body)
				ended.Heard(e.Body)
				stars.Heard(e.Body)
			}
			s.live.Heard(evs)
			s.counts.Heard(evs)
			s.news.Heard(evs)
		}
		missed := func() {
			s.caches.Clear()
			ended.Missed()
			stars.Missed()
			s.live.Missed()
			s.counts.Missed()
			s.news.Missed()
		}
		tail := events.NewTail(d, s.bell, s.log, heard, missed)
		tail.OnSeen(func(at time.Time) {
			ended.Seen(at)
			s.live.Seen(at)
			stars.Seen(at)
		})
		s.workers = append(s.workers, s.live.Run, s.counts.Run,
			func(ctx context.Context) error {
				defer stars.Seen(time.Time{}) // by then nobody hands on events
				return tail.Run(ctx)
			},
			func(ctx context.Context) error { return ended.Run(ctx, s.log) },
			func(ctx context.Context) error { return stars.Run(ctx, s.log) })
	}
	if slices.Contains(roles, workerRole) {
		s.workers = append(s.workers, cache.NewGuard(s.caches.State).Run,
			events.NewConsumer(d, s.bell, s.log, feed.Consumer, s.feed.Consume).Run, events.NewTrimmer(d, s.log).Run,
			events.NewConsumer(d, s.bell, s.log, like.Consumer, s.likes.Consume).Run,
			events.NewConsumer(d, s.bell, s.log, notify.Consumer, s.told.Consume).Run, notify.NewTrimmer(s.told, s.log).Run,
			follow.NewSettler(s.graph, s.log, s.settle).Run)
	}
}

// settle makes what else there is of somebody match their status.
func (s *server) settle(ctx context.Context, who social.ID, status social.UserStatus) (moved bool, err error) {
	if moved, err = s.likes.Settle(ctx, who, status); err != nil || status != social.Deleted {
		return moved, err
	}
	told, err := s.told.Forget(ctx, who)
	if moved = moved || told; err != nil {
		return moved, err
	}
	return moved, s.feed.DeleteAll(ctx, who)
}

// labour runs the workers until ctx ends, or one fails.
func (s *server) labour(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers {
		g.Go(func() error { return w(ctx) })
	}
	return g.Wait()
}
