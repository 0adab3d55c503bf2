package transport

import (
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxValues bounds how many values the variables hold: the largest input of the
	// schema is a list of 100 ids, but a body has room for 500,000 numbers.
	maxValues = 10_000
	// maxValueDepth bounds how deep they nest.
	maxValueDepth = 32
)

// errTooManyValues tells that variables pass one of these bounds.
var errTooManyValues = errors.New("too many values")

// object is a JSON object or null. It is read strictly, as [jsontext] does: no name
// twice, no invalid UTF-8, no half of a surrogate pair.
type object map[string]any

// UnmarshalJSONFrom reads the object.
func (o *object) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if k := d.PeekKind(); k != '{' && k != 'n' {
		return errors.New("not an object")
	}
	r := valueReader{d: d, left: maxValues}
	v, err := r.value(0)
	if err != nil {
		return err
	}
	*o, _ = v.(map[string]any)
	return nil
}

// valueReader reads values until it has read enough.
type valueReader struct {
	d    *jsontext.Decoder
	left int
}

func (r *valueReader) value(depth int) (any, error) {
	if r.left--; r.left < 0 || depth > maxValueDepth {
		return nil, errTooManyValues
	}
	token, err := r.d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String())
	case '[':
		return r.list(depth + 1)
	case '{':
		return r.object(depth + 1)
	default:
		return nil, nil // null
	}
}

func (r *valueReader) list(depth int) ([]any, error) {
	list := []any{}
	for r.d.PeekKind() != ']' {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.d.ReadToken()
	return list, err
}

func (r *valueReader) object(depth int) (map[string]any, error) {
	members := map[string]any{}
	for r.d.PeekKind() != '}' {
		token, err := r.d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String() // before the decoder reuses its memory
		if members[name], err = r.value(depth); err != nil {
			return nil, err
		}
	}
	_, err := r.d.ReadToken()
	return members, err
}

// number keeps numbers whole and apart from strings: an int64 where it fits, also for 1.0
// and 1e2, else a float64. A json.Number would pass for a String, a float64 lose ids.
func number(text string) (any, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExact {
		return int64(f), nil
	}
	return f, err
}

// maxExact is the largest whole number up to which a float64 stands for no other.
const maxExact = 1<<53 - 1
