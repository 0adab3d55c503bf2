package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/cache"
	"kith/db"
	"kith/like"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

// likers is what people do to blogs in a benchmark: it returns once that is acknowledged.
type likers func(ctx context.Context, p social.Pair, on bool) error

func verbs(l *like.Likes) likers {
	return func(ctx context.Context, p social.Pair, on bool) (err error) {
		if on {
			_, err = l.Like(ctx, p.UserID, p.TargetID)
		} else {
			_, err = l.Unlike(ctx, p.UserID, p.TargetID)
		}
		return err
	}
}

// BenchmarkLike acknowledges likes of Zipf-distributed blogs for 256 clients of two servers:
// by group commit, alone and with what it brings to the caches; by one transaction for each;
// and by the script that a design would run which writes to SQL later, and may lose it.
func BenchmarkLike(b *testing.B) {
	nowhere := like.Config{Settle: func(context.Context, ...*rdb.Call) error { return nil }}
	b.Run("group commit", func(b *testing.B) {
		s := socialtest.NewMySQL(b)
		likeOn(b, s, zipfOf, func(i int) (likers, *db.DB) {
			d := s.OpenServer(b)
			return verbs(like.New(d, cache.None(d), time.Now, nowhere)), d
		})
		s.CheckInvariants(b)
	})
	b.Run("group commit and caches", func(b *testing.B) {
		s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
		likeOn(b, s, zipfOf, func(i int) (likers, *db.DB) {
			k := newServer(b, s, r, i+2)
			return verbs(like.New(k.db, k.caches, time.Now, like.Config{})), k.db
		})
		s.CheckInvariants(b)
	})
	b.Run("one transaction each", func(b *testing.B) {
		s := socialtest.NewMySQL(b)
		likeOn(b, s, zipfOf, func(int) (likers, *db.DB) {
			d := s.OpenServer(b)
			return plain{d}.like, d
		})
	})
	b.Run("a script in Redis, nothing in SQL", func(b *testing.B) {
		s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
		likeOn(b, s, zipfOf, func(int) (likers, *db.DB) { return writeBehind(r.Client()), s.OpenServer(b) })
	})
}

// BenchmarkLikeOneBlog has everybody like one blog, as fast as 256 clients of two servers can,
// then the next: -benchtime 100000x for a burst of 100,000.
func BenchmarkLikeOneBlog(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	everybody := func(*rand.Rand, int) chooser {
		return func(n int64, ids, blogs []social.ID, _ *rand.Rand) social.Pair {
			return social.Pair{UserID: ids[n%people], TargetID: blogs[n/people]}
		}
	}
	likeOn(b, s, everybody, func(i int) (likers, *db.DB) {
		k := newServer(b, s, r, i+2)
		return verbs(like.New(k.db, k.caches, time.Now, like.Config{})), k.db
	})
	s.CheckInvariants(b)
}

// chooser gives what the nth call is about.
type chooser = func(n int64, ids, blogs []social.ID, rng *rand.Rand) social.Pair

// zipfOf are blogs of which few are liked by most.
func zipfOf(rng *rand.Rand, blogs int) chooser {
	popular := rand.NewZipf(rng, 1.1, 8, uint64(blogs-1))
	return func(_ int64, ids, blogs []social.ID, rng *rand.Rand) social.Pair {
		return social.Pair{UserID: ids[rng.IntN(len(ids))], TargetID: blogs[popular.Uint64()]}
	}
}

