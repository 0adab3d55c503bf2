package transport

import (
	"strconv"
	"strings"
)

// loneSurrogate says whether a string of the document names half of a surrogate pair by
// its escape. Such a half is no character; gqlparser would put U+FFFD in its place, and
// something other than what was sent would be stored.
func loneSurrogate(query string) bool {
	if !strings.Contains(query, `\u`) {
		return false
	}
	for i := 0; i < len(query); {
		switch rest := query[i:]; {
		case rest[0] == '#':
			i += lineLength(rest)
		case strings.HasPrefix(rest, `"""`):
			i += blockLength(rest)
		case rest[0] == '"':
			n, lone := scanString(rest)
			if lone {
				return true
			}
			i += n
		default:
			i++
		}
	}
	return false
}

func lineLength(s string) int {
	if n := strings.IndexAny(s, "\r\n"); n >= 0 {
		return n
	}
	return len(s)
}

// blockLength is the length of the block string that s begins with. Nothing in it is
// escaped but """.
func blockLength(s string) int {
	for i := 3; i < len(s); {
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, `\"""`):
			i += 4
		case strings.HasPrefix(rest, `"""`):
			return i + len(rest) - len(strings.TrimLeft(rest, `"`))
		default:
			i++
		}
	}
	return len(s)
}

// scanString gives the length of the string literal that s begins with, unless it comes
// upon half of a pair.
func scanString(s string) (length int, lone bool) {
	for i := 1; i < len(s); {
		switch s[i] {
		case '"', '\r', '\n':
			return i + 1, false
		case '\\':
			unit, ok := escapedUnit(s[i:])
			if !ok {
				i += 2
				continue
			}
			i += 6
			if unit&0xF800 != 0xD800 {
				continue
			}
			low, ok := escapedUnit(s[i:])
			if unit >= 0xDC00 || !ok || low&0xFC00 != 0xDC00 {
				return 0, true
			}
			i += 6
		default:
			i++
		}
	}
	return len(s), false
}

// escapedUnit reads the \uXXXX that s begins with.
func escapedUnit(s string) (unit uint64, ok bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 16)
	return unit, err == nil
}
