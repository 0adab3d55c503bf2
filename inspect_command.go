package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"kith/ops"
	"kith/social"
)

// inspectCommand is what operators ask of what lies in the stores. It changes nothing, and
// works beside running servers.
type inspectCommand struct {
	Feed inspectFeed `cmd:"" help:"Print what is in a person's inbox, and why a blog is in the feed or is not."`
}

type inspectFeed struct {
	besideFlags
	Handle string `arg:"" help:"The person's handle."`
	Blog   string `name:"blog" placeholder:"ID" help:"Tell of this blog alone, by its id in GraphQL or its number, why it is in the feed or is not."`
}

// Validate is asked by the parser.
func (c *inspectFeed) Validate() error {
	_, err := parseID("blog", social.BlogNode, c.Blog)
	return cmp.Or(c.besideFlags.Validate(), err)
}

// Run prints the state of the feed, or a sentence about one blog.
func (c *inspectFeed) Run(ctx context.Context, out io.Writer) error {
	handle, err := social.ParseHandle("handle", c.Handle)
	if err != nil {
		return fmt.Errorf("nobody has the handle %q", c.Handle)
	}
	blog, err := parseID("blog", social.BlogNode, c.Blog)
	if err != nil {
		return err
	}
	d, redis, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	s, err := ops.InspectFeed(ctx, d, redis, handle, blog)
	if social.HasCode(err, social.NotFound) {
		return fmt.Errorf("nobody has the handle %q", c.Handle)
	}
	if err != nil {
		return err
	}
	if redis == nil {
		_, _ = fmt.Fprintln(out, "Redis is in the process of the server and cannot be seen from here: this is what SQL says.")
	}
	if s.Asked != nil {
		_, err = fmt.Fprintln(out, sentence(s))
		return err
	}
	return printFeed(out, s, redis != nil)
}

// sentence tells why a blog is in the feed, or why it is not.
func sentence(s *ops.FeedState) string {
	blog, reader, author := "Blog "+s.Asked.ID.String(), "@"+s.Person.Handle, "@"+s.Asked.Handle
	switch s.Asked.Fate {
	case ops.Shown:
		return fmt.Sprintf("%s of %s is in the feed of %s: it is in the inbox, and is shown.", blog, author, reader)
	case ops.BelowFloor:
		return fmt.Sprintf("%s of %s is in the feed of %s: it is below the inbox, where SQL is read.", blog, author, reader)
	case ops.FromSQL:
		return fmt.Sprintf("%s of %s is in the feed of %s: no inbox is used now, and SQL is read.", blog, author, reader)
	case ops.Merged:
		return fmt.Sprintf("%s of %s is in the feed of %s: it is not in the inbox, since %s is a star, whose blogs each server keeps in memory and merges in when the feed is read.",
			blog, author, reader, author)
	case ops.NotFannedOut:
		return fmt.Sprintf("%s of %s is not yet in the feed of %s: it has not been fanned out. %s", blog, author, reader, lag(s))
	case ops.Faulty:
		return fmt.Sprintf("%s of %s is not in the feed of %s, and should be: it is above the floor, and nothing is behind. "+
			"This is a fault; deleting the key %s makes the inbox anew.", blog, author, reader, s.Keys.Inbox.Key)
	case ops.NotFollowed:
		return fmt.Sprintf("%s is not in the feed: %s does not follow %s.", blog, reader, author)
	case ops.Muted:
		return fmt.Sprintf("%s is not in the feed: %s follows %s, and mutes them.", blog, reader, author)
	case ops.Deleted:
		return blog + " is not in the feed: it was deleted."
	case ops.AuthorGone:
		return blog + " is not in the feed: its author's account is suspended or does not exist any more."
	case ops.Own:
		return fmt.Sprintf("%s is not in the feed: it is %s's own, and own blogs are not in one's own feed.", blog, reader)
	}
	return "There is no such blog: " + s.Asked.ID.String() + "."
}

// lag tells how far the one who fans out is.
func lag(s *ops.FeedState) string {
	switch c := s.Consumer; {
	case c.Consumer == "":
		return "No worker has ever consumed events: is one running?"
	case c.DeadLetters > 0:
		return fmt.Sprintf("The consumer is %d events behind, and could not take %d: see kith events dead list.", c.Behind, c.DeadLetters)
	default:
		return fmt.Sprintf("The consumer is %d events behind.", c.Behind)
	}
}

// instant is a time as people read it.
func instant(ms social.Millis) string { return ms.Time().Format(time.RFC3339Nano) }
