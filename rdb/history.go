package rdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// History is what the server of a partition says of its past.
type History struct {
	// Epoch is the one that was begun in this history; 0 where none was, or where it was
	// in another: before a start, a failover, a loss of all keys.
	Epoch int64
	// Err is UNAVAILABLE where the server does not answer.
	Err error

	server string // of this run, and of these writes
}

// Histories asks the servers of all partitions, in one round trip to each. Half a second
// at most.
func (r *Redis) Histories(ctx context.Context) [Parts]History {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var found [Parts]History
	var wg sync.WaitGroup
	for server, parts := range r.servers(ctx, &found) {
		wg.Go(func() { r.histories(ctx, server, parts, &found) })
	}
	wg.Wait()
	return found
}

// servers is which server has which partitions; those of none get their error.
func (r *Redis) servers(ctx context.Context, found *[Parts]History) map[redis.Cmdable][]int {
	cluster, many := r.client.(*redis.ClusterClient)
	servers := map[redis.Cmdable][]int{}
	for part := range Parts {
		if !many {
			servers[r.client] = append(servers[r.client], part)
			continue
		}
		server, err := cluster.MasterForKey(ctx, epochKey(part))
		if err != nil {
			found[part].Err = unavailable(err)
			continue
		}
		servers[server] = append(servers[server], part)
	}
	return servers
}

func (r *Redis) histories(ctx context.Context, server redis.Cmdable, parts []int, found *[Parts]History) {
	var infos []*redis.StringCmd
	keys := make([]*redis.StringCmd, len(parts))
	_, err := server.Pipelined(ctx, func(p redis.Pipeliner) error {
		if r.closeEmbedded == nil { // which has but one history, and no INFO
			infos = append(infos, p.Info(ctx, "server"), p.Info(ctx, "replication"))
		}
		for i, part := range parts {
			keys[i] = p.Get(ctx, epochKey(part))
		}
		return nil
	})
	identity, unknown := identityOf(infos)
	for i, part := range parts {
		h := &found[part]
		h.server = identity
		switch text, keyErr := keys[i].Result(); {
		case unknown != nil: // without it, one history looks like another
			h.Err = unavailable(unknown)
		case keyErr != nil && !errors.Is(keyErr, redis.Nil):
			h.Err = unavailable(errors.Join(err, keyErr))
		case keyErr == nil:
			var epoch int64
			if n, _ := fmt.Sscan(text, &epoch); n == 1 && text == epochText(epoch, identity) {
				h.Epoch = epoch
			}
		}
	}
}

// identityOf reads which run of which server this is, and whose writes it goes on with.
func identityOf(infos []*redis.StringCmd) (string, error) {
	var ids []string
	for _, info := range infos {
		if err := info.Err(); err != nil {
			return "", err
		}
		for line := range strings.Lines(info.Val()) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name == "run_id" || name == "master_replid" {
				ids = append(ids, value)
			}
		}
	}
	return strings.Join(ids, " "), nil
}

func epochText(epoch int64, server string) string { return fmt.Sprintf("%d %s", epoch, server) }

// BeginEpoch notes at a partition's server that an epoch begins in this history of it.
func BeginEpoch(part int, epoch int64, h History) *Call {
	return &Call{
		Part: part, name: "SET", args: []any{epochText(epoch, h.server)},
		keys: func(int64) []string { return []string{epochKey(part)} },
	}
}

// Neighbours are the partitions that share a server with this one, itself among them: of
// a server that does not answer, none will. Half a second at most: a cluster that nobody has
// reached yet is asked who its servers are.
func (r *Redis) Neighbours(ctx context.Context, part int) []int {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	var found [Parts]History
	for _, parts := range r.servers(ctx, &found) {
		for _, p := range parts {
			if p == part {
				return parts
			}
		}
	}
	return []int{part}
}
