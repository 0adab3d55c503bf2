package social

// DefaultPage and MaxPage bound how many entries one page of a list has.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// Page says which part of a list is wanted: up to Limit entries strictly after From in
// the list's order, or with Backward strictly before it. The answer is in the list's
// order either way. The zero From is the head of the list.
type Page struct {
	Limit    int
	From     Cursor
	Backward bool
}

// AtHead tells that reading begins at the head of the list.
func (p Page) AtHead() bool { return p.From == Cursor{} }

// Listing is a page of the list of one owner.
type Listing struct {
	Owner ID
	Page
}

// PageArgs are the paging arguments of a connection as the client gave them. Lists that
// read one way leave Last and Before nil.
type PageArgs struct {
	First  *int
	After  *string
	Last   *int
	Before *string
}

// Page checks the arguments against the list that they page through; errors are
// BAD_USER_INPUT.
func (a PageArgs) Page(kind CursorKind, owner ...ID) (Page, error) {
	return a.page(func(field, s string) (Cursor, error) { return DecodeCursor(field, s, kind, owner...) })
}

// PageByHandle is [PageArgs.Page] for the list of the people whose handle begins so.
func (a PageArgs) PageByHandle(prefix string) (Page, error) {
	return a.page(func(field, s string) (Cursor, error) { return DecodeHandleCursor(field, s, prefix) })
}

func (a PageArgs) page(decode func(field, s string) (Cursor, error)) (Page, error) {
	if a.Last == nil && a.Before == nil {
		return newPage("first", a.First, "after", a.After, decode)
	}
	switch {
	case a.First != nil:
		return Page{}, Invalid("first", "page one way: either first and after, or last and before")
	case a.After != nil:
		return Page{}, Invalid("after", "page one way: either first and after, or last and before")
	case a.Before == nil:
		return Page{}, Invalid("before", "last needs before: a feed is read back from a cursor")
	}
	p, err := newPage("last", a.Last, "before", a.Before, decode)
	p.Backward = true
	return p, err
}

func newPage(limitField string, limit *int, fromField string, from *string, decode func(field, s string) (Cursor, error)) (Page, error) {
	p := Page{Limit: DefaultPage}
	if limit != nil {
		p.Limit = *limit
	}
	if p.Limit < 0 || p.Limit > MaxPage {
		return Page{}, Invalid(limitField, "%s is from 0 to %d", limitField, MaxPage)
	}
	if from != nil {
		var err error
		if p.From, err = decode(fromField, *from); err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

// Part is one page of a list with what is known of its surroundings. HasNext and
// HasPrevious are exact in the direction of reading; the other way they say that the
// page began at a cursor.
type Part[T any] struct {
	Items       []T
	HasNext     bool
	HasPrevious bool
}

// Cut makes a part of what was read for page p: rows come in the order of reading, one
// more than the limit where the list goes on. The part is in the list's order.
func Cut[T any](p Page, rows []T) Part[T] {
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	if !p.Backward {
		return Part[T]{Items: rows, HasNext: more, HasPrevious: !p.AtHead()}
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return Part[T]{Items: rows, HasNext: !p.AtHead(), HasPrevious: more}
}
