package feed

import (
	"context"
	"math"

	"kith/db"
	"kith/social"
)

const (
	// maxShelves bounds of how many stars a server keeps blogs: as many as one may follow.
	maxShelves = 5000
	// maxShelvesRead is how many stars a page reads that this server does not have; where more
	// are missing, SQL tells the page itself.
	maxShelvesRead = 50
)

// runs are the blogs of these stars as this server knows them now; one statement where it
// does not have some. False where it cannot be believed, or where more are missing than are
// read for one page.
func (s *Stars) runs(ctx context.Context, stars []social.ID) ([]run, bool, error) {
	runs, missing, believed := s.take(stars)
	if !believed || len(missing) == 0 {
		return runs, believed, nil
	}
	mine, others := s.register(missing[:min(len(missing), maxShelvesRead)])
	// Its own come first: whom others wait for waits for nobody.
	if err := s.fill(ctx, mine); err != nil {
		return nil, false, err
	}
	for _, o := range others {
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	runs, missing, believed = s.take(stars)
	return runs, believed && len(missing) == 0, nil
}

// take gives what is there, of one moment, and names what is not.
func (s *Stars) take(stars []social.ID) (runs []run, missing []social.ID, believed bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	now := s.now()
	if !within(s.cfg.Trust, s.seen, now) {
		return nil, nil, false
	}
	runs = make([]run, 0, len(stars))
	for _, star := range stars {
		kept := s.shelves[star]
		if kept == nil || !kept.isSet {
			missing = append(missing, star)
			continue
		}
		kept.used.Store(now.UnixNano())
		runs = append(runs, run{star, kept.ids, kept.floor})
	}
	return runs, missing, true
}

// register makes shelves for those of the stars that have none, which the caller is to fill,
// and names the others. From now on they hear of blogs. While nobody looks at the events,
// nobody would tell them, and nothing is registered.
func (s *Stars) register(stars []social.ID) (mine, others []*shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen.IsZero() {
		return nil, nil
	}
	for _, star := range stars {
		if kept := s.shelves[star]; kept != nil {
			others = append(others, kept)
			continue
		}
		if len(s.shelves) >= maxShelves {
			s.evict()
		}
		made := &shelf{star: star, done: make(chan struct{})}
		made.used.Store(s.now().UnixNano())
		s.shelves[star] = made
		mine = append(mine, made)
	}
	return mine, others
}

// fill reads shelves in SQL, and takes away those that could not be.
func (s *Stars) fill(ctx context.Context, mine []*shelf) (err error) {
	if len(mine) == 0 {
		return nil
	}
	var found map[social.ID][]social.BlogRef
	defer func() { s.filled(mine, found) }()
	from := make([]db.AuthorFrom, len(mine))
	for i, m := range mine {
		from[i].AuthorID = m.star
	}
	found, err = s.read(ctx, from, s.cfg.Blogs)
	return err
}

// filled is told what was read for shelves; nil where that failed.
func (s *Stars) filled(mine []*shelf, found map[social.ID][]social.BlogRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range mine {
		if found != nil {
			m.fill(s.cfg.Blogs, found[m.star])
		} else if s.shelves[m.star] == m {
			delete(s.shelves, m.star)
		}
		close(m.done)
	}
}

// evict forgets the star whose blogs have been read the longest ago.
func (s *Stars) evict() {
	var oldest social.ID
	least := int64(math.MaxInt64)
	for id, kept := range s.shelves {
		if used := kept.used.Load(); used < least {
			oldest, least = id, used
		}
	}
	delete(s.shelves, oldest)
}
