package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/ops"
	"kith/social"
	"kith/socialtest"
)

// people of a world of likes, by what they do.
const (
	theWriter, theFan, theOther, theLover, theLikeless = 0, 1, 2, 3, 4
)

// blogs of a world of likes, by what is broken of their likes.
const (
	likedByFan, likedThen, likedHidden, likedByNobody, likedUncounted, likedMiscounted, likedMisheated = 0, 1, 2, 3, 4, 5, 6
	likedBlogs                                                                                         = 7
)

// settleLikes makes blogs, likes, and the caches of them: of the lover more likes than are kept.
func (r *reconciled) settleLikes(t *testing.T) {
	t.Helper()
	r.p = r.persons(t, 5)
	for range likedBlogs {
		r.blogs = append(r.blogs, r.p[theWriter].publish(t, "a blog"))
	}
	r.p[theOther].like(t, r.blogs[likedHidden])
	for b, blog := range r.blogs {
		r.Clock.Advance(time.Minute)
		if b == likedMisheated {
			r.p[theOther].like(t, blog) // with no filter, as of those who like few
		} else {
			r.p[theLover].like(t, blog)
		}
	}
	for _, b := range []int{likedByFan, likedThen} {
		r.p[theFan].like(t, r.blogs[b])
	}
	r.drain(t)
	r.fillLikes(t)
}

// fillLikes has what servers keep of likes in Redis.
func (r *reconciled) fillLikes(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); r.redis != nil; pause(nil, time.Millisecond) {
		there := 0
		for _, who := range []int{theFan, theOther, theLover} {
			for _, b := range r.blogs {
				r.p[who].liking(t, b)
			}
			there += len(r.keysOf(t, "likes", who))
		}
		for _, b := range r.blogs {
			there += len(r.keys(t, "likecount", numberOf(t, b)))
		}
		if there == 3+likedBlogs {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("not all likes are kept")
		}
	}
}

// of is a place among the blogs, beside those among the people, in what changes rows of likes.
type of int

// ofLikes changes rows of likes.
func ofLikes(statements ...any) func(*testing.T, *reconciled) {
	return func(t *testing.T, r *reconciled) {
		t.Helper()
		for i := 0; i < len(statements); i += 2 {
			var ids []any
			for _, arg := range statements[i+1].([]any) {
				switch arg := arg.(type) {
				case of:
					ids = append(ids, numberOf(t, r.blogs[arg]))
				case int:
					ids = append(ids, r.p[arg].id)
				}
			}
			r.Exec(t, statements[i].(string), ids...)
		}
	}
}

// heatOf is an expression for the heat of who alone likes a blog.
const heatOf = `(SELECT since / 21600000e0 FROM blog_liker WHERE blog_id = ? AND user_id = ?)`

// likeDamage is what can be wrong with rows of likes, each without a trace in counts and heat
// but its own.
var likeDamage = []damage{
	{ops.NoLiker, 1, ofLikes(
		`DELETE FROM blog_liker WHERE blog_id = ? AND user_id = ?`, []any{of(likedByFan), theFan},
		`UPDATE blog_count SET likes = likes - 1, heat = `+heatOf+` WHERE blog_id = ?`, []any{of(likedByFan), theLover, of(likedByFan)})},
	{ops.OtherLiker, 2, ofLikes(
		`UPDATE blog_liker SET since = since + 1 WHERE blog_id = ? AND user_id = ?`, []any{of(likedThen), theFan},
		`UPDATE blog_liker SET state = 2 WHERE blog_id = ? AND user_id = ?`, []any{of(likedHidden), theLover},
		`UPDATE blog_count SET likes = likes - 1, heat = `+heatOf+` WHERE blog_id = ?`, []any{of(likedHidden), theOther, of(likedHidden)})},
	{ops.NoLike, 1, ofLikes(
		`DELETE FROM blog_like WHERE blog_id = ? AND user_id = ?`, []any{of(likedByNobody), theLikeless},
		`DELETE FROM blog_liker WHERE blog_id = ? AND user_id = ?`, []any{of(likedByNobody), theLikeless},
		`INSERT INTO blog_liker (blog_id, user_id, state, since) SELECT blog_id, ?, 1, since FROM blog_liker WHERE blog_id = ? AND user_id = ?`,
		[]any{theLikeless, of(likedByNobody), theLover},
		`UPDATE blog_count SET likes = likes + 1, heat = heat + 1 WHERE blog_id = ?`, []any{of(likedByNobody)})},
	{ops.NoLikeCount, 1, ofLikes(`DELETE FROM blog_count WHERE blog_id = ?`, []any{of(likedUncounted)})},
	{ops.WrongLikes, 1, ofLikes(`UPDATE blog_count SET likes = likes + 2 WHERE blog_id = ?`, []any{of(likedMiscounted)})},
	{ops.WrongHeat, 1, ofLikes(`UPDATE blog_count SET heat = heat + 4000 WHERE blog_id = ?`, []any{of(likedMisheated)})},
}

