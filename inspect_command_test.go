package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"kith/social"
	"kith/socialtest"
)

// inspected is a world with a reader, @u1_test, who follows an author, and was read to.
type inspected struct {
	*cachedWorld
	redis          *socialtest.Redis
	reader, author person
}

// newInspected makes a world whose inboxes are built of three blogs, and keep one more.
func newInspected(t *testing.T) *inspected {
	t.Helper()
	r := socialtest.NewRedis(t)
	w := newCachedWorld(t, socialtest.NewMySQL(t), r, 1, func(_ int, cfg *settings) { cfg.inboxSize = 4 })
	t.Cleanup(w.close)
	i := &inspected{cachedWorld: w, redis: r, reader: w.person(t), author: w.person(t)}
	i.reader.follow(t, i.author)
	return i
}

// stop ends all work beside requests, so that nothing changes any more by itself.
func (i *inspected) stop(t *testing.T) {
	t.Helper()
	i.drained(t)
	i.halt(0)
}

// tells runs the command about the reader's feed and checks that it tells all of these.
func (i *inspected) tells(t *testing.T, blog string, want ...string) {
	t.Helper()
	args := on(i.Store, "inspect", "feed", "u1_test", "--redis", i.redis.URL())
	if blog != "" {
		args = append(args, "--blog", blog)
	}
	code, out, errs := kith(t, args...)
	text := strings.Join(fields(out), "\n")
	for _, w := range want {
		if code != 0 || !strings.Contains(text, w) {
			t.Errorf("exit code %d, want %q in:\n%s%s", code, w, text, errs)
		}
	}
}

// key is the one key of a kind.
func (i *inspected) key(t *testing.T, pattern string) string {
	t.Helper()
	keys, err := i.redis.Client().Keys(t.Context(), pattern).Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("%v of %s: %v", keys, pattern, err)
	}
	return keys[0]
}

