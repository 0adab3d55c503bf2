package db_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kith/db"
	"kith/social"
	"kith/socialtest"
)

// named writes a person of each handle, with ids from 1.
func named(t testing.TB, s *socialtest.Store, handles ...string) {
	t.Helper()
	write(t, s.DB, func(ctx context.Context, tx *db.Tx) error {
		for i, h := range handles {
			if err := tx.InsertUser(ctx, &social.User{ID: social.ID(i + 1), Handle: h, Name: "x"}, ""); err != nil {
				return err
			}
		}
		return nil
	})
}

var manyHandles = []string{
	"abc", "ab_", "ab0", "ab9", "abz", "ab_c", "ab__", "abcd", "abc0", "abc_", "aac", "aaz", "acb", "a_b", "a_bc", "axb", "a0b", "azz", "az_",
	"zzz", "zz_", "zz9", "999", "99_", "___", "__a", "_ab", "100", strings.Repeat("z", 30), strings.Repeat("z", 29), strings.Repeat("_", 30),
	strings.Repeat("z", 29) + "_", strings.Repeat("9", 30),
}

// A _ is a letter like any other, and 0 the lowest, z the highest: every beginning finds
// just whose handle begins so, by handle, in pages of every size.
func TestHandlesAreFoundByTheirBeginning(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		named(t, s, manyHandles...)
		ordered := slices.Sorted(slices.Values(manyHandles))
		prefixes := map[string]bool{"no": true, "zzzy": true}
		for _, h := range manyHandles {
			for n := 2; n <= len(h); n++ {
				prefixes[h[:n]] = true
			}
		}
		for prefix := range prefixes {
			var want []string
			for _, h := range ordered {
				if strings.HasPrefix(h, prefix) {
					want = append(want, h)
				}
			}
			n, err := s.DB.CountHandles(t.Context(), prefix)
			noError(t, err)
			equal(t, "count of "+prefix, n, int64(len(want)))
			for size := 1; size <= len(want)+1; size++ {
				var got []string
				after := ""
				for {
					users, err := s.DB.UsersByHandle(t.Context(), prefix, after, size)
					noError(t, err)
					for _, u := range users {
						got = append(got, u.Handle)
						equal(t, "id of "+u.Handle, int(u.ID), 1+slices.Index(manyHandles, u.Handle))
					}
					if len(users) < size {
						break
					}
					after = got[len(got)-1]
				}
				equal(t, fmt.Sprintf("%q by %d", prefix, size), got, want)
			}
		}
	})
}

// Where the last of a page has gone, the next begins at the same place.
func TestSearchGoesOnAfterAHandleThatIsGone(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		named(t, s, "ab0", "ab00", "ab1", "ab_")
		s.Exec(t, "DELETE FROM user WHERE handle = 'ab0'")
		users, err := s.DB.UsersByHandle(t.Context(), "ab", "ab0", 2)
		noError(t, err)
		equal(t, "next", users[0].Handle+" "+users[1].Handle, "ab00 ab1")
	})
}

func TestHandlesAreCountedToTenThousand(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		var rows []string
		for i := range db.MaxCounted + 5 {
			rows = append(rows, fmt.Sprintf("(%d,'ab%05d','x','','')", i+1, i))
		}
		for chunk := range slices.Chunk(rows, 2000) {
			s.Exec(t, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES "+strings.Join(chunk, ","))
		}
		for prefix, want := range map[string]int64{"ab": 10_000, "ab0": 10_000, "ab01": 1000, "ab1": 5} {
			n, err := s.DB.CountHandles(t.Context(), prefix)
			noError(t, err)
			equal(t, prefix, n, want)
		}
	})
}

func TestIDsAreFoundByHandle(t *testing.T) {
	t.Parallel()
	socialtest.Each(t, func(t *testing.T, s *socialtest.Store) {
		named(t, s, "abc", "ab_")
		ids, err := s.DB.IDsByHandle(t.Context(), []string{"ab_", "abx", "abc", "ABC", "", "abc "})
		noError(t, err)
		names := []string{}
		for h, id := range ids {
			names = append(names, fmt.Sprint(h, "=", int(id)))
		}
		slices.SortFunc(names, cmp.Compare[string])
		equal(t, "found", names, []string{"ab_=2", "abc=1"})
	})
}
