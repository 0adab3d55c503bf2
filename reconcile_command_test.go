package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kith/ops"
	"kith/social"
	"kith/socialtest"
)

// reconciled is a world whose stores are broken behind its back.
type reconciled struct {
	*world
	redis *socialtest.Redis // nil where Redis cannot be seen
	drain func(t testing.TB)
	p     []person
	blogs []string
}

// people of the world, by what is broken of them.
const (
	theMirrors, theFollows, theDates, theStranger, theUnknown, theBlocked, theBlocker = 0, 1, 2, 3, 4, 5, 6
	theActorless, theCountless, theMiscounted                                         = 7, 8, 9
	theReader, theAuthor, theGarbled, theLeaver, theLeft                              = 10, 11, 12, 13, 14
)

// settle makes relations of every kind, blogs, and the caches of them.
func (r *reconciled) settle(t *testing.T) {
	t.Helper()
	r.p = r.persons(t, 15)
	for _, e := range [][2]int{
		{theMirrors, theFollows}, {theMirrors, theDates}, {theBlocked, theBlocker}, {theBlocker, theBlocked}, {theActorless, theFollows}, {theMirrors, theCountless},
		{theMiscounted, theFollows}, {theFollows, theMiscounted}, {theReader, theAuthor}, {theGarbled, theAuthor}, {theLeft, theLeaver},
	} {
		r.p[e[0]].follow(t, r.p[e[1]])
	}
	for _, who := range []int{theActorless, theMiscounted} {
		r.p[who].OK(t, `mutation($u: ID!) { block(input: {userId: $u}) { user { id } } }`, map[string]any{"u": r.p[theStranger].gid})
		r.p[who].OK(t, `mutation($u: ID!) { mute(input: {userId: $u}) { user { id } } }`, map[string]any{"u": r.p[theUnknown].gid})
		r.p[who].OK(t, `mutation { updateProfile(input: {isPrivate: true}) { user { id } } }`, nil)
		r.p[theMirrors].follow(t, r.p[who]) // asks to
	}
	for _, who := range []int{theAuthor, theAuthor, theAuthor, theLeaver, theLeaver, theCountless, theMiscounted} {
		r.blogs = append(r.blogs, r.p[who].publish(t, "a blog"))
	}
	r.drain(t)
	for _, who := range []int{theReader, theGarbled, theLeft} {
		r.p[who].feed(t, 20, "")
	}
	r.counts(t)
}

// counts fills the cached counts of the author alone.
func (r *reconciled) counts(t *testing.T) {
	t.Helper()
	if r.redis == nil {
		return
	}
	r.redis.DropKeys(t, "count:*")
	for deadline := time.Now().Add(10 * time.Second); len(r.keysOf(t, "count", theAuthor)) == 0; pause(nil, time.Millisecond) {
		// Until what is kept in process is too old.
		r.nobody().OK(t, `query($u: ID!) { node(id: $u) { ... on User { followerCount } } }`, map[string]any{"u": r.p[theAuthor].gid})
		if time.Now().After(deadline) {
			t.Fatal("nobody fills the counts")
		}
	}
}

// keysOf are the keys of a kind of a person: one or none.
func (r *reconciled) keysOf(t *testing.T, kind string, who int) []string {
	t.Helper()
	return r.keys(t, kind, r.p[who].id)
}

