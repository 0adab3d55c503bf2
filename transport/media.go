package transport

import (
	"iter"
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

// mediaEvents is a stream of answers.
const mediaEvents = "text/event-stream"

// acceptable gives the media types that the client names, with how much it likes each.
func acceptable(h http.Header) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for part := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
			media, params, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			q := 1.0
			if text, ok := params["q"]; ok {
				if q, err = strconv.ParseFloat(text, 64); err != nil {
					continue
				}
			}
			if !yield(media, q) {
				return
			}
		}
	}
}

// acceptedMedia is the form of a single answer that the client likes best, the first of
// equals. Who names neither gets application/json: an answer in a form not asked for helps
// more than none.
func acceptedMedia(h http.Header) string {
	best, bestQ := mediaJSON, 0.0
	for media, q := range acceptable(h) {
		switch media {
		case mediaJSON, mediaGraphQL:
		case "application/*", "*/*":
			media = mediaJSON
		default:
			continue
		}
		if q > bestQ {
			best, bestQ = media, q
		}
	}
	return best
}

// acceptsEvents says whether the client takes a stream, and whether it likes that better
// than a single answer. It has to name the type: whoever takes everything expects JSON.
func acceptsEvents(h http.Header) (takes, prefers bool) {
	eventsQ, bestQ := 0.0, 0.0
	for media, q := range acceptable(h) {
		switch media {
		case mediaEvents:
			eventsQ = max(eventsQ, q)
		case mediaJSON, mediaGraphQL, "application/*", "*/*":
			bestQ = max(bestQ, q)
		}
	}
	return eventsQ > 0, eventsQ > bestQ
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
