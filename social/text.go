package social

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextRule says which text a field takes. Lengths count Unicode characters.
type TextRule struct {
	Min, Max int
	// Lines permits line breaks and tabs.
	Lines bool
}

// Check refuses text that breaks the rule, is blank where something is wanted, or holds
// what could not be stored and given back everywhere: invalid UTF-8, NUL, other control
// characters. Errors are BAD_USER_INPUT about field.
func (r TextRule) Check(field, s string) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "%s is not valid UTF-8", field)
	}
	if n := utf8.RuneCountInString(s); n < r.Min || n > r.Max {
		return Invalid(field, "%s has %d to %d characters, not %d", field, r.Min, r.Max, n)
	}
	if r.Min > 0 && strings.TrimSpace(s) == "" {
		return Invalid(field, "%s is blank", field)
	}
	for _, c := range s {
		if unicode.IsControl(c) && !(r.Lines && (c == '\n' || c == '\r' || c == '\t')) {
			return Invalid(field, "%s holds a control character", field)
		}
	}
	return nil
}

// maxURL bounds an address, in bytes.
const maxURL = 2048

// CheckURL refuses anything but an absolute http(s) address of at most 2,048 bytes.
func CheckURL(field, s string) error {
	if err := (TextRule{Min: 1, Max: maxURL}).Check(field, s); err != nil {
		return err
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || len(s) > maxURL {
		return Invalid(field, "%s is not an http(s) address", field)
	}
	return nil
}
