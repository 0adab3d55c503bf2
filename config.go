package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"kith/account"
	"kith/db"
	"kith/feed"
	"kith/social"
)

// commands is the command line. Every flag has a KITH_ variable of the same name.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the server."`
	Demo    demoCommand    `cmd:"" help:"Run the server on embedded stores with sample people and blogs, signed in as one of them."`
	Migrate migrateCommand `cmd:"" help:"Bring the schema of the store up to this binary's, and end."`
	Token   tokenCommand   `cmd:"" help:"Print a token that signs in as a person."`
	User    userCommand    `cmd:"" help:"Suspend, restore or delete an account."`
	Events  eventsCommand  `cmd:"" help:"Look at those who consume events, and at what they could not take."`
	Inspect inspectCommand `cmd:"" help:"Look at what lies in the stores, and why."`

	Reconcile reconcileCommand `cmd:"" help:"Hold the stores against themselves: both sides of every edge, counts, caches. Exit code 1 on drift that is left."`
}

// storeFlags say where the truth is.
type storeFlags struct {
	MySQL string `name:"mysql" env:"KITH_MYSQL" placeholder:"DSN" help:"MySQL, MariaDB or TiDB: user:password@tcp(host:port)/database. Without it the store is embedded."`
	Data  string `name:"data" env:"KITH_DATA" default:"./data" placeholder:"FOLDER" help:"Folder of the embedded store and of its secret (${default})."`
}

// secretFlags say what signs the tokens.
type secretFlags struct {
	JWTSecret string `name:"jwt-secret" env:"KITH_JWT_SECRET" placeholder:"SECRET" help:"Signs the tokens: at least 32 bytes, the same on all servers. Needed with --mysql; an embedded store makes and keeps its own."`
}

// webFlags say how the server meets its clients.
type webFlags struct {
	Listen        string `name:"listen" env:"KITH_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on (${default})."`
	Introspection string `name:"introspection" env:"KITH_INTROSPECTION" enum:"on,off" default:"on" help:"on or off: whether clients may read the schema, and GraphiQL is served (${default})."`
}

// limitFlags say who is slowed down.
type limitFlags struct {
	RateLimits     string `name:"rate-limits" env:"KITH_RATE_LIMITS" enum:"on,off" default:"on" help:"on or off: whether calls that come too soon are refused (${default})."`
	TrustedProxies string `name:"trusted-proxies" env:"KITH_TRUSTED_PROXIES" placeholder:"NETWORKS" help:"Addresses and networks, separated by commas, whose X-Forwarded-For is believed."`
}

// cacheFlags say how much is kept ready.
type cacheFlags struct {
	InboxSize int `name:"inbox-size" env:"KITH_INBOX_SIZE" default:"500" placeholder:"N" help:"How many blogs of a feed are kept in Redis; older ones are read from SQL (${default})."`

	StarFollowers int64 `name:"star-followers" env:"KITH_STAR_FOLLOWERS" default:"10000" placeholder:"N" help:"How many followers make an author, past that number and for good, a star: whose blogs are not brought to every follower, but merged in when a feed is read (${default})."`
}

// Validate is asked by the parser.
func (f cacheFlags) Validate() error {
	if f.InboxSize < 2 || f.InboxSize > maxInbox {
		return fmt.Errorf("--inbox-size is 2 to %d", maxInbox)
	}
	if f.StarFollowers < 1 || f.StarFollowers > maxStarFollowers {
		return fmt.Errorf("--star-followers is 1 to %d", maxStarFollowers)
	}
	return nil
}

// maxInbox bounds what one script may have to walk through.
const maxInbox = 5000

// maxStarFollowers is more than anybody has: with it there are no stars.
const maxStarFollowers = 1_000_000_000

// The roles of a process.
const (
	apiRole    = "api"
	workerRole = "worker"
)

type serveCommand struct {
	storeFlags
	secretFlags
	webFlags
	limitFlags
	cacheFlags
	Role    []string `name:"role" env:"KITH_ROLE" enum:"api,worker" default:"api,worker" placeholder:"ROLES" help:"What this process does: api serves requests, worker the slow work behind them; both by default. One of each at least has to run (${default})."`
	Redis   string   `name:"redis" env:"KITH_REDIS" placeholder:"URL" help:"Redis: redis://host:port, or the addresses of a cluster, separated by commas. Needed with --mysql, and only with it."`
	Migrate string   `name:"migrate" env:"KITH_MIGRATE" enum:"on,off" default:"on" help:"on or off: whether the schema is brought up at start (${default})."`
}

