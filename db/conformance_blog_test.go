package db_test

import (
	"context"
	"strings"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// blogs writes a blog of each id by the author.
func blogs(t testing.TB, d *db.DB, author social.ID, ids ...social.ID) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error {
		for _, id := range ids {
			if err := tx.InsertBlog(ctx, &social.Blog{ID: id, AuthorID: author, Title: "t", Content: "c"}); err != nil {
				return err
			}
		}
		return nil
	})
}

func deleteBlog(t testing.TB, d *db.DB, id social.ID) {
	t.Helper()
	write(t, d, func(ctx context.Context, tx *db.Tx) error { return tx.MarkBlogDeleted(ctx, id) })
}

func idsOf(blogs []*social.Blog) []social.ID {
	var ids []social.ID
	for _, b := range blogs {
		ids = append(ids, b.ID)
	}
	return ids
}

// The longest of everything: 10,000 characters of four bytes, and nine addresses whose
// every character is one that JSON for HTML would write as six.
func TestBlogComesBackAsWritten(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var images []string
		for range 9 {
			images = append(images, "https://e.io/?"+strings.Repeat("&", 2048-14))
		}
		want := &social.Blog{
			ID: 1<<63 - 1, AuthorID: 1<<62 + 1, Title: strings.Repeat(wide, 120),
			Content: strings.Repeat(wide, 9998) + "\r\n", ImageURLs: images,
		}
		write(t, s.DB, func(ctx context.Context, tx *db.Tx) error { return tx.InsertBlog(ctx, want) })
		got, err := s.DB.BlogsByID(t.Context(), []social.ID{want.ID})
		noError(t, err)
		if len(got) != 1 {
			t.Fatalf("got %d blogs", len(got))
		}
		equal(t, "blog", *got[0], *want)
	})
}

func TestBlogWithoutImagesHasAnEmptyListOfThem(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10)
		got, err := s.DB.BlogsByID(t.Context(), []social.ID{10})
		noError(t, err)
		if got[0].ImageURLs == nil || len(got[0].ImageURLs) != 0 {
			t.Errorf("got %#v, want an empty list", got[0].ImageURLs)
		}
	})
}

func TestDeletedBlogIsInNoList(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10, 20, 30)
		deleteBlog(t, s.DB, 20)
		deleteBlog(t, s.DB, 99) // never was: nothing happens
		byID, err := s.DB.BlogsByID(t.Context(), []social.ID{30, 10, 20, 99, 10})
		noError(t, err)
		equal(t, "by id", sorted(idsOf(byID)), []social.ID{10, 30})
		byAuthor, err := page(t.Context(), s.DB.BlogsByAuthor, 1, social.Page{Limit: 10})
		noError(t, err)
		equal(t, "by author", idsOf(byAuthor), []social.ID{30, 10})
		in, err := s.DB.BlogRefsIn(t.Context(), []social.ID{1}, db.IDRange{Below: 1000}, 10)
		noError(t, err)
		equal(t, "in a range", sorted(refIDs(in)), []social.ID{10, 30})
		nearest, err := s.DB.BlogRefsNearest(t.Context(), []social.ID{1}, db.IDRange{Below: 1000}, false, 10)
		noError(t, err)
		equal(t, "nearest", refIDs(nearest), []social.ID{30, 10})
		none, err := s.DB.BlogsByID(t.Context(), nil)
		noError(t, err)
		equal(t, "of no ids", len(none), 0)
	})
}

func TestBlogIsLockedWithItsAuthorAndState(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 7, 10)
		lock := func(id social.ID) (author social.ID, deleted bool, err error) {
			err = s.DB.Transact(t.Context(), func(tx *db.Tx) (err error) {
				author, deleted, err = tx.LockBlog(t.Context(), id)
				return err
			})
			return author, deleted, err
		}
		author, deleted, err := lock(10)
		noError(t, err)
		equal(t, "author", author, 7)
		equal(t, "deleted", deleted, false)
		deleteBlog(t, s.DB, 10)
		author, deleted, err = lock(10)
		noError(t, err)
		equal(t, "author of a deleted one", author, 7)
		equal(t, "deleted", deleted, true)
		_, _, err = lock(11)
		hasCode(t, err, social.NotFound)
	})
}

func TestBlogStatusIsReadWithoutALock(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 7, 10)
		for _, deleted := range []bool{false, true} {
			author, is, err := s.DB.BlogStatus(t.Context(), 10)
			noError(t, err)
			equal(t, "author", author, 7)
			equal(t, "deleted", is, deleted)
			deleteBlog(t, s.DB, 10)
		}
		_, _, err := s.DB.BlogStatus(t.Context(), 11)
		hasCode(t, err, social.NotFound)
	})
}

func TestBlogsByAuthorAreThoseBelowNewestFirst(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, seq(1, 20)...)
		blogs(t, s.DB, 2, seq(101, 105)...)
		for _, c := range []struct {
			below social.ID // 0: from the head
			limit int
			want  []social.ID
		}{
			{0, 2, []social.ID{20, 19, 18}},
			{18, 2, []social.ID{17, 16, 15}},
			{3, 2, []social.ID{2, 1}},
			{1, 2, nil},
			{18, 0, []social.ID{17}},
			{1<<63 - 1, 0, []social.ID{20}},
		} {
			got, err := page(t.Context(), s.DB.BlogsByAuthor, 1, social.Page{Limit: c.limit, From: social.Cursor{ID: c.below}})
			noError(t, err)
			equal(t, "below "+c.below.String(), idsOf(got), c.want)
		}
	})
}

func TestOneIDIsOneBlog(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10)
		err := s.DB.Transact(t.Context(), func(tx *db.Tx) error {
			return tx.InsertBlog(t.Context(), &social.Blog{ID: 10, AuthorID: 2})
		})
		if err == nil {
			t.Error("a second blog took the id")
		}
		got, err := s.DB.BlogsByID(t.Context(), []social.ID{10})
		noError(t, err)
		equal(t, "author", got[0].AuthorID, 1)
	})
}