func (r *reconciled) keys(t *testing.T, kind string, of social.ID) []string {
	t.Helper()
	keys, err := r.redis.Client().Keys(t.Context(), kind+":*:"+of.String()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// keyOf is the key that is there.
func (r *reconciled) keyOf(t *testing.T, kind string, who int) string {
	t.Helper()
	keys := r.keysOf(t, kind, who)
	if len(keys) != 1 {
		t.Fatalf("%s of %d: %v", kind, who, keys)
	}
	return keys[0]
}

// damage is one kind of drift, and how it comes about.
type damage struct {
	kind  ops.Drift
	times int
	plant func(t *testing.T, r *reconciled)
}

// bySQL changes rows; people stand in the arguments by their place.
func bySQL(statements ...any) func(*testing.T, *reconciled) {
	return func(t *testing.T, r *reconciled) {
		t.Helper()
		for i := 0; i < len(statements); i += 2 {
			var ids []any
			for _, who := range statements[i+1].([]int) {
				ids = append(ids, r.p[who].id)
			}
			r.Exec(t, statements[i].(string), ids...)
		}
	}
}

// rowDamage is what can be wrong with rows, each without a trace in the counts but its own.
var rowDamage = []damage{
	{ops.NoMirror, 1, bySQL(
		`DELETE FROM follower WHERE user_id = ? AND follower_id = ?`, []int{theFollows, theMirrors},
		`UPDATE user_count SET followers = followers - 1 WHERE user_id = ?`, []int{theFollows})},
	{ops.OtherMirror, 2, bySQL(
		`UPDATE follower SET since = since + 1 WHERE user_id = ? AND follower_id = ?`, []int{theDates, theMirrors},
		`UPDATE follower SET state = 1 WHERE user_id = ? AND follower_id = ?`, []int{theMiscounted, theMirrors},
		`UPDATE user_count SET followers = followers + 1, requests = requests - 1 WHERE user_id = ?`, []int{theMiscounted})},
	{ops.NoEdge, 1, bySQL(
		`INSERT INTO follower (user_id, follower_id, state, since) VALUES (?, ?, 1, 5)`, []int{theUnknown, theStranger},
		`UPDATE user_count SET followers = followers + 1 WHERE user_id = ?`, []int{theUnknown})},
	{ops.EdgeAndBlock, 2, bySQL(
		`INSERT INTO block (user_id, target_id, since) VALUES (?, ?, 5)`, []int{theBlocker, theBlocked},
		`UPDATE actor SET blocking = blocking + 1 WHERE user_id = ?`, []int{theBlocker})},
	{ops.NoActor, 1, bySQL(`DELETE FROM actor WHERE user_id = ?`, []int{theActorless})},
	{ops.NoCounts, 1, bySQL(`DELETE FROM user_count WHERE user_id = ?`, []int{theCountless})},
	{ops.WrongFollowing, 1, bySQL(`UPDATE actor SET following = following + 2 WHERE user_id = ?`, []int{theMiscounted})},
	{ops.WrongPending, 1, bySQL(`UPDATE actor SET pending = pending - 1 WHERE user_id = ?`, []int{theMirrors})},
	{ops.WrongBlocking, 1, bySQL(`UPDATE actor SET blocking = 0 WHERE user_id = ?`, []int{theMiscounted})},
	{ops.WrongMuting, 1, bySQL(`UPDATE actor SET muting = 7 WHERE user_id = ?`, []int{theMiscounted})},
	{ops.WrongFollowers, 1, bySQL(`UPDATE user_count SET followers = followers - 5 WHERE user_id = ?`, []int{theMiscounted})},
	{ops.WrongRequests, 1, bySQL(`UPDATE user_count SET requests = 9 WHERE user_id = ?`, []int{theDates})},
	{ops.WrongBlogs, 1, bySQL(`UPDATE user_count SET blogs = blogs + 1 WHERE user_id = ?`, []int{theMiscounted})},
}

// cacheDamage is what can be wrong with what Redis holds.
var cacheDamage = []damage{
	{ops.CacheFollowing, 1, func(t *testing.T, r *reconciled) {
		r.p[theReader].feed(t, 20, "") // fills what a repair has dropped
		r.redis.Client().ZRemRangeByRank(t.Context(), r.keyOf(t, "following", theReader), -1, -1)
	}},
	{ops.CacheFollowing, 1, func(t *testing.T, r *reconciled) { // of an older version
		r.p[theReader].feed(t, 20, "")
		r.redis.Client().ZIncrBy(t.Context(), r.keyOf(t, "following", theReader), -1, "v")
	}},
	{ops.CacheCounts, 1, func(t *testing.T, r *reconciled) {
		r.counts(t)
		r.redis.Client().SetArgs(t.Context(), r.keyOf(t, "count", theAuthor), "9 9 9", keepTTL)
	}},
	{ops.InboxLacks, 1, func(t *testing.T, r *reconciled) {
		r.p[theReader].feed(t, 20, "")
		r.redis.Client().ZRemRangeByRank(t.Context(), r.keyOf(t, "inbox", theReader), -1, -1)
	}},
	{ops.CacheGarbled, 1, func(t *testing.T, r *reconciled) {
		r.p[theGarbled].feed(t, 20, "")
		r.redis.Client().ZAdd(t.Context(), r.keyOf(t, "following", theGarbled), garbage)
	}},
}

// run runs the command and gives its exit code and its lines.
func (r *reconciled) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	args = on(r.Store, append([]string{"reconcile"}, args...)...)
	if r.redis != nil {
		args = append(args, "--redis", r.redis.URL())
	}
	code, out, errs := kith(t, args...)
	return code, strings.Join(fields(out), "\n") + "\n" + errs
}

// kinds are the lines of a table about these damages.
func kinds(ds []damage, mended bool) (lines []string) {
	for _, d := range ds {
		m := 0
		if mended {
			m = d.times
		}
		lines = append(lines, fmt.Sprintf("\n%s %d %d\n", d.kind, d.times, m))
	}
	return lines
}

// tells checks that the command tells these lines, and of no other kind.
func (r *reconciled) tells(t *testing.T, what string, code int, lines []string, args ...string) {
	t.Helper()
	got, out := r.run(t, args...)
	if got != code {
		t.Errorf("%s: exit code %d, want %d:\n%s", what, got, code, out)
	}
	for _, l := range lines {
		if !strings.Contains(out, l) {
			t.Errorf("%s: no %q in\n%s", what, l, out)
		}
	}
	if n := strings.Count(out, ", the first "); n != len(lines) {
		t.Errorf("%s: %d kinds, want %d:\n%s", what, n, len(lines), out)
	}
	if strings.Contains(out, "not judged") {
		t.Errorf("%s: %s", what, out)
	}
}

// state is all rows and keys that reconciling may touch.
func (r *reconciled) state(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, q := range []string{
		"SELECT * FROM actor ORDER BY 1", "SELECT * FROM user_count ORDER BY 1", "SELECT * FROM following ORDER BY 1, 2",
		"SELECT * FROM follower ORDER BY 1, 2", "SELECT * FROM blog_like ORDER BY 1, 2", "SELECT * FROM blog_liker ORDER BY 1, 2",
		"SELECT * FROM blog_count ORDER BY 1", "SELECT * FROM lane ORDER BY 1",
	} {
		rows, err := r.SQL.Queryx(q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			row, err := rows.SliceScan()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, row...)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if r.redis != nil {
		keys := r.redis.Client().Keys(t.Context(), "*").Val()
		slices.Sort(keys)
		for _, k := range keys {
			fmt.Fprintln(&b, k, r.redis.Client().Dump(t.Context(), k).Val())
		}
	}
	return b.String()
}

// mends plants damages, and sees them found, left as they are, mended, and gone.
func (r *reconciled) mends(t *testing.T, what string, ds ...damage) {
	t.Helper()
	if r.redis != nil {
		r.redis.DropKeys(t, "count:*") // that follow from rows are damages of their own
		r.redis.DropKeys(t, "likecount:*")
	}
	for _, d := range ds {
		d.plant(t, r)
	}
	before := r.state(t)
	r.tells(t, what, 1, kinds(ds, false))
	if after := r.state(t); after != before {
		t.Errorf("%s: looking changed\n%s\nto\n%s", what, before, after)
	}
	r.tells(t, what+", mended", 0, kinds(ds, true), "--repair")
	r.drain(t)
	r.tells(t, what+", afterwards", 0, nil)
	r.CheckInvariants(t)
}

// newReconciled is a world on MariaDB and Redis, with one server at work, of which few likes of
// each person are kept.
func newReconciled(t *testing.T) (*reconciled, *cachedWorld) {
	t.Helper()
	redis := socialtest.NewRedis(t)
	w := newCachedWorld(t, socialtest.NewMySQL(t), redis, 1, func(_ int, cfg *settings) { cfg.likesKept = 3 })
	t.Cleanup(w.close)
	return &reconciled{world: w.world, redis: redis, drain: w.drained}, w
}

func eachReconciled(t *testing.T, test func(t *testing.T, r *reconciled)) {
	t.Run("mysql and redis", func(t *testing.T) {
		t.Parallel()
		r, _ := newReconciled(t)
		test(t, r)
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, &reconciled{world: newWorld(t, socialtest.NewSQLite(t)), drain: func(testing.TB) {}})
	})
}

func TestReconcileFindsAndMendsEveryKindOfDrift(t *testing.T) {
	t.Parallel()
	eachReconciled(t, func(t *testing.T, r *reconciled) {
		r.settle(t)
		r.tells(t, "at first", 0, nil)
		all := rowDamage
		if r.redis != nil {
			all = slices.Concat(rowDamage, cacheDamage)
		}
		for n, d := range all {
			r.mends(t, fmt.Sprintf("%s (%d)", d.kind, n), d)
		}
		if r.redis != nil { // one of each kind
			all = slices.Delete(all, len(rowDamage)+1, len(rowDamage)+2)
		}
		r.blockAgain(t)
		r.mends(t, "all together", all...)
		for edge, want := range map[[2]int]social.FollowState{
			{theMirrors, theFollows}: social.Following, {theMirrors, theDates}: social.Following, {theMirrors, theMiscounted}: social.Requested,
			{theStranger, theUnknown}: social.NotFollowing, {theBlocked, theBlocker}: social.NotFollowing, {theBlocker, theBlocked}: social.NotFollowing,
		} {
			got := r.Int(t, "SELECT state FROM following WHERE user_id = ? AND target_id = ?", r.p[edge[0]].id, r.p[edge[1]].id)
			if got != int64(want) {
				t.Errorf("the edge %v is in state %d, want %d", edge, got, want)
			}
		}
		r.p[theActorless].unfollow(t, r.p[theFollows]) // as anybody can
	})
}

// blockAgain lets what was planted once be planted again.
func (r *reconciled) blockAgain(t *testing.T) {
	t.Helper()
	bySQL(`DELETE FROM block WHERE user_id = ?`, []int{theBlocker}, `UPDATE actor SET blocking = 0 WHERE user_id = ?`, []int{theBlocker},
		`DELETE FROM following WHERE user_id = ? AND target_id = ?`, []int{theStranger, theUnknown},
		`DELETE FROM follower WHERE user_id = ? AND follower_id = ?`, []int{theUnknown, theStranger})(t, r)
	r.p[theBlocked].follow(t, r.p[theBlocker])
	r.p[theBlocker].follow(t, r.p[theBlocked])
	r.drain(t)
}

// What no reader sees is told and mended, and is no drift.
func TestReconcileTellsOfLeftoversInInboxesWithoutAlarm(t *testing.T) {
	t.Parallel()
	r, _ := newReconciled(t)
	r.settle(t)
	r.Exec(t, "UPDATE blog SET status = 1 WHERE id = ?", numberOf(t, r.blogs[3]))
	bySQL("UPDATE user_count SET blogs = blogs - 1 WHERE user_id = ?", []int{theLeaver})(t, r)
	leftovers := []damage{{kind: ops.InboxLeftovers, times: 1}}
	r.tells(t, "leftovers", 0, kinds(leftovers, false))
	r.tells(t, "leftovers, mended", 0, kinds(leftovers, true), "--repair")
	r.tells(t, "afterwards", 0, nil)
}

// While nobody brings changes to the caches, what is behind is not called wrong.
func TestReconcileJudgesNoCachesThatChangesAreOnTheirWayTo(t *testing.T) {
	t.Parallel()
	r, w := newReconciled(t)
	r.settle(t)
	w.halt(0)
	r.p[theAuthor].publish(t, "on its way")
	code, out := r.run(t)
	if code != 0 || !strings.Contains(out, "0 things disagree") || !strings.Contains(out, "The caches of 2 people were not judged") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestReconcileRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, "no embedded store", []string{"--data", t.TempDir()}},
		{2, "go together", []string{"--redis", "redis://127.0.0.1:1"}},
		{2, "go together", []string{"--mysql", "root@tcp(127.0.0.1:1)/x"}},
		{2, "--from: this is not an id", on(s, "--from", "nonsense")},
		{2, "--from: this is not an id", on(s, "--from", "0")},
		{2, "not of a User", on(s, "--from", social.GlobalID(social.BlogNode, 7))},
	} {
		if code, _, errs := kith(t, append([]string{"reconcile"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, errs)
		}
	}
	if code, _, _ := kith(t, "reconcile", "--mend"); code != 2 {
		t.Errorf("an unknown flag: exit code %d", code)
	}
}
