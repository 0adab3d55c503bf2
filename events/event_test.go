package events_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"kith/db"
	"kith/events"
	"kith/social"
)

func TestBodiesGetTheTypeOfTheirKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind social.EventKind
		body string
		want any
	}{
		{social.UserEvent, `{"user":"9007199254740993"}`, social.UserBody{UserID: 9007199254740993}},
		{social.UserEvent, `{"user":"7","newer":true}`, social.UserBody{UserID: 7}},
		{social.UserEvent, `{"user":"7","ended":null}`, social.UserBody{UserID: 7}},
		{social.BlogEvent, `{"blog":"5","author":"7"}`, social.BlogBody{BlogID: 5, AuthorID: 7}},
		{social.BlogEvent, `{"blog":"5","author":"7","deleted":true}`, social.BlogBody{BlogID: 5, AuthorID: 7, Deleted: true}},
		{social.FollowEvent, `{"changes":[{"user":"1","target":"2","state":1,"since":5,"version":3}]}`, social.FollowBody{
			Changes: []social.FollowChange{{UserID: 1, TargetID: 2, State: social.Following, Since: 5, Version: 3}}}},
	} {
		e, err := events.Decode(db.StoredEvent{Lane: 3, Seq: 9, Kind: c.kind, Body: c.body})
		noError(t, err)
		want := events.Event{Lane: 3, Seq: 9, Event: social.Event{Kind: c.kind, Body: c.want}}
		equal(t, c.body, fmt.Sprintf("%#v", e), fmt.Sprintf("%#v", want))
	}
}

func TestEndedTokensComeBackAsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]social.EndedTokens{
		`{"user":"7","ended":{"token":"a","until":5}}`: {Token: "a", Until: 5},
		`{"user":"7","ended":{"below":3,"until":5}}`:   {Version: 3, Until: 5},
	} {
		e, err := events.Decode(db.StoredEvent{Kind: social.UserEvent, Body: text})
		noError(t, err)
		equal(t, text, *e.Body.(social.UserBody).Ended, want)
		want.UserID = 7 // which the body has
		written, err := json.Marshal(social.UserBody{UserID: 7, Ended: &want})
		noError(t, err)
		equal(t, "written", string(written), text)
	}
}

func TestBodiesThatAreNoneAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    social.EventKind
		body    string
		unknown bool
	}{
		{social.UserEvent, ``, false},
		{social.UserEvent, `null`, false},
		{social.UserEvent, `{}`, false},
		{social.UserEvent, `{"user":7}`, false},
		{social.UserEvent, `{"user":"-7"}`, false},
		{social.UserEvent, `{"user":"99999999999999999999"}`, false},
		{social.UserEvent, `{"user":"7"} more`, false},
		{social.BlogEvent, `{"blog":"5"}`, false},
		{social.FollowEvent, `{"changes":[{"user":"1"}]}`, false},
		{social.FollowEvent, `{"changes":[{"user":"1","target":"2","state":1000,"version":3}]}`, false},
		{"newer", `{"user":"7"}`, true},
		{"", ``, true},
	} {
		_, err := events.Decode(db.StoredEvent{Kind: c.kind, Body: c.body})
		if err == nil {
			t.Errorf("%s %s: read", c.kind, c.body)
		}
		equal(t, "is a kind that is not known: "+c.body, errors.Is(err, events.ErrUnknown), c.unknown)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("user", `{"user":"7"}`)
	f.Add("blog", `{"blog":"5","author":"7","deleted":true}`)
	f.Add("follow", `{"changes":[{"user":"1","target":"2","state":1,"version":3}]}`)
	f.Fuzz(func(t *testing.T, kind, body string) {
		e, err := events.Decode(db.StoredEvent{Kind: social.EventKind(kind), Body: body})
		if err != nil {
			return
		}
		switch b := e.Body.(type) {
		case social.UserBody:
			equal(t, "an id", b.UserID > 0, true)
		case social.BlogBody:
			equal(t, "ids", b.BlogID > 0 && b.AuthorID > 0, true)
		case social.FollowBody:
			for _, c := range b.Changes {
				equal(t, "ids", c.UserID > 0 && c.TargetID > 0, true)
			}
		default:
			t.Errorf("a body of type %T", b)
		}
	})
}
