package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"kith/social"
)

func TestRateLimitedErrorsSayWhenToTryAgain(t *testing.T) {
	for name, test := range map[string]struct {
		code   social.Code
		wait   time.Duration
		ms     any // as JSON gives it back
		header string
	}{
		"seconds":             {social.RateLimited, 2 * time.Second, 2000.0, "2"},
		"rounded up":          {social.RateLimited, 1500*time.Millisecond + 1, 1501.0, "2"},
		"a moment":            {social.RateLimited, 1, 1.0, "1"},
		"just above a second": {social.RateLimited, time.Second + 1, 1001.0, "2"},
		"a millisecond less":  {social.RateLimited, 999 * time.Millisecond, 999.0, "1"},
		"an hour":             {social.RateLimited, time.Hour, 3600000.0, "3600"},
		"forever":             {social.RateLimited, math.MaxInt64, 9223372036855.0, "9223372037"},
		"not told":            {social.RateLimited, 0, nil, ""},
		"below nothing":       {social.RateLimited, -time.Second, nil, ""},
		"another code":        {social.LimitExceeded, time.Second, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{userErr: func(context.Context) error {
				return fmt.Errorf("follow: %w", &social.Error{Code: test.code, Message: "slower", RetryAfter: test.wait})
			}})
			a := e.post(t, userQuery, nil)
			if a.status != 200 || a.code() != string(test.code) {
				t.Fatalf("%d %s", a.status, a.raw)
			}
			if got := a.Errors[0].Extensions["retryAfterMs"]; got != test.ms {
				t.Errorf("%v, want %v: %s", got, test.ms, a.raw)
			}
			if got := a.header.Get("Retry-After"); got != test.header {
				t.Errorf("Retry-After %q, want %q", got, test.header)
			}
		})
	}
}

func TestRetryAfterIsTheLongestOfAllErrors(t *testing.T) {
	waits := map[string]time.Duration{"a": 1200 * time.Millisecond, "b": 3100 * time.Millisecond, "c": 0}
	e := newEdge(&fake{userErr: func(ctx context.Context) error {
		return &social.Error{Code: social.RateLimited, Message: "slower", RetryAfter: waits[aliasOf(ctx)]}
	}})
	a := e.post(t, `{viewer{id} a: user(handle: "x"){id} b: user(handle: "x"){id} c: user(handle: "x"){id}}`, nil)
	if a.status != 200 || len(a.Errors) != 3 || a.Data["viewer"] == nil || a.header.Get("Retry-After") != "4" {
		t.Errorf("%d %q %s", a.status, a.header.Get("Retry-After"), a.raw)
	}
	told, err := json.Marshal(a.Errors)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range a.Errors {
		want, timed := any(float64(waits[path.Path[0].(string)].Milliseconds())), path.Path[0] != "c"
		if got := path.Extensions["retryAfterMs"]; timed && got != want || !timed && got != nil {
			t.Errorf("%v: %s", path.Path, told)
		}
	}
	if a := newEdge(&fake{}).post(t, nameQuery, nil); a.header.Values("Retry-After") != nil {
		t.Errorf("without errors: %v", a.header)
	}
}

func aliasOf(ctx context.Context) string {
	return graphql.GetFieldContext(ctx).Field.Alias
}
