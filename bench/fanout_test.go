package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"kith/events"
	"kith/rdb"
	"kith/social"
	"kith/socialtest"
)

const (
	followers = 10_000
	inboxSize = 500
	// pipelined is how many commands the plain way sends at once: as many as there are
	// followers in a piece of the fan-out.
	pipelined = 1000
)

// BenchmarkFanOut delivers one blog after another to 10,000 full inboxes, and beside it, in
// turns, by plain ZADDs to copies of them: no reading of followers, no test whether the
// inbox is there, no floor. What keeps the copies at their size is told apart.
func BenchmarkFanOut(b *testing.B) {
	s, r := socialtest.NewMySQL(b), socialtest.NewRedis(b)
	ids := populate(b, s)
	author, fans := ids[0], ids[1:1+followers]
	followersOf(b, s, author, fans)
	k := newServer(b, s, r, 2)
	fillInboxes(b, k, author, fans)
	p := plainInboxes{client: redis.NewClient(&redis.Options{Addr: r.Addr()})}
	b.Cleanup(func() { _ = p.client.Close() })
	p.copy(b)

	kith, plain, trim := &meter{redis: p.client}, &meter{redis: p.client}, &meter{redis: p.client}
	for b.Loop() {
		blog := newBlog(b, s, author)
		kith.measure(b, func() error {
			return k.feed.Consume(b.Context(), []events.Event{{Event: social.Event{
				Kind: social.BlogEvent, Body: social.BlogBody{BlogID: blog.ID, AuthorID: author},
			}}})
		})
		plain.measure(b, func() error { return p.push(b.Context(), blog) })
		trim.measure(b, func() error { return p.trim(b.Context()) })
	}
	b.StopTimer()
	p.check(b)
	kith.report(b, "")
	plain.report(b, "plain-")
	b.ReportMetric(plain.wall.Seconds()/kith.wall.Seconds(), "of-plain")
	b.ReportMetric((plain.wall+trim.wall).Seconds()/kith.wall.Seconds(), "of-plain-and-trim")
	b.ReportMetric(0, "ns/op")
}

func followersOf(b *testing.B, s *socialtest.Store, author social.ID, fans []social.ID) {
	b.Helper()
	rows := make([]string, len(fans))
	for i, f := range fans {
		rows[i] = fmt.Sprintf("(%d,%d,1,%d)", author, f, i+1)
	}
	insert(b, s, "follower (user_id, follower_id, state, since)", rows)
}

