package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/tidwall/gjson"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"kith/social"
)

// liveQuery subscribes to all that an edge has.
const liveQuery = `subscription($s: String) { feedItemAdded(since: $s) { cursor node { id title author { id handle isFollowingViewer } } } }`

// lives runs subscriptions of a server as its transports do, by the executor alone.
type lives struct{ exec *executor.Executor }

func livesOf(s *server) lives {
	exec := executor.New(s.schema(0))
	exec.SetErrorPresenter(func(_ context.Context, err error) *gqlerror.Error {
		var known *social.Error
		if !errors.As(err, &known) {
			return gqlerror.Errorf("%s", err)
		}
		return &gqlerror.Error{Message: known.Message, Extensions: map[string]any{"code": string(known.Code), "field": known.Field}}
	})
	return lives{exec}
}

// stream is one subscription.
type stream struct {
	handler graphql.ResponseHandler
	ctx     context.Context
	end     context.CancelFunc
	field   string // of Subscription
}

// open subscribes as somebody, since a cursor or, with "", from now on.
func (l lives) open(t testing.TB, viewer social.ID, since string) *stream {
	t.Helper()
	vars := map[string]any{}
	if since != "" {
		vars["s"] = since
	}
	return l.subscribe(t, viewer, "feedItemAdded", liveQuery, vars)
}

// subscribe runs a subscription to a field.
func (l lives) subscribe(t testing.TB, viewer social.ID, field, query string, vars map[string]any) *stream {
	t.Helper()
	ctx, end := context.WithCancel(social.WithViewer(context.Background(), viewer))
	ctx = graphql.StartOperationTrace(ctx)
	op, errs := l.exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: vars})
	if errs != nil {
		t.Fatal(errs)
	}
	handler, ctx := l.exec.DispatchOperation(ctx, op)
	return &stream{handler, ctx, end, field}
}

// next is the next event; without one the code of the error, empty at the end. A stream that
// is silent for a minute is ended.
func (s *stream) next() (event gjson.Result, code social.Code) {
	silent := time.AfterFunc(time.Minute, s.end)
	defer silent.Stop()
	return s.await()
}

// await is next however long that takes.
func (s *stream) await() (event gjson.Result, code social.Code) {
	r := s.handler(s.ctx)
	switch {
	case r == nil:
		return event, ""
	case len(r.Errors) > 0:
		text, _ := r.Errors[0].Extensions["code"].(string)
		if text == "" {
			text = r.Errors[0].Error()
		}
		return event, social.Code(text)
	}
	return gjson.Parse(string(r.Data)).Get(s.field), "" // a copy: the data is the executor's
}

// gets asks that the next edges are of these titles.
func (s *stream) gets(t testing.TB, titles ...string) (edge gjson.Result) {
	t.Helper()
	for _, want := range titles {
		var code social.Code
		if edge, code = s.next(); edge.Get("node.title").String() != want {
			t.Fatalf("%s %s, want %s", code, edge, want)
		}
	}
	return edge
}

// ends asks that the stream ends by an error.
func (s *stream) ends(t testing.TB, want social.Code) {
	t.Helper()
	if edge, code := s.next(); code != want {
		t.Errorf("%q %s, want %s", code, edge, want)
	}
	if event, code := s.next(); event.Exists() || code != "" {
		t.Errorf("it goes on: %q %s", code, event)
	}
	s.end()
}

// audience is n people who follow the same authors, as rows: those whose ids come next.
func (w *world) audience(t testing.TB, n, followed int) []social.ID {
	t.Helper()
	first := w.person(t).id + 1000
	var users, actors, counts, following, follower []string
	viewers := make([]social.ID, n)
	for i := range n + followed {
		id := first + social.ID(i)
		users = append(users, fmt.Sprintf("(%d,'v%d','Viewer','','x')", id, id))
		actors = append(actors, fmt.Sprintf("(%d,1,%d)", id, followed))
		counts = append(counts, fmt.Sprintf("(%d,0,0,0)", id))
		if i >= n {
			continue
		}
		viewers[i] = id
		for k := range followed {
			author := first + social.ID(n+k)
			following = append(following, fmt.Sprintf("(%d,%d,1,5)", id, author))
			follower = append(follower, fmt.Sprintf("(%d,%d,1,5)", author, id))
		}
	}
	for into, rows := range map[string][]string{
		"user (id, handle, name, bio, password_hash)": users, "actor (user_id, graph_version, following)": actors,
		"user_count (user_id, followers, blogs, version)": counts, "following (user_id, target_id, state, since)": following,
		"follower (user_id, follower_id, state, since)": follower,
	} {
		for some := range slices.Chunk(rows, 5000) {
			w.Exec(t, "INSERT INTO "+into+" VALUES "+strings.Join(some, ","))
		}
	}
	return viewers
}
