package rdb_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kith/rdb"
	"kith/social"
)

func TestNoLimiterLetsEverythingThrough(t *testing.T) {
	t.Parallel()
	var off *rdb.Limiter
	for range 100 {
		noError(t, off.Take(t.Context(), "x", 1, rdb.Policy{What: "x", Max: 1, Window: time.Hour}))
	}
}

func TestPolicyThatCannotBeCountedIsAFault(t *testing.T) {
	t.Parallel()
	l := rdb.NewLimiter(nil, time.Now, slog.New(slog.DiscardHandler))
	for _, p := range []rdb.Policy{
		{}, {What: "x", Window: time.Second}, {What: "x", Max: -1, Window: time.Second}, {What: "x", Max: 1},
		{What: "x", Max: 1, Window: time.Millisecond - 1}, {What: "x", Max: 1, Window: -time.Hour},
		{What: "x", Max: 1001, Window: 24 * time.Hour}, {Max: 1, Window: time.Hour},
	} {
		if err := l.Take(t.Context(), "x", 1, p); err == nil || social.HasCode(err, social.RateLimited) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestMessageSaysWhenInWords(t *testing.T) {
	t.Parallel()
	at := func() time.Time { return start }
	l := rdb.NewLimiter(open(t, ""), at, slog.New(slog.DiscardHandler))
	for want, p := range map[string]rdb.Policy{
		"1 second":    {What: "a", Max: 3, Window: 300 * time.Millisecond},
		"2 seconds":   {What: "b", Max: 1, Window: 1001 * time.Millisecond},
		"120 seconds": {What: "c", Max: 1, Window: 2 * time.Minute},
		"60 minutes":  {What: "d", Max: 1, Window: time.Hour},
		"24 hours":    {What: "e", Max: 1, Window: 24 * time.Hour},
	} {
		var e *social.Error
		passes(t, l, int(p.Max), "who", p)
		if err := l.Take(t.Context(), "who", 1, p); !errors.As(err, &e) || e.Message != "too often; try again in "+want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// Scripts are at most 40 lines, say what they need, and use nothing that some Redis lacks.
func TestScriptsKeepTheirRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("lua/*.lua")
	noError(t, err)
	if len(files) == 0 {
		t.Error("no scripts")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		noError(t, err)
		text := string(b)
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s has %d lines", f, n)
		}
		for _, part := range []string{"-- KEYS ", "-- ARGV ", "-- Returns ", "-- Cost "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s does not tell %s", f, part)
			}
		}
		for _, no := range []string{"cmsgpack", "bit.", "struct.", "'TIME'", "os.", "math.random"} {
			if strings.Contains(text, no) {
				t.Errorf("%s uses %s", f, no)
			}
		}
	}
}
