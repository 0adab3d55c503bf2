// Command kith is the social core of an app as one GraphQL server: people, who follows
// whom, and the feed of what they publish.
//
// This file wires the packages together and runs them; config.go has the command line,
// embedded.go the data folder, demo.go the demo.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/errgroup"

	"kith/account"
	"kith/cache"
	"kith/db"
	"kith/events"
	"kith/feed"
	"kith/follow"
	"kith/graph"
	"kith/like"
	"kith/loaders"
	"kith/notify"
	"kith/ops"
	"kith/rdb"
	"kith/resolvers"
	"kith/social"
	"kith/transport"
	"kith/web"
)

//go:generate go tool gqlgen generate

// clock is the time of production.
var clock social.Clock = time.Now

const (
	// drainTime is how long requests under way may take once the server is told to end.
	drainTime = 20 * time.Second
	// The HTTP time-outs. A request is at most 1 MiB and runs at most 10 s.
	headerTime = 5 * time.Second
	readTime   = 20 * time.Second
	writeTime  = 45 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 32 << 10
)

// settings is what a server is made of. The zero values of the last seven are production's.
type settings struct {
	store         storeFlags
	redis         string // empty: embedded
	roles         []string
	inboxSize     int
	stars         feed.StarsConfig
	likesKept     int // see [like.Config]
	limits        limitFlags
	secret        string
	migrate       bool
	introspection bool

	clock       social.Clock
	node        social.NodeFunc // instead of a lease
	cache       cache.Config
	step        func()        // see [rdb.Config]
	loaderWait  time.Duration // see [loaders.Sources]
	endedTrust  time.Duration // see [account.Config]
	cheapHashes bool
	visitor     string // the handle of whom the page is signed in as; empty for nobody
}

// server is a wired Kith that has not begun to run.
type server struct {
	log      *slog.Logger
	store    *store
	redis    *rdb.Redis
	caches   *cache.Caches
	bell     *events.Bell
	proxies  []netip.Prefix
	accounts *account.Accounts
	graph    *follow.Graph
	feed     *feed.Feed
	seal     *social.Seal
	live     *feed.Live
	likes    *like.Likes
	counts   *like.Live
	told     *notify.Notifications
	news     *notify.Live
	edge     *transport.Server // nil where no requests are served
	handler  http.Handler
	workers  []func(context.Context) error
	welcome  string // what is told once it serves
	draining atomic.Bool
}

// newServer opens the store and wires all parts over it. It starts nothing.
func newServer(ctx context.Context, log *slog.Logger, cfg settings) (*server, error) {
	if cfg.store.MySQL == "" && cfg.store.Data == "" {
		return nil, errors.New("--data names no folder")
	}
	if !cfg.migrate { // then a new store could not be used, and should not be begun
		if err := cfg.store.exists(); err != nil {
			return nil, err
		}
	}
	secret, err := cfg.store.secret(cfg.secret)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, cfg.store)
	if err != nil {
		return nil, err
	}
	s := &server{log: log, store: st, welcome: "The store is " + cfg.store.String() + ".\n"}
	if err := s.wire(ctx, cfg, secret); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends the connections to the stores.
func (s *server) close() {
	s.store.close()
	if s.redis != nil {
		_ = s.redis.Close()
	}
}

func (s *server) wire(ctx context.Context, cfg settings, secret string) error {
	d := s.store.db
	if err := prepare(ctx, d, cfg.migrate); err != nil {
		return err
	}
	if cfg.clock == nil {
		cfg.clock = clock
	}
	if cfg.node == nil {
		lease := db.NewNodeLease(d, cfg.clock, s.log)
		if err := lease.Renew(ctx); err != nil {
			return fmt.Errorf("lease a node number: %w", err)
		}
		cfg.node = lease.Node
		s.workers = append(s.workers, lease.Run)
	}
	if err := s.openRedis(ctx, cfg); err != nil {
		return err
	}
	if err := s.verbs(cfg, secret); err != nil {
		return err
	}
	s.work(cfg.roles)
	if !slices.Contains(cfg.roles, apiRole) {
		s.handler = transport.Health(s.ready)
		return nil
	}
	var page http.Handler
	if cfg.introspection { // GraphiQL is nothing without the schema
		var err error
		if page, err = s.page(ctx, cfg.visitor); err != nil {
			return err
		}
	}
	s.openEdge(page, cfg)
	return nil
}

// verbs makes what people can do, with the limits of it.
func (s *server) verbs(cfg settings, secret string) (err error) {
	if s.proxies, err = transport.ParsePrefixes(cfg.limits.TrustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies: %w", err)
	}
	var l limits
	if cfg.limits.RateLimits != "off" {
		l.limiter = rdb.NewLimiter(s.redis, cfg.clock, s.log)
	}
	d, ids := s.store.db, social.NewSnowflake(cfg.clock, cfg.node)
	s.accounts, err = account.New(d, ids, cfg.clock, account.Config{
		Secret: secret, CheapHashes: cfg.cheapHashes, SignUpLimit: l.signUp, SignInLimit: l.signIn, EndedTrust: cfg.endedTrust,
		Wrote: func(ctx context.Context, who social.ID) error { return s.caches.Settle(ctx, rdb.MarkWrote(who)) },
	})
	if err != nil {
		return err
	}
	if s.seal, err = social.NewSeal(secret); err != nil {
		return err
	}
	s.feed = feed.New(d, s.caches, ids, cfg.clock, feed.Config{InboxSize: cfg.inboxSize, Stars: cfg.stars, Limit: l.publish})
	s.live = feed.NewLive(s.feed, s.log)
	s.likes = like.New(d, s.caches, cfg.clock, like.Config{Kept: cfg.likesKept, Limit: l.like})
	s.counts = like.NewLive(d, s.log)
	s.told = notify.New(d, ids, cfg.clock, notify.Config{})
	s.news = notify.NewLive(s.told)
	s.graph = follow.New(d, cfg.clock, follow.Config{Limit: l.follow, LimitMany: l.followMany, Moved: s.feed.Moved, Followers: s.caches.Followers})
	return nil
}

