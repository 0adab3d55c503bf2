package db_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// everything is the widest range.
var everything = db.IDRange{Above: 0, Below: math.MaxInt64}

func TestBoundsOfARangeAreExcluded(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, seq(10, 15)...)
		for _, c := range []struct {
			r    db.IDRange
			want []social.ID
		}{
			{db.IDRange{Above: 10, Below: 15}, seq(11, 14)},
			{db.IDRange{Above: 9, Below: 16}, seq(10, 15)},
			{db.IDRange{Above: 12, Below: 13}, nil},
			{db.IDRange{Above: 13, Below: 12}, nil},
			{db.IDRange{Above: 12, Below: 12}, nil},
			{everything, seq(10, 15)},
		} {
			in, err := s.DB.BlogRefsIn(t.Context(), []social.ID{1}, c.r, 100)
			noError(t, err)
			equal(t, fmt.Sprintf("in %v", c.r), sorted(refIDs(in)), c.want)
			for _, oldest := range []bool{true, false} {
				near, err := s.DB.BlogRefsNearest(t.Context(), []social.ID{1}, c.r, oldest, 100)
				noError(t, err)
				equal(t, fmt.Sprintf("nearest in %v", c.r), sorted(refIDs(near)), c.want)
			}
		}
	})
}

func TestNearestAreTheNewestOrTheOldest(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10, 30, 50)
		blogs(t, s.DB, 2, 20, 40)
		blogs(t, s.DB, 3, 25) // not asked for
		for _, c := range []struct {
			oldest bool
			limit  int
			want   []social.ID
		}{
			{false, 2, []social.ID{50, 40}},
			{true, 2, []social.ID{10, 20}},
			{false, 9, []social.ID{50, 40, 30, 20, 10}},
			{true, 9, []social.ID{10, 20, 30, 40, 50}},
			{true, 0, nil},
		} {
			got, err := s.DB.BlogRefsNearest(t.Context(), []social.ID{1, 2}, everything, c.oldest, c.limit)
			noError(t, err)
			equal(t, fmt.Sprintf("oldest %v limit %d", c.oldest, c.limit), refIDs(got), c.want)
		}
	})
}

func TestARangeGivesAtMostTheLimit(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, seq(1, 30)...)
		for limit, want := range map[int]int{0: 0, 1: 1, 29: 29, 30: 30, 31: 30} {
			got, err := s.DB.BlogRefsIn(t.Context(), []social.ID{1}, everything, limit)
			noError(t, err)
			equal(t, fmt.Sprintf("limit %d", limit), len(got), want)
			if len(slices.Compact(sorted(refIDs(got)))) != len(got) {
				t.Errorf("an id came twice: %v", got)
			}
		}
	})
}

// Around and far above the 900 authors that one IN list takes: nobody is lost or doubled
// at the edge of a chunk, and the limit counts over all chunks.
func TestManyAuthorsAreReadInOneStatement(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var last social.ID = 2*db.MaxIn + 7
		for _, author := range []social.ID{1, db.MaxIn, db.MaxIn + 1, 2 * db.MaxIn, 2*db.MaxIn + 1, last} {
			blogs(t, s.DB, author, author*10, author*10+1)
		}
		for authors, want := range map[social.ID]int{0: 0, 1: 2, db.MaxIn: 4, db.MaxIn + 1: 6, 2 * db.MaxIn: 8, last: 12} {
			before := s.DB.Statements()
			in, err := s.DB.BlogRefsIn(t.Context(), seq(1, authors), everything, 100)
			noError(t, err)
			equal(t, fmt.Sprintf("in, of %d authors", authors), len(slices.Compact(sorted(refIDs(in)))), want)
			near, err := s.DB.BlogRefsNearest(t.Context(), seq(1, authors), everything, true, 100)
			noError(t, err)
			equal(t, fmt.Sprintf("nearest, of %d authors", authors), refIDs(near), sorted(refIDs(in)))
			equal(t, "statements", s.DB.Statements()-before, 2)
		}
		near, err := s.DB.BlogRefsNearest(t.Context(), seq(1, last), everything, false, 3)
		noError(t, err)
		equal(t, "newest over all chunks", refIDs(near), []social.ID{last*10 + 1, last * 10, (2*db.MaxIn+1)*10 + 1})
		in, err := s.DB.BlogRefsIn(t.Context(), seq(1, last), everything, 5)
		noError(t, err)
		equal(t, "limit over all chunks", len(in), 5)
	})
}

// refIDs are the ids, in their order; nil where there are none.
func refIDs(refs []social.BlogRef) []social.ID {
	var ids []social.ID
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestNewestBlogsAreThoseDownToAnID(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		blogs(t, s.DB, 1, 10, 20, 30, 40)
		blogs(t, s.DB, 2, 15, 25)
		deleteBlog(t, s.DB, 30)
		var many []db.AuthorFrom
		for author := social.ID(1); author <= 60; author++ { // more than one statement takes
			many = append(many, db.AuthorFrom{AuthorID: author, From: 20})
		}
		before := s.DB.Statements()
		got, err := s.DB.NewestBlogs(t.Context(), many, 100)
		noError(t, err)
		equal(t, "statements", s.DB.Statements()-before, 2)
		equal(t, "found", got, map[social.ID][]social.BlogRef{
			1: {{ID: 40, AuthorID: 1}, {ID: 20, AuthorID: 1}}, 2: {{ID: 25, AuthorID: 2}},
		})
		got, err = s.DB.NewestBlogs(t.Context(), []db.AuthorFrom{{AuthorID: 1}}, 2)
		noError(t, err)
		equal(t, "two", refIDs(got[1]), []social.ID{40, 20})
		got, err = s.DB.NewestBlogs(t.Context(), nil, 2)
		noError(t, err)
		equal(t, "of nobody", len(got), 0)
	})
}
