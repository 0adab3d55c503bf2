package transport

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// The two forms of an answer. They differ in the status of a request that was read but
// not executed: 200 for the older one, whose clients take any other status for a broken
// connection, 400 for the newer.
const (
	mediaJSON    = "application/json"
	mediaGraphQL = "application/graphql-response+json"
)

// acceptedMedia is the form that the client likes best, the first of equals. Who names
// neither gets application/json: an answer in a form not asked for helps more than none.
func acceptedMedia(h http.Header) string {
	best, bestQ := mediaJSON, 0.0
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch media {
		case mediaJSON, mediaGraphQL:
		case "application/*", "*/*":
			media = mediaJSON
		default:
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if q > bestQ {
			best, bestQ = media, q
		}
	}
	return best
}

// takesBody says whether a body can be read: JSON in UTF-8, not compressed. No other type
// is taken since forms and text/plain reach us from foreign pages without preflight.
func takesBody(h http.Header) bool {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != mediaJSON {
		return false
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	encoding := h.Get("Content-Encoding")
	return encoding == "" || strings.EqualFold(encoding, "identity")
}
