// Package bench holds load scenarios, each beside a baseline that does the same work the
// plain way on the same store in the same run. Run by make bench.
package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kith/db"
	"kith/follow"
	"kith/social"
	"kith/socialtest"
)

const (
	clients = 256
	people  = 20_000
)

// BenchmarkFollow acknowledges follows of Zipf-distributed targets for 256 clients of two
// servers: by group commit, as Kith does it, and by one transaction for each.
func BenchmarkFollow(b *testing.B) {
	b.Run("group commit", func(b *testing.B) {
		run(b, func(d *db.DB) toggle {
			g := follow.New(d, time.Now, follow.Config{MaxFollowing: people})
			return func(ctx context.Context, p social.Pair, on bool) error {
				move := g.Unfollow
				if on {
					move = g.Follow
				}
				_, err := move(ctx, p.UserID, p.TargetID)
				return err
			}
		})
	})
	b.Run("one transaction each", func(b *testing.B) {
		run(b, func(d *db.DB) toggle { return plain{d}.toggle })
	})
}

// toggle makes an edge be or not be, and returns once that is committed.
type toggle func(ctx context.Context, p social.Pair, on bool) error

// run lets the clients follow and unfollow on two servers.
func run(b *testing.B, server func(*db.DB) toggle) {
	s := socialtest.NewMySQL(b)
	ids := populate(b, s)
	servers := []toggle{server(s.OpenServer(b)), server(s.OpenServer(b))}
	before := s.Int(b, "SELECT variable_value FROM information_schema.GLOBAL_STATUS WHERE variable_name = 'COM_COMMIT'")
	var client atomic.Int64
	b.SetParallelism(clients / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := client.Add(1)
		rng := rand.New(rand.NewPCG(7, uint64(n)))
		popular := rand.NewZipf(rng, 1.1, 8, people-1)
		for pb.Next() {
			p := social.Pair{UserID: ids[rng.IntN(people)], TargetID: ids[popular.Uint64()]}
			if p.UserID == p.TargetID {
				continue
			}
			if err := servers[n%2](context.Background(), p, rng.IntN(10) > 0); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	commits := s.Int(b, "SELECT variable_value FROM information_schema.GLOBAL_STATUS WHERE variable_name = 'COM_COMMIT'") - before
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "acks/s")
	b.ReportMetric(float64(b.N)/float64(max(1, commits)), "acks/commit")
	s.CheckInvariants(b)
}

// populate signs up people by the shortest way.
func populate(b *testing.B, s *socialtest.Store) []social.ID {
	b.Helper()
	ids := make([]social.ID, people)
	for i := range ids {
		id, err := s.IDs.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = id
		if i%1000 == 0 {
			s.Clock.Advance(time.Millisecond)
		}
	}
	for chunk := range slices.Chunk(ids, 1000) {
		var users, actors, counts []string
		for _, id := range chunk {
			users = append(users, fmt.Sprintf("(%d,'u%d','U','','x')", id, id))
			actors = append(actors, fmt.Sprintf("(%d,0,0)", id))
			counts = append(counts, fmt.Sprintf("(%d,0,0,0)", id))
		}
		s.Exec(b, "INSERT INTO user (id, handle, name, bio, password_hash) VALUES "+strings.Join(users, ","))
		s.Exec(b, "INSERT INTO actor (user_id, graph_version, following) VALUES "+strings.Join(actors, ","))
		s.Exec(b, "INSERT INTO user_count (user_id, followers, blogs, version) VALUES "+strings.Join(counts, ","))
	}
	return ids
}