// likeOn lets the clients like and unlike on two servers, and reports what it took.
func likeOn(b *testing.B, s *socialtest.Store, choose func(*rand.Rand, int) chooser, server func(i int) (likers, *db.DB)) {
	b.Helper()
	ids := populate(b, s)
	blogs := publish(b, s, ids)
	var servers [2]likers
	var dbs [2]*db.DB
	for i := range servers {
		servers[i], dbs[i] = server(i)
	}
	statements := func() int64 { return dbs[0].Statements() + dbs[1].Statements() }
	before := statements()
	var client, calls atomic.Int64
	b.SetParallelism(clients / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := client.Add(1)
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		next := choose(rng, len(blogs))
		for pb.Next() {
			if err := servers[n%2](context.Background(), next(calls.Add(1)-1, ids, blogs, rng), rng.IntN(10) > 0); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "acks/s")
	b.ReportMetric(1000*float64(statements()-before)/float64(b.N), "statements/1000")
}

// like likes as one would write it without group commit.
func (p plain) like(ctx context.Context, pair social.Pair, on bool) error {
	to, step := social.NotLiked, int64(-1)
	if on {
		to, step = social.Liked, 1
	}
	return p.db.Transact(ctx, func(tx *db.Tx) error {
		actors, err := tx.LockActors(ctx, []social.ID{pair.UserID})
		if err != nil {
			return err
		}
		likes, err := tx.LikesOf(ctx, []social.Pair{pair})
		if err != nil {
			return err
		}
		if found, err := tx.BlogsByID(ctx, []social.ID{pair.TargetID}); err != nil || len(found) == 0 || likes[pair].State == to {
			return err
		}
		now, owner := social.Millis(time.Now().UnixMilli()), actors[pair.UserID]
		owner.LikeVersion++
		l := []social.Like{{Pair: pair, State: to, Since: now}}
		if err := tx.PutActors(ctx, []*db.Actor{owner}); err != nil {
			return err
		}
		if err := tx.PutLikes(ctx, l); err != nil {
			return err
		}
		if err := tx.PutLikers(ctx, l); err != nil {
			return err
		}
		if err := tx.AddLikeCounts(ctx, []db.LikeCountChange{{BlogID: pair.TargetID, Likes: step}}); err != nil {
			return err
		}
		change := social.LikeChange{UserID: pair.UserID, BlogID: pair.TargetID, State: to, Since: now, Version: owner.LikeVersion}
		return tx.Publish(ctx, social.Event{Kind: social.LikeEvent, Body: social.LikeBody{Changes: []social.LikeChange{change}}})
	})
}

// writeBehind likes in Redis alone: a set of who likes, a count, and a queue for SQL.
func writeBehind(c redis.UniversalClient) likers {
	script := redis.NewScript(`
		if redis.call(ARGV[2] == '1' and 'SADD' or 'SREM', KEYS[1], ARGV[1]) == 1 then
			redis.call('INCRBY', KEYS[2], ARGV[2] == '1' and 1 or -1)
			redis.call('RPUSH', KEYS[3], ARGV[1] .. ':' .. ARGV[2])
		end`)
	return func(ctx context.Context, p social.Pair, on bool) error {
		to := 0
		if on {
			to = 1
		}
		err := script.Run(ctx, c, []string{"likes:" + p.TargetID.String(), "count:" + p.TargetID.String(), "queue"}, p.UserID.String(), to).Err()
		if err == redis.Nil { //nolint:errorlint // the driver's own
			return nil
		}
		return err
	}
}

// BenchmarkLiked tells for people with few and many likes how much of "did I like it" each
// layer answers, over pages of 20 of which newer blogs are read more often, and what their
// caches take.
func BenchmarkLiked(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	blogs := publish(b, s, ids)
	slices.Reverse(blogs)
	blogs = blogs[:100_000]
	k := newServer(b, s, r, 2)
	likes := like.New(k.db, k.caches, time.Now, like.Config{})
	for i, many := range []int{10, 1000, 50_000} {
		b.Run(fmt.Sprint(many, " likes"), func(b *testing.B) {
			who := ids[i]
			likeAll(b, s, who, blogs, many)
			rng := rand.New(rand.NewPCG(5, 5))
			newest := rand.NewZipf(rng, 1.05, 50, uint64(len(blogs)-1))
			page := func() []social.ID {
				found := map[social.ID]bool{}
				for len(found) < 20 {
					found[blogs[newest.Uint64()]] = true
				}
				var ids []social.ID
				for id := range found {
					ids = append(ids, id)
				}
				return ids
			}
			if _, err := likes.Liked(b.Context(), who, page()); err != nil { // fills
				b.Fatal(err)
			}
			var pages [][]social.ID
			for range 2000 {
				pages = append(pages, page())
			}
			withFilter := k.open(b, who, pages)
			bytes := usage(b, r, "likes:*:"+who.String()) + usage(b, r, "oldlikes:*:"+who.String())
			for n := 0; b.Loop(); n++ {
				if _, err := likes.Liked(b.Context(), who, pages[n%len(pages)]); err != nil {
					b.Fatal(err)
				}
			}
			r.DropKeys(b, "oldlikes:*:"+who.String())
			without := k.open(b, who, pages)
			b.ReportMetric(100*(1-without), "%set")
			b.ReportMetric(100*(without-withFilter), "%filter")
			b.ReportMetric(100*withFilter, "%SQL")
			b.ReportMetric(float64(bytes), "bytes")
		})
	}
}

// open is the share that Redis leaves open.
func (k *server) open(b *testing.B, who social.ID, pages [][]social.ID) float64 {
	b.Helper()
	open, asked := 0, 0
	for _, p := range pages {
		l := rdb.NewLiked(who, "token", p...)
		k.redis.Run(b.Context(), func(part int) int64 { e, _ := k.caches.Epoch(part); return e }, l.Call)
		maybe, known := l.Answer(map[social.ID]bool{})
		if !known {
			b.Fatal("nothing is there")
		}
		open, asked = open+len(maybe), asked+len(p)
	}
	return float64(open) / float64(asked)
}

// usage is what keys take in Redis.
func usage(b *testing.B, r *socialtest.Redis, pattern string) (bytes int64) {
	b.Helper()
	keys, err := r.Client().Keys(b.Context(), pattern).Result()
	if err != nil {
		b.Fatal(err)
	}
	for _, key := range keys {
		n, err := r.Client().MemoryUsage(b.Context(), key).Result()
		if err != nil {
			b.Fatal(err)
		}
		bytes += n
	}
	return bytes
}

// likeAll writes likes of some of the blogs, each soon after its blog, by the shortest way.
func likeAll(b *testing.B, s *socialtest.Store, who social.ID, blogs []social.ID, many int) {
	b.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	var rows []string
	for _, i := range rng.Perm(len(blogs))[:many] {
		rows = append(rows, fmt.Sprintf("(%d,%d,1,%d)", who, blogs[i], int64(blogs[i].Time())+rng.Int64N(24*3600*1000)))
	}
	insert(b, s, "blog_like (user_id, blog_id, state, since)", rows)
}