// fillInboxes builds full inboxes, all with blogs of one author.
func fillInboxes(b *testing.B, k *server, author social.ID, fans []social.ID) {
	b.Helper()
	refs := make([]social.BlogRef, inboxSize)
	newest := social.Millis(time.Now().Add(-time.Hour).UnixMilli())
	for i := range refs {
		refs[i] = social.BlogRef{ID: social.FirstIDAt(newest - social.Millis(i*1000)), AuthorID: author}
	}
	epoch := func(part int) int64 { e, _ := k.caches.Epoch(part); return e }
	for some := range slices.Chunk(shuffled(fans), 20) {
		var begin, build []*rdb.Call
		for i, who := range some {
			token := fmt.Sprintf("token %10d", i)
			begin = append(begin, rdb.NewHome(who, math.MaxInt64, false, 1, token).Call)
			build = append(build, rdb.Build(who, token, inboxSize, refs, false))
		}
		k.redis.Run(b.Context(), epoch, begin...)
		k.redis.Run(b.Context(), epoch, build...)
		for _, c := range build {
			if err := c.Err(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// newBlog publishes by the shortest way.
func newBlog(b *testing.B, s *socialtest.Store, author social.ID) *social.Blog {
	b.Helper()
	s.Clock.Advance(time.Millisecond)
	id, err := s.IDs.Next(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	s.Exec(b, "INSERT INTO blog (id, author_id, status, title, content, image_urls) VALUES (?, ?, 0, 'title', 'content', '[]')", id, author)
	return &social.Blog{ID: id, AuthorID: author}
}

// plainInboxes are copies of the inboxes.
type plainInboxes struct {
	client *redis.Client
	keys   []string
}

func (p *plainInboxes) copy(b *testing.B) {
	b.Helper()
	ctx := b.Context()
	var inboxes []string
	found := p.client.Scan(ctx, 0, "inbox:*", 1000).Iterator()
	for found.Next(ctx) {
		inboxes = append(inboxes, found.Val())
	}
	pipe := p.client.Pipeline()
	for _, k := range shuffled(inboxes) {
		p.keys = append(p.keys, "plain:"+k)
		pipe.Copy(ctx, k, "plain:"+k, 0, true)
	}
	if _, err := pipe.Exec(ctx); err != nil || len(p.keys) != followers {
		b.Fatalf("%d inboxes: %v", len(p.keys), err)
	}
	slices.Sort(p.keys)
}

// shuffled is another order: inboxes lie in Redis's memory as their owners came back, and
// not as their ids are read.
func shuffled[T any](all []T) []T {
	all = slices.Clone(all)
	rand.New(rand.NewPCG(5, 5)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func (p *plainInboxes) push(ctx context.Context, blog *social.Blog) error {
	member := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(blog.ID)), uint64(blog.AuthorID))
	entry := redis.Z{Score: float64(blog.CreatedAt()), Member: member}
	return p.pipelines(ctx, func(pipe redis.Pipeliner, key string) { pipe.ZAdd(ctx, key, entry) })
}

func (p *plainInboxes) trim(ctx context.Context) error {
	return p.pipelines(ctx, func(pipe redis.Pipeliner, key string) { pipe.ZRemRangeByRank(ctx, key, 0, -inboxSize-1) })
}

func (p *plainInboxes) pipelines(ctx context.Context, add func(pipe redis.Pipeliner, key string)) error {
	for keys := range slices.Chunk(p.keys, pipelined) {
		pipe := p.client.Pipeline()
		for _, k := range keys {
			add(pipe, k)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// check tells that every inbox got what its copy got, and kept its bound.
func (p *plainInboxes) check(b *testing.B) {
	b.Helper()
	for _, k := range p.keys {
		inbox := strings.TrimPrefix(k, "plain:")
		got := p.client.ZRevRangeWithScores(b.Context(), inbox, 0, 0).Val()
		want := p.client.ZRevRangeWithScores(b.Context(), k, 0, 0).Val()
		n := p.client.ZCard(b.Context(), inbox).Val()
		if len(got) != 1 || len(want) != 1 || got[0].Score != want[0].Score || n != inboxSize {
			b.Fatalf("%s: %d entries, the newest %v, not %v", inbox, n, got, want)
		}
	}
}

// meter adds up what deliveries to all followers took.
type meter struct {
	redis          *redis.Client
	rounds         int
	wall           time.Duration
	client, server time.Duration // of CPU
}

func (m *meter) measure(b *testing.B, work func() error) {
	b.Helper()
	client, server, start := clientCPU(b), m.serverCPU(b), time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	m.wall += time.Since(start)
	m.client += clientCPU(b) - client
	m.server += m.serverCPU(b) - server
	m.rounds++
}

func (m *meter) report(b *testing.B, who string) {
	n := float64(m.rounds * followers)
	b.ReportMetric(n/m.wall.Seconds(), who+"deliveries/s")
	b.ReportMetric(float64(m.server.Nanoseconds())/n, who+"redis-cpu-ns")
	b.ReportMetric(float64(m.client.Nanoseconds())/n, who+"client-cpu-ns")
}

// clientCPU is what this process has used.
func clientCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverCPU is what Redis has used.
func (m *meter) serverCPU(b *testing.B) time.Duration {
	b.Helper()
	var total time.Duration
	info := m.redis.InfoMap(b.Context(), "cpu").Val()["CPU"]
	for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
		seconds, err := time.ParseDuration(info[field] + "s")
		if err != nil {
			b.Fatal(err)
		}
		total += seconds
	}
	return total
}
