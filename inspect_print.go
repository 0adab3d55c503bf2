package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"kith/ops"
	"kith/rdb"
)

// printFeed prints what the stores hold of a feed; seen says that there is a Redis to see.
func printFeed(out io.Writer, s *ops.FeedState, seen bool) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(w, "person", fmt.Sprintf("@%s, id %d", s.Person.Handle, s.Person.ID))
	row(w, "caches", cacheText(s, seen))
	row(w, "follows", fmt.Sprintf("%d in SQL, at version %d; those muted are left out", len(s.Followed), s.Version))
	if s.Seen {
		row(w, "in Redis", followingText(s))
		row(w, "inbox", inboxText(s.Keys.Inbox))
		if s.Keys.Inbox.There {
			row(w, "floor", floorText(s))
		}
	}
	row(w, "fan-out", lag(s))
	err := errors.Join(w.Flush(), printBlogs(out, "In the inbox, newest first:", s.Entries))
	if s.Whole() {
		return errors.Join(err, printBlogs(out, "In SQL, at or above the floor, and not in the inbox:", s.Lacking))
	}
	return errors.Join(err, printBlogs(out, "The newest of the feed, from SQL:", s.Lacking))
}

// cacheText tells whether the caches are used, and what their server says of its past.
func cacheText(s *ops.FeedState, seen bool) string {
	state, h := fmt.Sprintf("of partition %d are off: SQL is read", s.Cache.Part), s.History
	if s.Cache.On {
		state = fmt.Sprintf("of partition %d are on, in epoch %d", s.Cache.Part, s.Cache.Epoch)
	}
	switch {
	case !seen:
		return state
	case h.Err != nil:
		return state + "; Redis does not answer: SQL is read"
	case s.Unseen != nil:
		return state + "; Redis does not show them: " + oneLine(s.Unseen.Error())
	case s.Cache.On && h.Epoch == s.Cache.Epoch:
		return state + "; its Redis says the same"
	case h.Epoch == 0:
		return state + "; its Redis has another history: it was started, or has lost its keys"
	}
	return fmt.Sprintf("%s; its Redis is of epoch %d", state, h.Epoch)
}

// followingText compares the key with SQL.
func followingText(s *ops.FeedState) string {
	k := s.Keys.Following
	if !k.There {
		return "nothing: it is filled when the feed is next read"
	}
	same := len(k.Followed) == len(s.Followed)
	for _, id := range k.Followed {
		same = same && s.Followed[id]
	}
	text := fmt.Sprintf("%d, at version %d, for %s", len(k.Followed), k.Version, life(k.Life))
	switch {
	case k.Version != s.Version:
		return text + "; SQL is at another version"
	case !same:
		return text + "; these are not the same people, which is a fault: deleting the key " + k.Key + " mends it"
	}
	return text + "; the same people"
}

func inboxText(k rdb.StoredInbox) string {
	switch {
	case !k.There:
		return "none: it is built when the feed is next read"
	case k.Building:
		return fmt.Sprintf("being built, %d entries so far, for %s at most", len(k.Refs), life(k.Life))
	}
	return fmt.Sprintf("whole, %d entries, for %s", len(k.Refs), life(k.Life))
}

func floorText(s *ops.FeedState) string {
	floor := s.Floor()
	switch {
	case s.Keys.Inbox.Building:
		return "none while it is being built"
	case floor == 0:
		return "complete to the beginning"
	}
	return fmt.Sprintf("blog %d of %s", floor, instant(floor.Time()))
}

// life is how long a key stays.
func life(d time.Duration) string {
	if d < 0 {
		return "ever, which is a fault"
	}
	return d.Round(time.Second).String()
}

// fates are what a table says of a blog.
var fates = map[ops.Fate]string{
	ops.Shown: "shown", ops.FromSQL: "shown", ops.Merged: "merged in, of a star", ops.NotFannedOut: "not fanned out yet", ops.Faulty: "lacking: a fault",
	ops.NotFollowed: "author not followed any more", ops.Muted: "author muted", ops.Deleted: "deleted", ops.AuthorGone: "author gone",
	ops.Own: "own, which is not shown",
}

func printBlogs(out io.Writer, title string, blogs []ops.InspectedBlog) error {
	if len(blogs) == 0 {
		return nil
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", title) // its error comes from Flush
	w := table(out, "BLOG", "TIME", "AUTHOR", "")
	for _, b := range blogs {
		author := "@" + b.Handle
		if b.Handle == "" {
			author = b.AuthorID.String()
		}
		row(w, b.ID, instant(b.ID.Time()), author, fates[b.Fate])
	}
	return w.Flush()
}
