package account_test

import (
	"strings"
	"sync"
	"testing"

	"kith/account"
	"kith/social"
	"kith/socialtest"
)

func profile(t testing.TB, s *socialtest.Store, id social.ID) *social.User {
	t.Helper()
	users, err := s.DB.UsersByID(t.Context(), []social.ID{id})
	noError(t, err)
	return users[0]
}

func TestPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		id := signUp(t, a, "alice").User.ID
		bystander := signUp(t, a, "bob").User.ID
		p := func(s string) *string { return &s }
		for _, c := range []struct {
			patch             account.ProfilePatch
			name, bio, avatar string
		}{
			{account.ProfilePatch{}, "Name", "", ""},
			{account.ProfilePatch{Name: p("Alice")}, "Alice", "", ""},
			{account.ProfilePatch{Bio: p("a\n\tb")}, "Alice", "a\n\tb", ""},
			{account.ProfilePatch{AvatarURL: p("https://e.io/a")}, "Alice", "a\n\tb", "https://e.io/a"},
			{account.ProfilePatch{Name: p("A"), Bio: p("")}, "A", "", "https://e.io/a"},
			{account.ProfilePatch{AvatarURL: p("")}, "A", "", ""},
			{account.ProfilePatch{Name: p(strings.Repeat("😀", 50)), Bio: p(strings.Repeat("😀", 500))},
				strings.Repeat("😀", 50), strings.Repeat("😀", 500), ""},
		} {
			noError(t, a.UpdateProfile(t.Context(), id, c.patch))
			u, avatar := profile(t, s, id), ""
			if u.AvatarURL != nil {
				avatar = *u.AvatarURL
			}
			if u.Name != c.name || u.Bio != c.bio || avatar != c.avatar {
				t.Errorf("got %q, %q, %q; want %q, %q, %q", u.Name, u.Bio, avatar, c.name, c.bio, c.avatar)
			}
		}
		if u := profile(t, s, bystander); u.Name != "Name" {
			t.Errorf("the other became %+v", u)
		}
		if n := s.Int(t, "SELECT COUNT(*) FROM outbox"); n != 2+6 { // none for the patch of nothing
			t.Errorf("%d events", n)
		}
	})
}

func TestPatchThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		a := accounts(t, s)
		id := signUp(t, a, "alice").User.ID
		good := "good"
		for _, c := range []struct {
			text, field string
			patch       func(*string) account.ProfilePatch
		}{
			{"", "name", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: s, Bio: &good} }},
			{" ", "name", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: s} }},
			{strings.Repeat("x", 51), "name", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: s} }},
			{"a\x00", "name", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: s} }},
			{strings.Repeat("x", 501), "bio", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: &good, Bio: s} }},
			{"\xff", "bio", func(s *string) account.ProfilePatch { return account.ProfilePatch{Bio: s} }},
			{"nowhere", "avatarUrl", func(s *string) account.ProfilePatch { return account.ProfilePatch{Name: &good, AvatarURL: s} }},
			{" ", "avatarUrl", func(s *string) account.ProfilePatch { return account.ProfilePatch{AvatarURL: s} }},
			{"javascript:alert(1)", "avatarUrl", func(s *string) account.ProfilePatch { return account.ProfilePatch{AvatarURL: s} }},
		} {
			fails(t, c.text, a.UpdateProfile(t.Context(), id, c.patch(&c.text)), social.BadUserInput, c.field)
		}
		if u := profile(t, s, id); u.Name != "Name" || u.Bio != "" || u.AvatarURL != nil {
			t.Errorf("became %+v", u)
		}
		fails(t, "nobody's profile", a.UpdateProfile(t.Context(), 99, account.ProfilePatch{Name: &good}), social.Unauthenticated, "")
	})
}

// Three fields at once, from two servers, many times: no patch takes another's field back.
func TestPatchesOfDifferentFieldsAllTakeEffect(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		other := *s
		other.DB = s.OpenServer(t)
		servers := []*account.Accounts{accounts(t, s), accounts(t, &other)}
		id := signUp(t, servers[0], "alice").User.ID
		for _, round := range []string{"1", "2", "3", "4", "5"} {
			name, bio, avatar := "Name "+round, "Bio "+round, "https://e.io/"+round
			var all sync.WaitGroup
			for i, patch := range []account.ProfilePatch{{Name: &name}, {Bio: &bio}, {AvatarURL: &avatar}} {
				all.Go(func() {
					if err := servers[i%2].UpdateProfile(t.Context(), id, patch); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if u := profile(t, s, id); u.Name != name || u.Bio != bio || u.AvatarURL == nil || *u.AvatarURL != avatar {
				t.Errorf("round %s: got %+v", round, u)
			}
		}
	})
}
