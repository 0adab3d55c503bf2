package transport

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// answer is what goes back. Without data the operation was not executed.
type answer struct {
	// status is the one of HTTP; 0 leaves it to the media type.
	status int
	errors gqlerror.List
	// data is JSON as the executor wrote it.
	data []byte
	cost *cost
	// allow lists the methods that would be taken.
	allow string
	// challenge asks for a token.
	challenge bool
}

// refused is an answer to a request that HTTP alone can refuse.
func refused(status int, errs ...*gqlerror.Error) *answer {
	return &answer{status: status, errors: errs}
}

// notExecuted is an answer to a request that reached us whole, but whose document,
// variables or size are wrong.
func notExecuted(errs ...*gqlerror.Error) *answer {
	return &answer{errors: errs}
}

func (a *answer) write(w http.ResponseWriter, media string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if a.allow != "" {
		h.Set("Allow", a.allow)
	}
	if a.challenge {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if wait := longestWait(a.errors); wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(wait, 10))
	}
	if a.status == http.StatusNoContent {
		w.WriteHeader(a.status)
		return
	}
	body := a.body()
	h.Set("Content-Type", media+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.httpStatus(media))
	_, _ = w.Write(body)
}

func (a *answer) httpStatus(media string) int {
	switch {
	case a.status != 0:
		return a.status
	case a.data == nil && media == mediaGraphQL:
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

// body puts the parts together by hand: a [json.Encoder] would go through all of data
// once more, which is nearly everything.
func (a *answer) body() []byte {
	var b bytes.Buffer
	b.Grow(len(a.data) + 128)
	b.WriteByte('{')
	if len(a.errors) > 0 {
		b.WriteString(`"errors":`)
		b.Write(encoded(a.errors[:min(len(a.errors), maxErrors)]))
	}
	if a.data != nil {
		if len(a.errors) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"data":`)
		b.Write(validUTF8(a.data))
	}
	if a.cost != nil {
		b.WriteString(`,"extensions":{"cost":`)
		b.Write(encoded(a.cost))
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encoded is v in JSON; v is of our own types, which always encode.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// validUTF8 mends what a store gave: gqlgen writes strings as they are, and one bad byte
// would take the whole answer from the client.
func validUTF8(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD"))
}