// heatDamage is more of what can be wrong with heat.
var heatDamage = []damage{
	{ops.WrongHeat, 1, ofLikes(`UPDATE blog_count SET heat = NULL WHERE blog_id = ?`, []any{of(likedMisheated)})},
	{ops.WrongHeat, 1, ofLikes(`UPDATE blog_count SET heat = 0 WHERE blog_id = ?`, []any{of(likedMisheated)})},
	{ops.WrongHeat, 1, ofLikes(`UPDATE blog_count SET heat = heat - 0.001 WHERE blog_id = ?`, []any{of(likedMisheated)})},
}

// inLikes changes a key of a person's likes, or of the count of those of a blog.
func inLikes(kind string, which any, change func(t *testing.T, r *reconciled, key string)) func(*testing.T, *reconciled) {
	return func(t *testing.T, r *reconciled) {
		t.Helper()
		r.fillLikes(t)
		id := social.ID(0)
		switch which := which.(type) {
		case of:
			id = numberOf(t, r.blogs[which])
		case int:
			id = r.p[which].id
		}
		change(t, r, r.keys(t, kind, id)[0])
	}
}

// likeCacheDamage is what can be wrong with what Redis holds of likes.
var likeCacheDamage = []damage{
	// What is newer than the floor is missing.
	{ops.CacheLikes, 1, inLikes("likes", theFan, func(t *testing.T, r *reconciled, key string) {
		r.redis.Client().ZRemRangeByRank(t.Context(), key, -1, -1)
	})},
	// The filter says no to all.
	{ops.CacheLikes, 1, inLikes("oldlikes", theLover, func(t *testing.T, r *reconciled, key string) {
		bits := r.redis.Client().StrLen(t.Context(), key).Val() - 30
		r.redis.Client().SetRange(t.Context(), key, 30, string(bytes.Repeat([]byte{0}, int(bits))))
	})},
	{ops.CacheLikes, 1, inLikes("likes", theFan, func(t *testing.T, r *reconciled, key string) { // not liked
		r.redis.Client().ZAdd(t.Context(), key, redis.Z{Score: 5, Member: "notliked"})
	})},
	{ops.CacheLikes, 1, inLikes("likes", theFan, func(t *testing.T, r *reconciled, key string) { // of an older version
		r.redis.Client().ZIncrBy(t.Context(), key, 1, "v")
	})},
	{ops.CacheLikes, 1, inLikes("likes", theFan, func(t *testing.T, r *reconciled, key string) { // of one to come
		r.redis.Client().ZIncrBy(t.Context(), key, -1, "v")
	})},
	{ops.CacheLikeCount, 1, inLikes("likecount", of(likedThen), func(t *testing.T, r *reconciled, key string) {
		text := r.redis.Client().Get(t.Context(), key).Val()
		r.redis.Client().SetArgs(t.Context(), key, "9"+text[strings.Index(text, " "):], keepTTL)
	})},
	{ops.CacheLikeCount, 1, inLikes("likecount", of(likedThen), func(t *testing.T, r *reconciled, key string) { // of an older version
		r.redis.Client().SetArgs(t.Context(), key, "1 1", keepTTL)
	})},
	{ops.CacheLikeCount, 1, inLikes("likecount", of(likedThen), func(t *testing.T, r *reconciled, key string) { // of one to come
		r.redis.Client().SetArgs(t.Context(), key, "2 99", keepTTL)
	})},
	{ops.CacheGarbled, 1, inLikes("likecount", of(likedThen), func(t *testing.T, r *reconciled, key string) {
		r.redis.Client().SetArgs(t.Context(), key, "many", keepTTL)
	})},
	{ops.CacheGarbled, 1, inLikes("likes", theFan, func(t *testing.T, r *reconciled, key string) {
		r.redis.Client().ZAdd(t.Context(), key, garbage)
	})},
}

func TestReconcileFindsAndMendsEveryKindOfDriftOfLikes(t *testing.T) {
	t.Parallel()
	eachReconciled(t, func(t *testing.T, r *reconciled) {
		r.settleLikes(t)
		r.tells(t, "at first", 0, nil)
		all := slices.Concat(likeDamage, heatDamage)
		if r.redis != nil {
			all = append(all, likeCacheDamage...)
		}
		for n, d := range all {
			r.mends(t, fmt.Sprintf("%s (%d)", d.kind, n), d)
		}
		together := slices.Clone(likeDamage)
		if r.redis != nil {
			together = append(together, likeCacheDamage[1], likeCacheDamage[len(likeCacheDamage)-1])
		}
		r.mends(t, "all together", together...)
		r.drain(t)
		for b, want := range map[int]liking{
			likedByFan: {2, true, `["u2_test","u4_test"]`}, likedHidden: {2, false, `["u4_test","u3_test"]`},
			likedByNobody: {1, false, `["u4_test"]`}, likedMiscounted: {1, false, `["u4_test"]`},
		} {
			same(t, fmt.Sprint("blog ", b), r.p[theFan].liking(t, r.blogs[b]), want)
		}
		same(t, "likes of nobody", r.Int(t, "SELECT COUNT(*) FROM blog_like WHERE user_id = ? AND state <> 0", r.p[theLikeless].id), 0)
		r.p[theLikeless].like(t, r.blogs[likedByNobody]) // as anybody can
	})
}

