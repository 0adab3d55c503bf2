package main

import (
	"fmt"
	"testing"
	"time"

	"kith/social"
	"kith/socialtest"
)

// P2 for accounts: what was answered holds through every server at once, but for tokens
// that have ended: those every server refuses within a second.
func TestTokensAndPasswordsAreOneThroughAllServers(t *testing.T) {
	eachCached(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		for i := range len(w.servers) {
			here, there := w.servers[i], w.servers[(i+1)%len(w.servers)]
			me := w.person(t)
			handle := fmt.Sprintf("u%d_test", w.people)
			at := func(p person, s *server) person { p.Handler = s.handler; return p }
			before := at(me, there).signIn(t, handle, "password")

			d := at(me, here).OK(t, passwordDoc, map[string]any{"c": "password", "n": "passw0rd"}).Get("changePassword")
			since := time.Now()
			now := me
			now.Token = d.Get("token").String()
			same(t, "the new token there", at(now, there).isIn(t), true)
			same(t, "the new token here", at(now, here).isIn(t), true)
			other := at(me, there).signIn(t, handle, "passw0rd")
			same(t, "signed in with the new password", at(other, here).isIn(t), true)
			wantError(t, at(person{}, there).Do(t, signInDoc, map[string]any{"h": handle, "p": "password"}), social.Unauthenticated, "")
			for _, old := range []person{me, before} {
				same(t, "an old token here", at(old, here).isIn(t), false)
				at(old, there).out(t, "an old token there", since)
			}

			at(other, here).OK(t, signOutDoc, nil)
			since = time.Now()
			same(t, "signed out here", at(other, here).isIn(t), false)
			at(other, there).out(t, "signed out there", since)
			at(other, there).OK(t, signOutDoc, nil)
			same(t, "another token", at(now, there).isIn(t), true)

			at(now, there).OK(t, signOutDoc, map[string]any{"e": true})
			since = time.Now()
			at(now, here).out(t, "signed out everywhere", since)
			last := at(me, here).signIn(t, handle, "passw0rd")
			same(t, "signed in again", at(last, there).isIn(t), true)

			at(last, here).OK(t, `mutation { updateProfile(input: {isPrivate: true}) { userId } }`, nil)
			if v := at(last, there).OK(t, `{ viewer { isPrivate } }`, nil); v.Raw != `{"viewer":{"isPrivate":true}}` {
				t.Errorf("reads %s", v)
			}

			if id := at(last, there).OK(t, deleteMeDoc, map[string]any{"p": "passw0rd"}).Get("deleteAccount.deletedUserId").String(); id != me.gid {
				t.Errorf("deleted %s", id)
			}
			since = time.Now()
			// By a token that may let in for a second the person is not there any more.
			if a := at(last, here).Do(t, `query($u: ID!) { viewer { id } node(id: $u) { id } }`, map[string]any{"u": me.gid}); a.Status != 401 && a.Body[:len(`{"data":{"viewer":null,"node":null}`)] != `{"data":{"viewer":null,"node":null}` {
				t.Errorf("the deleted reads %s", a.Body)
			}
			for _, s := range w.servers {
				wantError(t, at(person{}, s).Do(t, signInDoc, map[string]any{"h": handle, "p": "passw0rd"}), social.Unauthenticated, "")
				wantError(t, at(person{}, s).Do(t, signUpDoc, map[string]any{"h": handle}), social.Conflict, "handle")
				if d := at(person{}, s).OK(t, fmt.Sprintf(`{ user(handle: %q) { id } }`, handle), nil); d.Raw != `{"user":null}` {
					t.Errorf("found %s", d)
				}
			}
			for began := time.Now(); at(last, here).Do(t, `{ viewer { id } }`, nil).Status != 401; began = time.Now() {
				if began.Sub(since) >= time.Second {
					t.Fatal("the token of the deleted lets in")
				}
			}
		}
	})
}

// A server whose work stands still, and that hears of nothing, refuses within a second too.
func TestAServerThatHearsNothingRefusesEndedTokensToo(t *testing.T) {
	eachShared(t, 2, nil, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		first := w.person(t)
		second := first.at(w.servers[1]).signIn(t, "u1_test", "password")
		same(t, "before", first.at(w.servers[1]).isIn(t), true)
		w.halt(1)
		first.OK(t, signOutDoc, nil)
		first.at(w.servers[1]).out(t, "signed out by another", time.Now())
		same(t, "another token", second.isIn(t), true)
		w.setStatus(t, first, social.Suspended) // by a command
		second.out(t, "suspended", time.Now())
	})
}

// A server that has just begun, or does not hear of events, asks the store.
func TestAServerThatBeginsRefusesEndedTokensAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, socialtest.NewMySQL(t))
	first := w.person(t)
	second := first.signIn(t, "u1_test", "password")
	first.OK(t, signOutDoc, nil)
	begins := wired(t, w.Store, 3, func(cfg *settings) { cfg.limits.RateLimits = "off" })
	same(t, "signed out before it began", first.at(begins).isIn(t), false)
	same(t, "another token", second.at(begins).isIn(t), true)
	second.OK(t, signOutDoc, nil)
	same(t, "signed out since", second.at(begins).isIn(t), false)
	w.Exec(t, "ALTER TABLE revoked RENAME TO away")
	a := w.persons(t, 2)[1].at(begins).Do(t, `{ viewer { id } }`, nil)
	if a.Status != 500 || a.Code() != "INTERNAL" {
		t.Errorf("while nobody knows: %d %s", a.Status, a.Body)
	}
}
