package transport

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

const (
	// maxErrors is how many errors an answer tells.
	maxErrors = 10
	// maxMessage bounds one message, in bytes: it may quote what the client sent.
	maxMessage = 300
	// maxFieldName bounds extensions.field, which may be a key that the client made up.
	maxFieldName = 100
)

// fault is an error in the form that clients get.
func fault(code social.Code, field, format string, args ...any) *gqlerror.Error {
	extensions := map[string]any{"code": string(code)}
	if isName(field) {
		extensions["field"] = field
	}
	return &gqlerror.Error{Message: clip(fmt.Sprintf(format, args...)), Extensions: extensions}
}

func tooComplex(format string, args ...any) *gqlerror.Error {
	return fault(social.QueryTooComplex, "", format, args...)
}

// retryAfter is the extension that says in how many milliseconds to try again, an int64.
const retryAfter = "retryAfterMs"

// setRetryAfter tells that wait, if there is one to tell.
func setRetryAfter(told *gqlerror.Error, wait time.Duration) {
	if wait > 0 {
		told.Extensions[retryAfter] = dividedUp(int64(wait), int64(time.Millisecond))
	}
}

// longestWait is the longest that any of the errors tells, in seconds, or 0.
func longestWait(errs gqlerror.List) int64 {
	var longest int64
	for _, err := range errs {
		ms, _ := err.Extensions[retryAfter].(int64)
		longest = max(longest, ms)
	}
	return dividedUp(longest, 1000)
}

// dividedUp is a / b rounded up: who is told to wait less comes too early.
func dividedUp(a, b int64) int64 {
	if a%b > 0 {
		return a/b + 1
	}
	return a / b
}

// clip makes a message short and valid UTF-8.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	const more = "..."
	end := maxMessage - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}

// isName says whether s is a name of GraphQL, of a length that schemas have.
func isName(s string) bool {
	if s == "" || len(s) > maxFieldName || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	for _, c := range []byte(s) {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
