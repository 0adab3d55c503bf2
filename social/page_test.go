package social_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/social"
)

func TestPagingArguments(t *testing.T) {
	t.Parallel()
	at := social.Cursor{MinTime: 5, Offset: 1, ID: 7}
	good, foreign := at.Encode(social.FeedCursor, owner), at.Encode(social.FeedCursor, owner+1)
	empty, garbage := "", "garbage"
	n := func(n int) *int { return &n }
	for _, c := range []struct {
		name  string
		args  social.PageArgs
		want  social.Page
		fails string // the field at fault
	}{
		{"nothing", social.PageArgs{}, social.Page{Limit: 20}, ""},
		{"first", social.PageArgs{First: n(5)}, social.Page{Limit: 5}, ""},
		{"none", social.PageArgs{First: n(0)}, social.Page{Limit: 0}, ""},
		{"the most", social.PageArgs{First: n(100)}, social.Page{Limit: 100}, ""},
		{"too many", social.PageArgs{First: n(101)}, social.Page{}, "first"},
		{"less than none", social.PageArgs{First: n(-1)}, social.Page{}, "first"},
		{"after alone", social.PageArgs{After: &good}, social.Page{Limit: 20, From: at}, ""},
		{"first and after", social.PageArgs{First: n(3), After: &good}, social.Page{Limit: 3, From: at}, ""},
		{"empty after", social.PageArgs{After: &empty}, social.Page{}, "after"},
		{"after garbage", social.PageArgs{After: &garbage}, social.Page{}, "after"},
		{"after a foreign cursor", social.PageArgs{After: &foreign}, social.Page{}, "after"},
		{"last and before", social.PageArgs{Last: n(3), Before: &good}, social.Page{Limit: 3, From: at, Backward: true}, ""},
		{"before alone", social.PageArgs{Before: &good}, social.Page{Limit: 20, From: at, Backward: true}, ""},
		{"last 0", social.PageArgs{Last: n(0), Before: &good}, social.Page{Limit: 0, From: at, Backward: true}, ""},
		{"last 100", social.PageArgs{Last: n(100), Before: &good}, social.Page{Limit: 100, From: at, Backward: true}, ""},
		{"last 101", social.PageArgs{Last: n(101), Before: &good}, social.Page{}, "last"},
		{"last -1", social.PageArgs{Last: n(-1), Before: &good}, social.Page{}, "last"},
		{"last without before", social.PageArgs{Last: n(3)}, social.Page{}, "before"},
		{"before empty", social.PageArgs{Before: &empty}, social.Page{}, "before"},
		{"before a foreign cursor", social.PageArgs{Before: &foreign}, social.Page{}, "before"},
		{"first and last", social.PageArgs{First: n(3), Last: n(3)}, social.Page{}, "first"},
		{"first and before", social.PageArgs{First: n(3), Before: &good}, social.Page{}, "first"},
		{"last and after", social.PageArgs{Last: n(3), After: &good}, social.Page{}, "after"},
		{"after and before", social.PageArgs{After: &good, Before: &good}, social.Page{}, "after"},
		{"all", social.PageArgs{First: n(1), After: &good, Last: n(1), Before: &good}, social.Page{}, "first"},
	} {
		got, err := c.args.Page(social.FeedCursor, owner)
		if c.fails != "" {
			var e *social.Error
			if !errors.As(err, &e) || e.Code != social.BadUserInput || e.Field != c.fails {
				t.Errorf("%s: got %v, want BAD_USER_INPUT about %s", c.name, err, c.fails)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", c.name, got, err)
		}
	}
}

func TestPartsSayWhatIsAround(t *testing.T) {
	t.Parallel()
	at := social.Cursor{ID: 1}
	for _, c := range []struct {
		name string
		page social.Page
		rows []int
		want social.Part[int]
	}{
		{"all", social.Page{Limit: 3}, []int{9, 8}, social.Part[int]{Items: []int{9, 8}}},
		{"exactly a page", social.Page{Limit: 3}, []int{9, 8, 7}, social.Part[int]{Items: []int{9, 8, 7}}},
		{"one more", social.Page{Limit: 3}, []int{9, 8, 7, 6}, social.Part[int]{Items: []int{9, 8, 7}, HasNext: true}},
		{"from a cursor", social.Page{Limit: 3, From: at}, []int{6}, social.Part[int]{Items: []int{6}, HasPrevious: true}},
		{"none after a cursor", social.Page{Limit: 3, From: at}, nil, social.Part[int]{HasPrevious: true}},
		{"nothing", social.Page{Limit: 3}, nil, social.Part[int]{}},
		{"none wanted", social.Page{Limit: 0}, []int{9}, social.Part[int]{Items: []int{}, HasNext: true}},
		{"back", social.Page{Limit: 3, From: at, Backward: true}, []int{4, 5}, social.Part[int]{Items: []int{5, 4}, HasNext: true}},
		{"back exactly", social.Page{Limit: 2, From: at, Backward: true}, []int{4, 5}, social.Part[int]{Items: []int{5, 4}, HasNext: true}},
		{"back and more", social.Page{Limit: 3, From: at, Backward: true}, []int{4, 5, 6, 7},
			social.Part[int]{Items: []int{6, 5, 4}, HasNext: true, HasPrevious: true}},
		{"back at the head", social.Page{Limit: 3, From: at, Backward: true}, nil, social.Part[int]{HasNext: true}},
	} {
		got := social.Cut(c.page, slices.Clone(c.rows))
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestErrorsShowTheirCodeThroughWrapping(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	err := fmt.Errorf("follow: %w", &social.Error{Code: social.NotFound, Field: "userId", Message: "no such user", Cause: cause})
	if !social.HasCode(err, social.NotFound) || social.HasCode(err, social.Conflict) || social.HasCode(nil, social.NotFound) || social.HasCode(cause, social.NotFound) {
		t.Error("the code is told wrongly")
	}
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "NOT_FOUND (userId): no such user: the cause") {
		t.Errorf("got %v", err)
	}
}

func TestViewerRidesInTheContext(t *testing.T) {
	t.Parallel()
	if got := social.Viewer(context.Background()); got != 0 {
		t.Errorf("nobody is %d", got)
	}
	if got := social.Viewer(social.WithViewer(context.Background(), owner)); got != owner {
		t.Errorf("got %d", got)
	}
}
