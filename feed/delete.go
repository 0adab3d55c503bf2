package feed

import (
	"context"

	"kith/db"
	"kith/social"
)

// Delete deletes a blog of the viewer; repeated it changes nothing more. Another's blog is
// FORBIDDEN, one that is not there NOT_FOUND.
func (f *Feed) Delete(ctx context.Context, viewer, blog social.ID) error {
	err := f.db.Transact(ctx, func(tx *db.Tx) error {
		author, deleted, err := tx.LockBlog(ctx, blog)
		switch {
		case social.HasCode(err, social.NotFound), err == nil && author != viewer && deleted:
			return NoSuchBlog()
		case err != nil:
			return err
		case author != viewer:
			return &social.Error{Code: social.Forbidden, Field: "blogId", Message: "only its author deletes a blog"}
		case deleted:
			return nil
		}
		if err := tx.MarkBlogDeleted(ctx, blog); err != nil {
			return err
		}
		if err := tx.AddCounts(ctx, []db.CountChange{{UserID: author, Blogs: -1}}); err != nil {
			return err
		}
		body := social.BlogBody{BlogID: blog, AuthorID: author, Deleted: true}
		return tx.Publish(ctx, social.Event{Kind: social.BlogEvent, Body: body})
	})
	if err != nil {
		return err
	}
	return f.wrote(ctx, viewer) // also one that was deleted before, by a server that died then
}

// NoSuchBlog is what is said of a blog that is not there, for all or for the viewer.
func NoSuchBlog() error {
	return &social.Error{Code: social.NotFound, Field: "blogId", Message: "there is no such blog"}
}

// deletePiece is how many blogs share a transaction.
const deletePiece = 100

// DeleteAll deletes the blogs of somebody whose account is deleted, and may be called again.
// Their events are of the person alone, whose counts are to be read anew: nobody is shown the
// author, nor so the blogs.
func (f *Feed) DeleteAll(ctx context.Context, author social.ID) error {
	for {
		var n int64
		err := f.db.Transact(ctx, func(tx *db.Tx) (err error) {
			if n, err = tx.DeleteSomeBlogs(ctx, author, deletePiece); err != nil || n == 0 {
				return err
			}
			if err := tx.AddCounts(ctx, []db.CountChange{{UserID: author, Blogs: -n}}); err != nil {
				return err
			}
			return tx.Publish(ctx, social.Event{Kind: social.UserEvent, Body: social.UserBody{UserID: author}})
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
