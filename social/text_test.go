package social_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"kith/social"
)

func TestTextRules(t *testing.T) {
	t.Parallel()
	line := social.TextRule{Min: 1, Max: 50}
	lines := social.TextRule{Max: 500, Lines: true}
	for _, c := range []struct {
		name string
		rule social.TextRule
		text string
		ok   bool
	}{
		{"one", line, "a", true},
		{"empty", line, "", false},
		{"blank", line, " \u00a0\u3000", false},
		{"blank around", line, " a ", true},
		{"50 of one byte", line, strings.Repeat("a", 50), true},
		{"51 of one byte", line, strings.Repeat("a", 51), false},
		{"50 of four bytes", line, strings.Repeat("😀", 50), true},
		{"51 of four bytes", line, strings.Repeat("😀", 51), false},
		{"combined letters count each", line, strings.Repeat("e\u0301", 26), false},
		{"NUL", line, "a\x00b", false},
		{"only NUL", line, "\x00", false},
		{"escape", line, "a\x1b[31m", false},
		{"C1 control", line, "a\u0085b", false},
		{"DEL", line, "a\x7fb", false},
		{"invalid UTF-8", line, "a\xc3\x28", false},
		{"lone surrogate", line, "a\xed\xa0\x80", false},
		{"overlong NUL", line, "\xc0\x80", false},
		{"beyond Unicode", line, "\xf4\x90\x80\x80", false},
		{"cut short", line, "\xf0\x9f\x98", false},
		{"replacement character", line, "\ufffd", true},
		{"line break in a line", line, "a\nb", false},
		{"tab in a line", line, "a\tb", false},
		{"right to left", line, "\u202eabc", true},
		{"line breaks in lines", lines, "a\r\n\tb\n", true},
		{"empty where nothing is wanted", lines, "", true},
		{"blank where nothing is wanted", lines, "  ", true},
		{"500", lines, strings.Repeat("字", 500), true},
		{"501", lines, strings.Repeat("字", 501), false},
		{"NUL in lines", lines, "\n\x00", false},
		{"form feed in lines", lines, "\f", false},
	} {
		err := c.rule.Check("bio", c.text)
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
		checkField(t, err, "bio")
	}
}

// checkField asks that an error is BAD_USER_INPUT about the field.
func checkField(t *testing.T, err error, field string) {
	t.Helper()
	var e *social.Error
	if err != nil && (!errors.As(err, &e) || e.Code != social.BadUserInput || e.Field != field) {
		t.Errorf("got %v, want BAD_USER_INPUT about %s", err, field)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{
		"https://example.com/a.png":  true,
		"http://example.com":         true,
		"HTTPS://EXAMPLE.COM/":       true,
		"https://例え.jp/写真?x=1#y":     true,
		"https://[::1]:8080/":        true,
		"":                           false,
		"   ":                        false,
		"example.com/a.png":          false,
		"/a.png":                     false,
		"//example.com/a.png":        false,
		"https://":                   false,
		"https:///a.png":             false,
		"https:a":                    false,
		"ftp://example.com/a":        false,
		"javascript:alert(1)":        false,
		"data:image/png;base64,AAAA": false,
		"file:///etc/passwd":         false,
		"https://example.com/\x00":   false,
		"https://example.com/a\nb":   false,
		"https://example.com/\xff":   false,
		"https://exa mple.com/":      false,
		"https://a/" + strings.Repeat("x", 2048-10):     true,
		"https://a/" + strings.Repeat("x", 2048-9):      false,
		"https://a/" + strings.Repeat("é", (2048-10)/2): true,
		"https://a/" + strings.Repeat("é", 2048-10):     false, // 2,048 characters, but more bytes
	} {
		err := social.CheckURL("avatarUrl", s)
		if (err == nil) != ok {
			t.Errorf("%.40q of %d bytes: got %v", s, len(s), err)
		}
		checkField(t, err, "avatarUrl")
	}
}

func TestHandles(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"abc": "abc", "ABC": "abc", "A_9": "a_9", "___": "___", "000": "000",
		strings.Repeat("Z", 30): strings.Repeat("z", 30),
		"ab":                    "", "": "", strings.Repeat("z", 31): "",
		"a b": "", "abc ": "", " abc": "", "a-b": "", "a.b": "", "@abc": "", "abc\n": "", "abc\x00": "",
		"\u212aelvin": "",                                     // the first letter is the Kelvin sign, whose lower case is k
		"ſam":         "",                                     // the long s
		"İst":         "", "straße": "", "ａｂｃ": "", "abс": "", // the last one ends in Cyrillic
		"ab\xff": "", "字字字": "",
	} {
		got, err := social.ParseHandle("handle", s)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
		checkField(t, err, "handle")
	}
}

func TestBeginningsOfHandles(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"ab": "ab", "A_": "a_", "__": "__", "0Z9": "0z9", strings.Repeat("Z", 30): strings.Repeat("z", 30),
		"": "", "a": "", strings.Repeat("z", 31): "", "a%": "", "a b": "", " ab": "", "ab\n": "", "a\x00": "", "ü": "", "a\u212a": "", "ab\xff": "",
	} {
		got, err := social.ParseHandlePrefix("handlePrefix", s)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", s, got, err)
		}
		checkField(t, err, "handlePrefix")
	}
}

func TestDateTimeHasAlwaysThreeDecimalsAndZ(t *testing.T) {
	t.Parallel()
	for ms, want := range map[social.Millis]string{
		1_764_500_000_020: `"2025-11-30T10:53:20.020Z"`,
		1_764_500_000_000: `"2025-11-30T10:53:20.000Z"`,
		1_764_500_000_900: `"2025-11-30T10:53:20.900Z"`,
		social.Epoch:      `"2024-01-01T00:00:00.000Z"`,
		0:                 `"1970-01-01T00:00:00.000Z"`,
		-1:                `"1969-12-31T23:59:59.999Z"`,
	} {
		var b strings.Builder
		ms.MarshalGQL(&b)
		if b.String() != want {
			t.Errorf("%d: got %s, want %s", ms, b.String(), want)
		}
		var back social.Millis
		if err := back.UnmarshalGQL(strings.Trim(want, `"`)); err != nil || back != ms {
			t.Errorf("%s was read as %d, %v", want, back, err)
		}
	}
}

func TestDateTimeIsReadAsRFC3339(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]social.Millis{
		"2024-01-01T00:00:00Z":             social.Epoch,
		"2024-01-01T02:00:00.5+02:00":      social.Epoch + 500,
		"2024-01-01T00:00:00.0019999Z":     social.Epoch + 1,
		"2023-12-31T23:59:59.999999-00:00": social.Epoch - 1,
	} {
		var got social.Millis
		if err := got.UnmarshalGQL(s); err != nil || got != want {
			t.Errorf("%s: got %d, %v", s, got, err)
		}
	}
	for _, v := range []any{"", "yesterday", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", 5, nil, true} {
		var got social.Millis
		if err := got.UnmarshalGQL(v); err == nil {
			t.Errorf("%v was read as %d", v, got)
		}
	}
}

func TestClockIsCutToTheMillisecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 1, 1, 0, 0, 0, 1_999_999, time.FixedZone("", 3600))
	if got := social.Clock(func() time.Time { return at }).NowMS(); got != social.Millis(at.UnixMilli()) || got%1000 != 1 {
		t.Errorf("got %d", got)
	}
}
