package transport

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"github.com/99designs/gqlgen/graphql"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kith/social"
)

const userQuery = `{user(handle: "ada"){id}}`

func TestErrorsOfResolversAreToldByTheirCode(t *testing.T) {
	cause := errors.New("dial 10.0.0.7: refused")
	for name, test := range map[string]struct {
		err    error
		want   string // code, field, message
		logged bool
	}{
		"a conflict":            {social.Errorf(social.Conflict, "taken"), "CONFLICT <nil> taken", false},
		"not found":             {social.Errorf(social.NotFound, "nobody"), "NOT_FOUND <nil> nobody", false},
		"bad input":             {social.Invalid("handle", "too short"), "BAD_USER_INPUT handle too short", false},
		"wrapped":               {fmt.Errorf("follow: %w", social.Errorf(social.LimitExceeded, "enough")), "LIMIT_EXCEEDED <nil> enough", false},
		"with a cause":          {&social.Error{Code: social.Forbidden, Message: "no", Cause: cause}, "FORBIDDEN <nil> no", false},
		"unavailable":           {&social.Error{Code: social.Unavailable, Message: "try again", Cause: cause}, "UNAVAILABLE <nil> try again", true},
		"a deadline below":      {fmt.Errorf("select: %w", context.DeadlineExceeded), "UNAVAILABLE <nil> the operation took too long", true},
		"anything else":         {fmt.Errorf("insert: %w", cause), "INTERNAL <nil> internal error", true},
		"canceled by ourselves": {context.Canceled, "INTERNAL <nil> internal error", true},
		"no rows":               {sql.ErrNoRows, "INTERNAL <nil> internal error", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(&fake{userErr: func(context.Context) error { return test.err }})
			a := e.post(t, userQuery, nil)
			if a.status != 200 || len(a.Errors) != 1 {
				t.Fatalf("%d %s", a.status, a.raw)
			}
			told := a.Errors[0]
			if got := fmt.Sprint(told.Extensions["code"], " ", told.Extensions["field"], " ", told.Message); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if len(told.Path) != 1 || told.Path[0] != "user" || len(told.Locations) != 1 {
				t.Errorf("place: %s", a.raw)
			}
			log := e.log.String()
			if strings.Contains(a.raw, "10.0.0.7") || strings.Count(log, "cause=") != map[bool]int{true: 1}[test.logged] {
				t.Errorf("answer %s\nlog %s", a.raw, log)
			}
			if id := a.header.Get("X-Request-Id"); test.logged && !strings.Contains(log, "requestId="+id) {
				t.Errorf("%s is not in the log: %s", id, log)
			}
			if told.Extensions["code"] == "INTERNAL" && (len(told.Extensions) != 2 || told.Extensions["requestId"] != a.header.Get("X-Request-Id")) {
				t.Errorf("extensions %v", told.Extensions)
			}
		})
	}
}

func TestPanicsAreInternalWithTheirStackInTheLog(t *testing.T) {
	e := newEdge(&fake{userPanic: "secret of the store"})
	a := e.post(t, `{user(handle: "ada"){id} viewer{handle}}`, nil)
	if a.status != 200 || a.code() != "INTERNAL" || a.Data["viewer"] == nil || strings.Contains(a.raw, "secret") {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if log := e.log.String(); !strings.Contains(log, "UserByHandle") || strings.Count(log, "level=ERROR") != 1 {
		t.Errorf("log %s", log)
	}
}

// panicking is a schema that executes nothing.
type panicking struct{ graphql.ExecutableSchema }

func (panicking) Exec(context.Context) graphql.ResponseHandler { panic("secret") }

func TestPanicsOutsideResolversAre500(t *testing.T) {
	e := newEdge(&fake{}, func(c *Config) { c.Schema = panicking{c.Schema} })
	a := e.post(t, userQuery, nil)
	if a.status != 500 || a.code() != "INTERNAL" || strings.Contains(a.raw, "secret") || !strings.Contains(e.log.String(), "stack=") {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestNoMoreThanTenErrorsAreTold(t *testing.T) {
	for n, want := range map[int]int{1: 1, 10: 10, 11: 10, 40: 10} {
		e := newEdge(&fake{})
		a := e.post(t, fmt.Sprintf(`{viewer{followers(first: %d){nodes{isFollowingViewer}}}}`, n), nil)
		if len(a.Errors) != want || strings.Count(e.log.String(), "level=ERROR") != want {
			t.Errorf("%d errors: %d told, log %d", n, len(a.Errors), strings.Count(e.log.String(), "level=ERROR"))
		}
	}
	if a := newEdge(&fake{}).post(t, `{`+times(15, "a%d ")+`}`, nil); len(a.Errors) != 10 {
		t.Errorf("validation: %d told", len(a.Errors))
	}
}

func TestAnOperationHasTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(&fake{userErr: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("driver: bad connection")
		}})
		start := time.Now()
		a := e.post(t, userQuery, nil)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %s", took)
		}
		if a.status != 200 || a.code() != "UNAVAILABLE" || !strings.Contains(e.log.String(), "level=WARN") {
			t.Errorf("%d %s", a.status, a.raw)
		}
	})
}

func TestAClientThatLeavesIsNoErrorOfOurs(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"told as such":   func(ctx context.Context) error { return fmt.Errorf("select: %w", ctx.Err()) },
		"told otherwise": func(context.Context) error { return errors.New("driver: bad connection") },
		"unavailable": func(ctx context.Context) error {
			return &social.Error{Code: social.Unavailable, Message: "try again", Cause: ctx.Err()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			e := newEdge(&fake{userErr: func(ctx context.Context) error {
				leave()
				<-ctx.Done()
				return fail(ctx)
			}})
			e.do(t, postRequest(inJSON(userQuery)).WithContext(ctx))
			if log := e.log.String(); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
				t.Errorf("log %s", log)
			}
		})
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	e := newEdge(&fake{})
	if e.do(t, postRequest(inJSON(userQuery)).WithContext(gone)); e.fake.calls.Load() != 0 || e.log.Len() != 0 {
		t.Errorf("%d calls, log %s", e.fake.calls.Load(), e.log)
	}
}
