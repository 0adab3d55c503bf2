package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"kith/ops"
	"kith/social"
)

// reconcileCommand looks for what the stores disagree about, and mends it. It works beside
// running servers, twice at once too, and can be stopped and run again.
type reconcileCommand struct {
	besideFlags
	Repair bool   `name:"repair" help:"Mend what is found."`
	From   string `name:"from" placeholder:"ID" help:"Go on with this id: of a person in GraphQL, or the number that a run that was stopped prints."`
}

// Validate is asked by the parser.
func (c *reconcileCommand) Validate() error {
	_, err := parseID("from", social.UserNode, c.From)
	return cmp.Or(c.besideFlags.Validate(), err)
}

// Run prints what was found. Drift that is left is an error.
func (c *reconcileCommand) Run(ctx context.Context, out io.Writer) error {
	from, err := parseID("from", social.UserNode, c.From)
	if err != nil {
		return err
	}
	d, redis, done, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer done()
	cfg := ops.ReconcileConfig{Repair: c.Repair, From: from, Redis: redis}
	bar := newBar(os.Stderr)
	cfg.Progress = bar.show
	report, err := ops.Reconcile(ctx, d, clock, cfg)
	bar.end()
	if cfg.Redis == nil {
		_, _ = fmt.Fprintln(out, "Redis is in the process of the server and cannot be seen from here: rows alone are compared.")
	}
	// Handles are looked up though the run was stopped.
	printed := printReconciled(context.WithoutCancel(ctx), out, d, report)
	if err != nil {
		return errors.Join(fmt.Errorf("stopped, and goes on with --from %d: %w", report.Next, err), printed)
	}
	if printed != nil {
		return printed
	}
	switch _, left := report.Drift(); {
	case left == 0:
		return nil
	case c.Repair:
		return fmt.Errorf("%d things could not be mended: run it again", left)
	default:
		return fmt.Errorf("%d things disagree: --repair mends them", left)
	}
}

// bar shows progress on a terminal, and nothing elsewhere.
type bar struct{ *progressbar.ProgressBar }

func newBar(terminal *os.File) bar {
	return bar{progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(terminal),
		progressbar.OptionSetVisibility(term.IsTerminal(int(terminal.Fd()))),
		progressbar.OptionSetDescription("people and blogs"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)}
}

// show draws it; what cannot be drawn is no reason to stop.
func (b bar) show(done, of int64) {
	b.ChangeMax64(of)
	_ = b.Set64(done)
}

func (b bar) end() { _ = b.Clear() }