// Run runs the server until ctx ends.
func (c *serveCommand) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if (c.MySQL == "") != (c.Redis == "") {
		return errors.New("--mysql and --redis go together: servers that share a store share their limits too; without both, everything is embedded")
	}
	s, err := newServer(ctx, log, settings{
		store: c.storeFlags, redis: c.Redis, secret: c.JWTSecret, migrate: c.Migrate == "on",
		introspection: c.Introspection == "on", limits: c.limitFlags, roles: c.Role, inboxSize: c.InboxSize, stars: feed.StarsConfig{Followers: c.StarFollowers},
	})
	if err != nil {
		return err
	}
	return s.run(ctx, c.Listen, out)
}

type demoCommand struct {
	Data string `name:"data" env:"KITH_DATA" default:"./data" placeholder:"FOLDER" help:"Folder of the demo's store (${default})."`
	webFlags
	limitFlags
}

// Run runs the demo until ctx ends.
func (c *demoCommand) Run(ctx context.Context, log *slog.Logger, out io.Writer) error {
	s, err := newDemo(ctx, log, c)
	if err != nil {
		return err
	}
	return s.run(ctx, c.Listen, out)
}

type migrateCommand struct{ storeFlags }

// Run migrates and tells how far.
func (c *migrateCommand) Run(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	st, err := openStore(ctx, c.storeFlags)
	if err != nil {
		return err
	}
	defer st.close()
	n, err := st.db.Migrate(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d migrations applied; the schema is up to date\n", n)
	return err
}

type tokenCommand struct {
	storeFlags
	secretFlags
	Handle string `arg:"" help:"The person's handle."`
}

// Run prints a token. It only reads, so the server may be running.
func (c *tokenCommand) Run(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	if err := c.exists(); err != nil {
		return err
	}
	secret, err := c.secret(c.JWTSecret)
	if err != nil {
		return err
	}
	d, err := db.Open(ctx, c.config())
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	none := social.NewSnowflake(nil, nil) // signs in, never up
	accounts, err := account.New(d, none, clock, account.Config{Secret: secret})
	if err != nil {
		return err
	}
	session, err := accounts.SessionOf(ctx, c.Handle)
	if social.HasCode(err, social.NotFound) {
		return fmt.Errorf("nobody has the handle %q", c.Handle)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, session.Token)
	return err
}

// secret is the given secret, or the embedded store's own.
func (f storeFlags) secret(given string) (string, error) {
	switch {
	case given != "":
		return given, account.CheckSecret(given)
	case f.MySQL != "":
		return "", errors.New("--jwt-secret (or KITH_JWT_SECRET) is needed with --mysql: all servers sign with the same secret")
	}
	return ownSecret(f.Data)
}

// exists is an error where the flags name an embedded store that has not been made.
func (f storeFlags) exists() error {
	if f.MySQL != "" {
		return nil
	}
	if _, err := os.Stat(databaseFile(f.Data)); err != nil {
		return fmt.Errorf("there is no embedded store in %s: %w", f.Data, err)
	}
	return nil
}

// String tells which store it is, for people.
func (f storeFlags) String() string {
	if f.MySQL != "" {
		return "MySQL"
	}
	return "the embedded one in " + f.Data
}

// config is what db needs to know of the flags.
func (f storeFlags) config() db.Config {
	if f.MySQL != "" {
		return db.Config{MySQL: f.MySQL}
	}
	return db.Config{SQLite: databaseFile(f.Data)}
}

// parse reads the command line; errors are told as kong tells them.
func parse(args []string, out io.Writer) (*kong.Context, error) {
	if err := noEmptyVariable(); err != nil {
		return nil, err
	}
	k, err := kong.New(&commands{}, kong.Name("kith"), kong.Writers(out, out),
		kong.Description("The social core of an app as one GraphQL server."))
	if err != nil {
		return nil, err
	}
	return k.Parse(args)
}

// noEmptyVariable refuses variables that are set to nothing, as deployments do with a
// secret that is missing: taken as absent they would switch the store, or the address.
func noEmptyVariable() error {
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if value == "" && strings.HasPrefix(name, "KITH_") {
			return fmt.Errorf("%s is set, but empty", name)
		}
	}
	return nil
}