// openRedis opens Redis, with the caches and the bell that go over it.
func (s *server) openRedis(ctx context.Context, cfg settings) (err error) {
	if s.redis, err = rdb.Open(rdb.Config{URL: cfg.redis, Step: cfg.step}); err != nil {
		return err
	}
	if err := s.redis.Ping(ctx); err != nil {
		s.log.Warn("Redis does not answer; starting without it", "error", err)
	}
	s.caches = cache.New(s.store.db, s.redis, s.log, cfg.cache)
	s.bell = events.NewBell(s.redis)
	s.store.db.OnEvents(s.bell.Ring)
	return nil
}

// prepare brings the schema up, or checks that it is.
func prepare(ctx context.Context, d *db.DB, migrate bool) error {
	if !migrate {
		return d.CheckSchema(ctx)
	}
	_, err := d.Migrate(ctx)
	return err
}

// schema wires GraphQL over the verbs.
func (s *server) schema(wait time.Duration) graphql.ExecutableSchema {
	return loaders.Schema(graph.NewExecutableSchema(graph.Config{
		Resolvers:  &resolvers.Root{Accounts: s.accounts, Graph: s.graph, Feed: s.feed, Live: s.live, Likes: s.likes, LikeCounts: s.counts, Told: s.told, News: s.news, Seal: s.seal},
		Directives: graph.DirectiveRoot{SignedIn: transport.SignedIn},
	}), loaders.Sources{DB: s.store.db, Bodies: s.caches.Bodies, Graph: s.graph, Feed: s.feed, Likes: s.likes, Told: s.told, Wait: wait})
}

// openEdge wires HTTP over GraphQL.
func (s *server) openEdge(page http.Handler, cfg settings) {
	s.edge = transport.New(transport.Config{
		Schema:         s.schema(cfg.loaderWait),
		Viewer:         s.accounts.Viewer,
		Standing:       s.accounts.Standing,
		TrustedProxies: s.proxies,
		Ready:          s.ready,
		Page:           page,
		Introspection:  cfg.introspection,
		Log:            s.log,
	})
	s.handler = s.edge
	s.workers = append(s.workers, s.edge.Run)
}

// page is GraphiQL with the example operations, signed in as the visitor.
func (s *server) page(ctx context.Context, visitor string) (http.Handler, error) {
	person, blog := "an id from the Person tab", "an id from the Feed tab"
	if visitor == "" {
		return web.Handler(web.Page{Tabs: examples(person, blog)}), nil
	}
	session, err := s.accounts.SessionOf(ctx, visitor)
	if err != nil {
		return nil, fmt.Errorf("sign in the visitor: %w", err)
	}
	stranger, err := s.accounts.ByHandle(ctx, "handle", ops.DemoStranger)
	switch {
	case err == nil:
		person = stranger.GlobalID()
	case !social.HasCode(err, social.NotFound): // else suspended or deleted, as may be tried on a demo
		return nil, fmt.Errorf("find somebody to follow: %w", err)
	}
	newest, err := s.feed.Home(ctx, session.User.ID, social.Page{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("find a blog to like: %w", err)
	}
	if len(newest.Items) > 0 {
		blog = newest.Items[0].Blog.GlobalID()
	}
	return web.Handler(web.Page{Token: session.Token, Tabs: examples(person, blog)}), nil
}

// ready says why a balancer should send requests elsewhere.
func (s *server) ready(ctx context.Context) error {
	if s.draining.Load() {
		return social.Errorf(social.Unavailable, "draining")
	}
	return s.store.db.Ping(ctx)
}

// run serves until ctx ends, then answers what is under way and closes the store. Where it
// listens is told on out.
func (s *server) run(ctx context.Context, address string, out io.Writer) error {
	defer s.close()
	if address == "" { // which would be every address and any port
		return errors.New("--listen names no address")
	}
	listener, err := transport.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%sKith is at http://%s\n", s.welcome, listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	h := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	// Workers outlast the requests: ids are still needed while those are answered.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, working := errgroup.WithContext(working)
	g.Go(func() error { return s.labour(working) })
	g.Go(func() error {
		if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		defer stop()
		select {
		case <-ctx.Done():
		case <-working.Done(): // a part has failed
		}
		return s.drain(h)
	})
	return g.Wait()
}

// drain takes no more requests, sends subscriptions elsewhere, and waits for the requests
// under way.
func (s *server) drain(h *http.Server) error {
	s.draining.Store(true)
	s.log.Info("draining")
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return h.Shutdown(ctx) })
	if s.edge != nil {
		g.Go(func() error { return s.edge.Close(ctx) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("requests were cut off: %w", errors.Join(err, h.Close()))
	}
	return nil
}

func main() {
	command, err := parse(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kith:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends at once
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	command.BindTo(ctx, (*context.Context)(nil))
	command.BindTo(os.Stdout, (*io.Writer)(nil))
	if err := command.Run(log); err != nil {
		var known *social.Error
		if errors.As(err, &known) && known.Code == social.BadUserInput {
			err = errors.New(known.Message) // codes and fields are for other programs
		}
		fmt.Fprintln(os.Stderr, "kith:", err)
		os.Exit(1)
	}
}