func numberOf(t *testing.T, gid string) social.ID {
	t.Helper()
	id, err := social.ParseIDOf(social.BlogNode, "", gid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestInspectTellsWhyABlogIsInTheFeed(t *testing.T) {
	t.Parallel()
	i := newInspected(t)
	stranger := i.person(t)
	gone, muted := i.person(t), i.person(t)
	old, low, deleted := i.author.publish(t, "old"), i.author.publish(t, "low"), i.author.publish(t, "deleted")
	top := i.author.publish(t, "top")
	own, other := i.reader.publish(t, "own"), stranger.publish(t, "other")
	i.author.delete(t, deleted)
	i.reader.follow(t, gone)
	orphan := gone.publish(t, "orphan")
	i.reader.follow(t, muted)
	i.reader.about(t, "mute", muted)
	quiet := muted.publish(t, "quiet")
	i.drained(t)
	i.reader.feed(t, 20, "")
	i.stop(t)
	i.Exec(t, "DELETE FROM user WHERE id = ?", gone.id)
	later := i.author.publish(t, "later")
	for blog, want := range map[string]string{
		top:                       "is in the feed of @u1_test: it is in the inbox, and is shown.",
		numberOf(t, top).String(): "of @u2_test is in the feed of @u1_test: it is in the inbox",
		low:                       "it is in the inbox",
		old:                       "is in the feed of @u1_test: it is below the inbox, where SQL is read.",
		later:                     "is not yet in the feed of @u1_test: it has not been fanned out. The consumer is 1 events behind.",
		deleted:                   "is not in the feed: it was deleted.",
		own:                       "it is @u1_test's own",
		other:                     "@u1_test does not follow @u3_test.",
		quiet:                     "is not in the feed: @u1_test follows @u5_test, and mutes them.",
		orphan:                    "its author's account is suspended or does not exist any more.",
		"12345":                   "There is no such blog: 12345.",
	} {
		i.tells(t, blog, want)
	}
}

func TestInspectPrintsTheInbox(t *testing.T) {
	t.Parallel()
	i := newInspected(t)
	left := i.person(t)
	i.reader.follow(t, left)
	floor, first, second := i.author.publish(t, "floor"), i.author.publish(t, "first"), i.author.publish(t, "second")
	i.drained(t)
	i.reader.feed(t, 20, "")
	parted := left.publish(t, "of somebody who is followed no more")
	i.stop(t)
	i.Exec(t, "UPDATE following SET state = 0 WHERE target_id = ?", left.id) // behind the back of the caches
	i.author.delete(t, first)
	third := i.author.publish(t, "third")
	i.tells(t, "",
		"caches of partition ", " are on, in epoch 1; its Redis says the same",
		"follows 1 in SQL, at version 2",
		"in Redis 2, at version 2, for 16", "; these are not the same people, which is a fault",
		"inbox whole, 4 entries, for 16",
		"floor blog "+numberOf(t, floor).String()+" of 20",
		"fan-out The consumer is 2 events behind.",
		numberOf(t, parted).String()+" ", "@u3_test author not followed any more",
		numberOf(t, second).String()+" ", "@u2_test shown",
		numberOf(t, first).String()+" ", "@u2_test deleted",
		"In SQL, at or above the floor, and not in the inbox:\nBLOG TIME AUTHOR\n"+numberOf(t, third).String(),
		"@u2_test not fanned out yet")
}

func TestInspectTellsAFault(t *testing.T) {
	t.Parallel()
	i := newInspected(t)
	_, lost, _ := i.author.publish(t, "a"), i.author.publish(t, "b"), i.author.publish(t, "c")
	i.drained(t)
	i.reader.feed(t, 20, "")
	i.stop(t)
	inbox := i.key(t, "inbox:*")
	member, err := i.redis.Client().ZRange(t.Context(), inbox, 1, 1).Result()
	if err != nil {
		t.Fatal(err)
	}
	i.redis.Client().ZRem(t.Context(), inbox, member[0])
	i.tells(t, lost, "is not in the feed of @u1_test, and should be", "deleting the key "+inbox)
	i.tells(t, "", "@u2_test lacking: a fault", "in Redis 1, at version 1", "; the same people")
	putDeadLetters(t, i.Store, 2)
	i.Exec(t, "UPDATE dead_letter SET consumer = 'feed'")
	i.tells(t, lost, "has not been fanned out. The consumer is 0 events behind, and could not take 2: see kith events dead list.")
}

func TestInspectTellsWhenNoInboxIsUsed(t *testing.T) {
	t.Parallel()
	i := newInspected(t)
	blog := i.author.publish(t, "a blog")
	i.stop(t)
	sql := []string{"The newest of the feed, from SQL:", "@u2_test shown"}
	i.tells(t, "", append(sql, "in Redis nothing", "inbox none: it is built when the feed is next read")...)
	i.tells(t, blog, "is in the feed of @u1_test: no inbox is used now, and SQL is read.")
	i.begin(0)
	i.awaitOn(t)
	i.reader.feed(t, 20, "")
	i.stop(t)
	i.tells(t, "", "floor complete to the beginning")
	i.redis.Client().ZAdd(t.Context(), i.key(t, "inbox:*"), redis.Z{Score: math.Inf(-1), Member: "a token, 16 long"})
	i.tells(t, "", append(sql, "inbox being built, 1 entries so far, for ", "floor none while")...)
	i.redis.DropKeys(t, "epoch:*")
	i.tells(t, "", "its Redis has another history")
	i.redis.Kill(t)
	i.tells(t, "", append(sql, "Redis does not answer: SQL is read")...)
	i.Exec(t, "UPDATE cache_state SET is_on = 0")
	i.tells(t, "", append(sql, " are off: SQL is read")...)
}

// Looking at a feed leaves it as it is, also what is missing.
func TestInspectChangesNothing(t *testing.T) {
	t.Parallel()
	i := newInspected(t)
	i.author.publish(t, "a blog")
	i.drained(t)
	i.reader.feed(t, 20, "")
	i.stop(t)
	for _, dropped := range []string{"nothing:*", "following:*", "inbox:*", "*"} {
		i.redis.DropKeys(t, dropped)
		before, rows := i.redis.Client().Keys(t.Context(), "*").Val(), i.Int(t, "SELECT SUM(seq) FROM lane")
		i.tells(t, "")
		after := i.redis.Client().Keys(t.Context(), "*").Val()
		if len(before) != len(after) || i.Int(t, "SELECT SUM(seq) FROM lane") != rows {
			t.Errorf("without %s: %v became %v", dropped, before, after)
		}
	}
}

// The Redis of an embedded store is in its server's process.
func TestInspectTellsOfAnEmbeddedStoreWhatSQLSays(t *testing.T) {
	t.Parallel()
	s := socialtest.NewSQLite(t)
	w := newWorld(t, s)
	reader, author := w.person(t), w.person(t)
	reader.follow(t, author)
	blog := author.publish(t, "a blog")
	for want, args := range map[string][]string{
		"this is what SQL says":           {"u1_test"},
		"follows 1 in SQL, at version 1":  {"u1_test"},
		"@u2_test shown":                  {"U1_test"},
		"no inbox is used now":            {"u1_test", "--blog", blog},
		"There is no such blog: 9":        {"u1_test", "--blog", "9"},
		"No worker has ever":              {"u1_test"},
		"it is @u2_test's own, and own b": {"u2_test", "--blog", blog},
	} {
		code, out, errs := kith(t, on(s, append([]string{"inspect", "feed"}, args...)...)...)
		if code != 0 || !strings.Contains(strings.Join(fields(out), "\n"), want) {
			t.Errorf("%v: exit code %d: %s%s", args, code, out, errs)
		}
	}
	folder := filepath.Dir(s.Config.SQLite)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{1, `nobody has the handle "nobody"`, []string{"nobody", "--data", folder}},
		{1, `nobody has the handle "x"`, []string{"x", "--data", folder}},
		{1, "no embedded store", []string{"u1_test", "--data", t.TempDir()}},
		{2, "--blog: this is not an id", []string{"u1_test", "--blog", "nonsense", "--data", folder}},
		{2, "not of a Blog", []string{"u1_test", "--blog", reader.gid, "--data", folder}},
		{2, "go together", []string{"u1_test", "--redis", "redis://127.0.0.1:1"}},
	} {
		if code, _, errs := kith(t, append([]string{"inspect", "feed"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, errs)
		}
	}
}
