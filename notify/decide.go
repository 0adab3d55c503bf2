package notify

import (
	"cmp"
	"slices"

	"kith/db"
	"kith/social"
)

// standing is a relation as it is now: since when, and whether the person who is told of it
// shall not see who is behind it.
type standing struct {
	since  social.Millis
	hidden bool
}

// state is what the store holds of some causes.
type state struct {
	lists map[social.ID]*db.NotificationList
	// stands are the causes that are so now.
	stands map[db.NotificationCause]standing
	// told are those that are behind a line, lines all these lines, and unread the lines that
	// new causes go to.
	told   map[db.NotificationCause]db.NotificationActor
	lines  map[db.LineKey]*social.Notification
	unread map[social.NotificationSubject]*social.Notification
	// oldest is the time before which nothing new is told.
	oldest social.Millis
}

// outcome is what is to be written.
type outcome struct {
	put   []db.NotificationActor // as the causes were sorted
	drop  []db.NotificationCause
	lines map[*social.Notification]bool // that changed
	stale []*social.Notification        // of which the newest left
	seen  map[social.ID]bool            // people who see a difference
}

// decide makes lines match what is so now, for causes sorted and each once. A cause that is
// told, and has begun anew since, goes to the line that is not read, as if it were new. It
// moves s, whose lines and lists it changes in place.
func decide(causes []db.NotificationCause, s state, newID func() (social.ID, error)) (outcome, error) {
	o := outcome{lines: map[*social.Notification]bool{}, seen: map[social.ID]bool{}}
	for _, c := range causes {
		is, stands := s.stands[c]
		was, told := s.told[c]
		again := told && stands && was.Since == is.since
		switch {
		case again && was.Hidden == is.hidden, !told && !stands, !told && !s.isNews(c, is):
			continue
		case again:
			if line := s.lineOf(c, was); line != nil {
				o.leave(s, line, was)
				o.join(s, line, c, is)
			}
			continue
		case told:
			if line := s.lineOf(c, was); line != nil {
				o.leave(s, line, was)
			}
			if !stands {
				o.drop = append(o.drop, c)
				continue
			}
		}
		line, err := s.unreadLine(c.NotificationSubject, newID)
		if err != nil {
			return o, err
		}
		o.join(s, line, c, is)
	}
	return o, nil
}

// isNews tells whether a cause that nobody was told of yet is to be told.
func (s *state) isNews(c db.NotificationCause, is standing) bool {
	list := s.lists[c.UserID]
	return list != nil && is.since > max(list.Floor, s.oldest)
}

// unreadLine is the line of a subject that is not read; a new one where there is none.
func (s *state) unreadLine(of social.NotificationSubject, newID func() (social.ID, error)) (*social.Notification, error) {
	if line := s.unread[of]; line != nil {
		return line, nil
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	line := &social.Notification{ID: id, NotificationSubject: of}
	s.lists[of.UserID].LineCount++
	s.unread[of] = line
	return line, nil
}

// lineOf is the line that a cause is behind; nil where that is being dropped.
func (s *state) lineOf(c db.NotificationCause, was db.NotificationActor) *social.Notification {
	line := s.lines[db.LineKey{UserID: c.UserID, ID: was.LineID}]
	if line == nil || isMarked(line) {
		return nil
	}
	return line
}

// leave takes somebody out of a line.
func (o *outcome) leave(s state, line *social.Notification, was db.NotificationActor) {
	if was.Hidden {
		return
	}
	line.ActorCount--
	if was.Since >= line.UpdatedAt && !slices.Contains(o.stale, line) {
		o.stale = append(o.stale, line)
	}
	o.changed(s, line)
}

// join puts somebody into a line.
func (o *outcome) join(s state, line *social.Notification, c db.NotificationCause, is standing) {
	o.put = append(o.put, db.NotificationActor{
		NotificationSubject: c.NotificationSubject, ActorID: c.ActorID, LineID: line.ID, Since: is.since, Hidden: is.hidden,
	})
	o.lines[line] = true
	if is.hidden {
		line.UpdatedAt = cmp.Or(line.UpdatedAt, is.since)
		return
	}
	if line.ActorCount == 0 {
		line.UpdatedAt = 0 // of nobody who is there now
	}
	line.ActorCount++
	line.UpdatedAt = max(line.UpdatedAt, is.since)
	o.changed(s, line)
	line.Grown = line.Version
}

// changed gives a line the next version of its list: one for all that changes at once.
func (o *outcome) changed(s state, line *social.Notification) {
	list := s.lists[line.UserID]
	if !o.seen[line.UserID] {
		o.seen[line.UserID] = true
		list.Version++
	}
	line.Version = list.Version
	o.lines[line] = true
}
