package transport

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"kith/social"
)

// maxBody bounds the body of a POST, in bytes.
const maxBody = 1 << 20

// parameters are those of a GraphQL request as JSON. Other members are ignored, as the
// protocol wants; a member of the wrong type is refused.
type parameters struct {
	Query         string `json:"query"`
	OperationName string `json:"operationName"`
	Variables     object `json:"variables"`
	Extensions    object `json:"extensions"`
}

// read takes the parameters from the body or the address, or says why it can't.
func read(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *answer) {
	switch r.Method {
	case http.MethodPost:
		return readBody(w, r)
	case http.MethodGet:
		return readAddress(r.URL.RawQuery)
	case http.MethodOptions:
		// No Access-Control header: no foreign origin is allowed.
		return nil, &answer{status: http.StatusNoContent, allow: allowed}
	default:
		a := refused(http.StatusMethodNotAllowed, fault(social.BadUserInput, "", "use POST or GET"))
		a.allow = allowed
		return nil, a
	}
}

const allowed = "GET, POST, OPTIONS"

func readBody(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *answer) {
	if !takesBody(r.Header) {
		return nil, refused(http.StatusUnsupportedMediaType,
			fault(social.BadUserInput, "", "the body is to be application/json in UTF-8"))
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return nil, tooLarge()
		}
		return nil, badRequest("the body could not be read")
	}
	if jsontext.Value(body).Kind() == '[' {
		return nil, badRequest("one operation a request: batches are not taken")
	}
	var p parameters
	if err := json.Unmarshal(body, &p); err != nil {
		if errors.Is(err, errTooManyValues) {
			return nil, tooManyValues()
		}
		return nil, badRequest("the body is not a GraphQL request in JSON")
	}
	return p.checked()
}

func tooLarge() *answer {
	return refused(http.StatusRequestEntityTooLarge,
		fault(social.BadUserInput, "", "the body is larger than %d bytes", maxBody))
}

func badRequest(format string, args ...any) *answer {
	return refused(http.StatusBadRequest, fault(social.BadUserInput, "", format, args...))
}

func tooManyValues() *answer {
	return badRequest("the variables hold more than %d values or nest deeper than %d", maxValues, maxValueDepth)
}

// readAddress takes the parameters from the query part of the address.
func readAddress(rawQuery string) (*graphql.RawParams, *answer) {
	values, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, badRequest("the address is malformed")
	}
	var p parameters
	for name, target := range map[string]any{
		"query": &p.Query, "operationName": &p.OperationName,
		"variables": &p.Variables, "extensions": &p.Extensions,
	} {
		given := values[name]
		if len(given) > 1 {
			return nil, badRequest("%s is given more than once", name)
		}
		if len(given) == 0 || given[0] == "" {
			continue
		}
		switch target := target.(type) {
		case *string:
			*target = given[0]
		case *object:
			if err := json.Unmarshal([]byte(given[0]), target); err != nil {
				if errors.Is(err, errTooManyValues) {
					return nil, tooManyValues()
				}
				return nil, badRequest("%s is not a JSON object", name)
			}
		}
	}
	return p.checked()
}

// checked refuses what no document could be parsed from, or only by changing its text.
func (p *parameters) checked() (*graphql.RawParams, *answer) {
	switch {
	case p.Query == "":
		return nil, badRequest("the query is missing")
	case !utf8.ValidString(p.Query) || !utf8.ValidString(p.OperationName):
		return nil, badRequest("the query is not valid UTF-8")
	case loneSurrogate(p.Query):
		return nil, badRequest(`the query holds half of a surrogate pair (\ud800 to \udfff)`)
	}
	return &graphql.RawParams{
		Query:         p.Query,
		OperationName: p.OperationName,
		Variables:     p.Variables,
		Extensions:    p.Extensions,
	}, nil
}
