package rdb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"kith/social"
)

// Config names the Redis.
type Config struct {
	// URL is redis://user:password@host:port/db for a single server, rediss:// for one by
	// TLS, or addresses of a cluster: user:password@host:port,host:port,... where the part
	// before the @ may be absent. Empty: a Redis in this process, for this server alone.
	URL string
	// Step is called before and after every round trip; nil for nothing. Tests pause there.
	Step func()
	// Patience is how long a command may take; 0 is half a second. Tests of what a busy
	// machine must not decide take more.
	Patience time.Duration
}

// Redis is the connection. Safe for parallel use.
type Redis struct {
	client        redis.UniversalClient
	closeEmbedded func()        // nil unless in process
	patience      time.Duration // how long a command may take
	commands      atomic.Int64
}

const (
	// patience is how long a command may take, and each step of it: to get a connection of
	// the pool, to connect, to write, to read. A Redis in process cannot be cut off: what
	// is late there is a busy machine, and worth waiting for.
	patience, embeddedPatience = 500 * time.Millisecond, 5 * time.Second
	// pingPatience is how long Ping may take.
	pingPatience = 3 * time.Second
)

// Open prepares the connections, and starts the Redis in process. Whether another answers
// is for [Redis.Ping] to tell: without Redis everything works, only worse.
func Open(cfg Config) (*Redis, error) {
	logging.Disable() // the driver writes to standard error; what matters comes back as errors
	r := &Redis{patience: cmp.Or(cfg.Patience, patience)}
	opts, err := r.options(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("open Redis: %w", err)
	}
	bounded(opts, r.patience)
	r.client = redis.NewUniversalClient(opts)
	r.client.AddHook(counter{&r.commands, cfg.Step})
	return r, nil
}

// options reads the URL and starts what it asks for.
func (r *Redis) options(address string) (*redis.UniversalOptions, error) {
	switch {
	case address == "":
		return r.embed()
	case strings.Contains(address, "://"):
		return single(address)
	default:
		return cluster(address)
	}
}

// embed starts a Redis in this process. Its password keeps other users of the machine out.
func (r *Redis) embed() (*redis.UniversalOptions, error) {
	password := rand.Text()
	m := miniredis.NewMiniRedis()
	m.RequireAuth(password)
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return nil, err
	}
	stop := KeepTime(m)
	r.closeEmbedded = func() { stop(); m.Close() }
	r.patience = embeddedPatience
	return &redis.UniversalOptions{Addrs: []string{m.Addr()}, Password: password}, nil
}

func single(address string) (*redis.UniversalOptions, error) {
	o, err := redis.ParseURL(address)
	var bad *url.Error
	switch {
	case errors.As(err, &bad): // which quotes the password
		return nil, fmt.Errorf("this is not the URL of a Redis: %w", bad.Err)
	case err != nil:
		return nil, err
	case o.Network != "tcp":
		return nil, errors.New("name the server as redis://host:port")
	}
	return &redis.UniversalOptions{
		Addrs: []string{o.Addr}, DB: o.DB, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
	}, nil
}

func cluster(addresses string) (*redis.UniversalOptions, error) {
	opts := &redis.UniversalOptions{IsClusterMode: true}
	if at := strings.LastIndexByte(addresses, '@'); at >= 0 {
		opts.Username, opts.Password, _ = strings.Cut(addresses[:at], ":")
		addresses = addresses[at+1:]
	}
	for a := range strings.SplitSeq(addresses, ",") {
		a = strings.TrimSpace(a)
		if host, port, ok := strings.Cut(a, ":"); !ok || host == "" || port == "" {
			return nil, fmt.Errorf("%q is not host:port of a cluster's server; a single server is named as redis://host:port", a)
		}
		opts.Addrs = append(opts.Addrs, a)
	}
	return opts, nil
}

// bounded sets what keeps a Redis that does not answer from holding anybody up.
func bounded(o *redis.UniversalOptions, patience time.Duration) {
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = patience, patience, patience, patience
	o.ContextTimeoutEnabled = true
	o.DialerRetries = 1 // attempts, in the driver's words
	o.MaxRetries = 1
	o.MaxRedirects = 3
	o.DisableIdentity = true // saves a round trip for each connection
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// Close ends all connections, and the Redis in process.
func (r *Redis) Close() error {
	err := r.client.Close()
	if r.closeEmbedded != nil {
		r.closeEmbedded()
	}
	return err
}

// Ping asks Redis whether it is there, for at most 3 s; UNAVAILABLE when not.
func (r *Redis) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingPatience)
	defer cancel()
	if err := r.client.Ping(ctx).Err(); err != nil {
		return &social.Error{Code: social.Unavailable, Message: "the cache cannot answer now; try again", Cause: err}
	}
	return nil
}

// Commands is how many round trips were made since Open, those that greet a server on a
// new connection left out. A pipeline counts once, also to several servers.
func (r *Redis) Commands() int64 { return r.commands.Load() }