// Rows of nobody, and of no blog, are looked at with the last.
func TestReconcileMendsLikesOfNobodyAndOfNothing(t *testing.T) {
	t.Parallel()
	eachReconciled(t, func(t *testing.T, r *reconciled) {
		r.settleLikes(t)
		const nobody, nothing = 1 << 62, 1<<62 + 1
		r.Exec(t, "INSERT INTO blog_like (user_id, blog_id, state, since) VALUES (?, ?, 1, 1790000000000)", nobody, nothing)
		r.Exec(t, "INSERT INTO blog_liker (blog_id, user_id, state, since) VALUES (?, ?, 1, 1790000000000)", nothing, nobody+7)
		told := func(mended int) []string {
			return []string{fmt.Sprintf("\n%s 1 %d\n", ops.NoLiker, mended), fmt.Sprintf("\n%s 1 %d\n", ops.NoLike, mended), fmt.Sprintf("\n%s 1 %d\n", ops.NoLikeCount, mended)}
		}
		r.tells(t, "of nobody", 1, told(0))
		r.tells(t, "of nobody, mended", 0, told(1), "--repair")
		r.drain(t)
		r.tells(t, "afterwards", 0, nil)
		r.CheckInvariants(t)
	})
}

// Likes that are mended at once are mended once.
func TestReconcileTwiceAtOnceMendsLikesOnce(t *testing.T) {
	t.Parallel()
	eachReconciled(t, func(t *testing.T, r *reconciled) {
		r.settleLikes(t)
		r.mendsOnce(t, likeDamage)
		r.drain(t)
		r.tells(t, "afterwards", 0, nil)
	})
}

// Looking and mending beside people who like and unlike the same few blogs through two servers
// finds nothing, since nothing is wrong, and breaks nothing.
func TestReconcileBesideParallelLikesFindsNothing(t *testing.T) {
	t.Parallel()
	set := func(_ int, cfg *settings) { cfg.likesKept = 3 }
	eachCached(t, 2, set, func(t *testing.T, w *cachedWorld) {
		defer w.close()
		people := w.persons(t, 6)
		var blogs []social.ID
		for i := range 12 {
			blogs = append(blogs, numberOf(t, people[i%len(people)].publish(t, "before")))
			w.Clock.Advance(time.Millisecond)
		}
		w.actBeside(t, people, func(s *server, p person) (err error) {
			switch blog := blogs[rand.IntN(len(blogs))]; rand.IntN(5) {
			case 0, 1:
				_, err = s.likes.Like(t.Context(), p.id, blog)
			case 2:
				_, err = s.likes.Unlike(t.Context(), p.id, blog)
			default:
				_, _, err = s.likes.Both(t.Context(), p.id, blogs)
			}
			w.Clock.Advance(time.Millisecond)
			return err
		})
	})
}

// While nobody brings changes to the likes in Redis, what is behind is not called wrong.
func TestReconcileJudgesNoLikesThatChangesAreOnTheirWayTo(t *testing.T) {
	t.Parallel()
	r, w := newReconciled(t)
	r.settleLikes(t)
	w.halt(0)
	likeDamage[0].plant(t, r)
	if code, out := r.run(t, "--repair"); code != 0 || !strings.Contains(out, "1 things disagree") || !strings.Contains(out, "The likes that Redis has of 2 people and blogs were not judged") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// Servers that keep a count of likes in process hear that it is mended.
func TestServersHearOfEveryLikeCountThatIsMended(t *testing.T) {
	t.Parallel()
	w := newCachedWorld(t, socialtest.NewSQLite(t), newEmbedded(t), 1, nil)
	t.Cleanup(w.close)
	r := &reconciled{world: w.world, drain: w.drained}
	author := w.person(t)
	blog := author.publish(t, "a blog")
	author.like(t, blog)
	w.drained(t)
	id := numberOf(t, blog)
	w.Exec(t, "UPDATE blog_count SET likes = 5, version = version + 1 WHERE blog_id = ?", id)
	count := func() int64 {
		counts, err := w.caches.LikeCounts(t.Context(), []social.ID{id})
		if err != nil {
			t.Fatal(err)
		}
		return counts[id].Likes
	}
	w.redis.DropKeys(t, "likecount:*")
	eventually(t, "kept", 5, count)
	r.tells(t, "a wrong count", 0, []string{fmt.Sprintf("\n%s 1 1\n", ops.WrongLikes)}, "--repair")
	w.drained(t)
	eventually(t, "mended", 1, count)
}
