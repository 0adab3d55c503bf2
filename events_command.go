package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"kith/db"
	"kith/events"
	"kith/social"
)

// eventsCommand is what operators do with the event log. All of it works beside a running
// server, an embedded one too: none of these rows are kept in process.
type eventsCommand struct {
	Status eventsStatus `cmd:"" help:"Print how far behind each consumer is, and how many events it could not take."`
	Dead   struct {
		List   deadList   `cmd:"" help:"Print the dead letters: events that a consumer could not take."`
		Replay deadReplay `cmd:"" help:"Give events to the consumers once more, and forget their dead letters."`
		Drop   deadDrop   `cmd:"" help:"Forget dead letters."`
	} `cmd:"" help:"Look at dead letters, replay or drop them."`
}

// deadPage is how many dead letters are read at once.
const deadPage = 500

// maxErrorWidth is how much of an error a table shows, in characters.
const maxErrorWidth = 100

type eventsStatus struct{ storeFlags }

// Run prints a line for each consumer.
func (c *eventsStatus) Run(ctx context.Context, out io.Writer) error {
	d, err := c.openBeside(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	states, err := d.ConsumerStates(ctx)
	if err != nil {
		return err
	}
	w := table(out, "CONSUMER", "BEHIND", "DEAD LETTERS")
	for _, s := range states {
		row(w, s.Consumer, s.Behind, s.DeadLetters)
	}
	return w.Flush()
}

type deadList struct{ storeFlags }

// Run prints a line for each dead letter.
func (c *deadList) Run(ctx context.Context, out io.Writer) error {
	d, err := c.openBeside(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	w := table(out, "ID", "CONSUMER", "LANE", "SEQ", "KIND", "SINCE", "ERROR")
	err = eachDeadLetter(ctx, d, func(l db.DeadLetter) {
		row(w, l.ID, l.Consumer, l.Lane, l.Seq, l.Kind, time.UnixMilli(int64(l.CreatedAt)).UTC().Format(time.RFC3339), oneLine(l.Error))
	})
	return errors.Join(err, w.Flush())
}

// deadLetters name some dead letters, or all.
type deadLetters struct {
	storeFlags
	IDs []int64 `arg:"" name:"id" optional:"" help:"Ids, as list prints them."`
	All bool    `name:"all" help:"All that there are now."`
}

type deadReplay struct{ deadLetters }

// Run replays them, and tells how many.
func (c *deadReplay) Run(ctx context.Context, out io.Writer) error {
	return c.each(ctx, out, "replayed", events.Replay)
}

type deadDrop struct{ deadLetters }

// Run drops them, and tells how many.
func (c *deadDrop) Run(ctx context.Context, out io.Writer) error {
	return c.each(ctx, out, "dropped", events.Drop)
}

// each does to every named letter what is to be done, and goes on past those that are not
// there, which are an error in the end.
func (c *deadLetters) each(ctx context.Context, out io.Writer, done string, do func(context.Context, *db.DB, int64) error) error {
	if c.All == (len(c.IDs) > 0) {
		return errors.New("name the ids of dead letters, or --all")
	}
	d, err := c.openBeside(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	ids := c.IDs
	if c.All { // read before the first is replayed, which may become one anew
		if err := eachDeadLetter(ctx, d, func(l db.DeadLetter) { ids = append(ids, l.ID) }); err != nil {
			return err
		}
	}
	n := 0
	var missing []error
	for _, id := range ids {
		switch err := do(ctx, d, id); {
		case err == nil:
			n++
		case !social.HasCode(err, social.NotFound):
			return fmt.Errorf("dead letter %d, after %d were %s: %w", id, n, done, err)
		case !c.All: // else another was faster
			missing = append(missing, fmt.Errorf("there is no dead letter %d", id))
		}
	}
	_, err = fmt.Fprintf(out, "%d %s\n", n, done)
	return errors.Join(append(missing, err)...)
}

// eachDeadLetter reads all there are, by id.
func eachDeadLetter(ctx context.Context, d *db.DB, do func(db.DeadLetter)) error {
	for after := int64(0); ; {
		letters, err := d.DeadLetters(ctx, after, deadPage)
		if err != nil || len(letters) == 0 {
			return err
		}
		for _, l := range letters {
			do(l)
			after = l.ID
		}
	}
}

// openBeside opens a store that is there and up to date, without holding its folder: a
// server may be running on it.
func (f storeFlags) openBeside(ctx context.Context) (*db.DB, error) {
	if err := f.exists(); err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, f.config())
	if err != nil {
		return nil, err
	}
	if err := d.CheckSchema(ctx); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// table begins a table with its head.
func table(out io.Writer, columns ...any) *tabwriter.Writer {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(w, columns...)
	return w
}

// row writes a row; its errors come from Flush.
func row(w *tabwriter.Writer, columns ...any) {
	text := make([]string, len(columns))
	for i, c := range columns {
		text[i] = fmt.Sprint(c)
	}
	_, _ = fmt.Fprintln(w, strings.Join(text, "\t"))
}

// oneLine is the beginning of an error's first line.
func oneLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	runes := []rune(strings.ReplaceAll(text, "\t", " "))
	return string(runes[:min(len(runes), maxErrorWidth)])
}
