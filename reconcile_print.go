package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"kith/db"
	"kith/ops"
	"kith/social"
)

// printReconciled prints a table of what was found, and examples of each kind.
func printReconciled(ctx context.Context, out io.Writer, d *db.DB, r *ops.Reconciled) error {
	found, _ := r.Drift()
	_, _ = fmt.Fprintf(out, "%d people, %d rows of edges, %d blogs that were liked, %d rows of likes, caches of %d people: %d things disagree.\n",
		r.People, r.Edges, r.Blogs, r.Likes, r.Keyed, found)
	if r.Unjudged > 0 {
		_, _ = fmt.Fprintf(out, "The caches of %d people were not judged: changes are on their way to them, or Redis does not answer. See kith events status.\n", r.Unjudged)
	}
	if r.UnjudgedLikes > 0 {
		_, _ = fmt.Fprintf(out, "The likes that Redis has of %d people and blogs were not judged, for the same reasons.\n", r.UnjudgedLikes)
	}
	counts := r.Counts()
	if len(counts) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(out) // errors of writing come from Flush
	w := table(out, "WHAT", "FOUND", "MENDED")
	for _, c := range counts {
		row(w, c.Kind, c.Found, c.Mended)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	handles, err := handlesOf(ctx, d, counts)
	if err != nil {
		return err
	}
	name := func(id social.ID) string {
		if id == 0 {
			return ""
		}
		if handle, ok := handles[id]; ok {
			return fmt.Sprintf("@%s (%d)", handle, id)
		}
		return fmt.Sprintf("nobody (%d)", id)
	}
	var errs []error
	for _, c := range counts {
		_, _ = fmt.Fprintf(out, "\n%s, the first %d of %d:\n", c.Kind, len(c.Examples), c.Found)
		w := table(out, "WHO", "TARGET", "")
		for _, e := range c.Examples {
			target := name(e.Target)
			if e.Blog != 0 {
				target = fmt.Sprintf("blog %d", e.Blog)
			}
			row(w, name(e.Who), target, oneLine(e.Detail))
		}
		errs = append(errs, w.Flush())
	}
	return errors.Join(errs...)
}

// handlesOf reads the handles of everybody in the examples.
func handlesOf(ctx context.Context, d *db.DB, counts []ops.DriftCount) (map[social.ID]string, error) {
	var ids []social.ID
	for _, c := range counts {
		for _, e := range c.Examples {
			ids = append(ids, e.Who, e.Target)
		}
	}
	slices.Sort(ids)
	return d.Handles(ctx, slices.Compact(ids)) // of each kind ten, and two for each
}
