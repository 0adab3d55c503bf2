package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"testing"

	"kith/social"
	"kith/socialtest"
)

// P6: a page of people ends at the last row that was read, also where that is of somebody
// hidden. The cursor of it tells neither who that is nor since when.
func TestCursorsTellNothingOfWhoIsHidden(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(t *testing.T, v *walled){
		"blocked by whom one looks for": func(t *testing.T, v *walled) { v.hidden.relate(t, "block", v.viewer) },
		"suspended":                     func(t *testing.T, v *walled) { v.setStatus(t, v.hidden, social.Suspended) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newWalled(t, newWorld(t, socialtest.NewSQLite(t)))
			hide(t, v)
			since := v.Int(t, "SELECT since FROM following WHERE user_id = ? AND target_id = ?", v.hidden.id, v.between.id)
			secrets := map[string][]byte{
				"the id": binary.AppendUvarint(nil, uint64(v.hidden.id)), "the time": binary.AppendUvarint(nil, uint64(since)), "the handle": []byte(hiddenHandle),
			}
			const info = `{ nodes { id } pageInfo { startCursor endCursor } }`
			a := v.viewer.OK(t, `query($u: ID!) { search: searchUsers(handlePrefix: "hidden_o") `+info+`
				of: node(id: $u) { ... on User { followers `+info+` following `+info+` mutualFollows `+info+` followersYouKnow `+info+` } }
				blockedUsers `+info+` mutedUsers `+info+` followRequests `+info+` }`, map[string]any{"u": v.between.gid})
			cursors := 0
			for _, list := range []string{"search", "of.followers", "of.following", "of.mutualFollows", "of.followersYouKnow", "blockedUsers", "mutedUsers", "followRequests"} {
				for _, end := range []string{"startCursor", "endCursor"} {
					text := a.Get(list + ".pageInfo." + end).String()
					if text == "" {
						continue
					}
					cursors++
					raw, err := base64.RawURLEncoding.DecodeString(text)
					if err != nil {
						t.Errorf("%s: %v", list, err)
					}
					for what, secret := range secrets {
						if bytes.Contains(raw, secret) {
							t.Errorf("the %s of %s tells %s", end, list, what)
						}
					}
				}
			}
			if cursors < 6 {
				t.Errorf("only %d cursors: %s", cursors, a)
			}
		})
	}
}

// Somebody hidden does not end a list: the page after theirs goes on.
func TestAPageWhosePeopleAreAllHiddenCanBePassed(t *testing.T) {
	t.Parallel()
	eachWorld(t, func(t *testing.T, w *world) {
		u := w.persons(t, 5)
		hub, me := u[0], u[4]
		for _, p := range u[1:4] {
			p.follow(t, hub)
		}
		u[1].about(t, "block", me)
		u[3].about(t, "block", me)
		var seen []string
		for after, more, n := "", true, 0; more; n++ {
			l := list(t, me.Client, hub.gid, "followers", 1, after)
			seen = append(seen, l.ids...)
			after, more = l.info.Get("endCursor").String(), l.next
			if n > 3 {
				t.Fatal("the list does not end")
			}
		}
		if len(seen) != 1 || seen[0] != u[2].gid {
			t.Errorf("saw %v", seen)
		}
	})
}
