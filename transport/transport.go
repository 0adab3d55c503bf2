// Package transport is the HTTP edge: it takes GraphQL operations by POST, GET, WebSocket
// (graphql-transport-ws) and as streams of events (graphql-sse, distinct connections),
// refuses what is malformed or too expensive before any resolver runs, says who is asking,
// and puts every error into the form that the contract promises. It knows no store.
//
// An operation passes, in this order: request.go or socket_read.go with variables.go (bytes
// to parameters), identity.go (who asks), address.go (from where), then operation.go, the
// same for all transports: document.go (text to a checked document, by limits.go and
// validate.go), cost.go with text.go (how large the answer may be), the executor,
// subscription.go where there are many answers, present.go and words.go (errors), answer.go
// (bytes again). What stays open is known to streams.go, and writes through outbox.go.
package transport

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/gorilla/websocket"

	"kith/social"
)

// DefaultTimeout bounds the execution of one operation.
const DefaultTimeout = 10 * time.Second

// Config is what the edge needs to know. Only Schema has no default.
type Config struct {
	// Schema executes operations.
	Schema graphql.ExecutableSchema
	// Viewer gives the person that a bearer token names, or UNAUTHENTICATED; of a token that
	// has ended the person and [social.ErrTokenEnded]. Other errors say that nobody knows now.
	// nil takes no token.
	Viewer func(ctx context.Context, token string) (social.ID, error)
	// Standing gives, for a token that Viewer has taken, what tells whether it still stands, by
	// Viewer's errors: each stream asks once a second. nil asks Viewer.
	Standing func(token string) func(ctx context.Context) error
	// TrustedProxies are those whose X-Forwarded-For is believed ([ParsePrefixes]). None:
	// clients connect directly, and the header is ignored.
	TrustedProxies []netip.Prefix
	// Ready says why the server should get no requests now: told at /readyz. The message
	// of a [social.Error] is shown, other errors are not. nil is always ready.
	Ready func(ctx context.Context) error
	// Page is served at "/" and below. nil: 404.
	Page http.Handler
	// Introspection permits __schema and __type, and suggestions in messages.
	Introspection bool
	// Timeout bounds the execution of one operation, of a subscription that of each event;
	// 0 is [DefaultTimeout].
	Timeout time.Duration
	// Log takes the causes that clients do not see; nil is [slog.Default].
	Log *slog.Logger
}

func (c Config) validate() (Config, error) {
	if c.Schema == nil {
		return c, errors.New("transport: Config.Schema is missing")
	}
	if c.Viewer == nil {
		c.Viewer = func(context.Context, string) (social.ID, error) {
			return 0, social.Errorf(social.Unauthenticated, "no token is taken")
		}
	}
	if c.Standing == nil {
		c.Standing = func(token string) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := c.Viewer(ctx, token)
				return err
			}
		}
	}
	if c.Ready == nil {
		c.Ready = func(context.Context) error { return nil }
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c, nil
}

// Server serves /graphql, /healthz, /readyz and the page. Sockets and streams stay open:
// whose token ends is sent away while Run runs, and Close ends them all.
type Server struct {
	cfg       Config
	pace      pace
	documents *documents
	exec      *executor.Executor
	mux       *http.ServeMux
	upgrader  websocket.Upgrader
	streams   streams
}

// New starts nothing. It panics if the schema is missing.
func New(cfg Config) *Server {
	cfg, err := cfg.validate()
	if err != nil {
		panic(err)
	}
	s := &Server{
		cfg:       cfg,
		pace:      defaultPace,
		documents: newDocuments(cfg.Schema.Schema(), cfg.Introspection),
		exec:      executor.New(cfg.Schema),
		mux:       http.NewServeMux(),
		upgrader:  newUpgrader(),
		streams:   streams{open: map[*stream]struct{}{}, changed: make(chan struct{}, 1)},
	}
	s.exec.SetQueryCache(handedDocument{})
	s.exec.SetErrorPresenter(presenter{log: cfg.Log}.present)
	s.exec.SetRecoverFunc(recovered)

	s.mux.HandleFunc("/graphql", s.graphql)
	addHealth(s.mux, cfg.Ready)
	if cfg.Page != nil {
		s.mux.Handle("/", cfg.Page)
	}
	return s
}

// ServeHTTP gives the request its id and answers a panic that nothing below has caught.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestID(r.Header)
	ctx := withRequest(r.Context(), id)
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r = r.WithContext(ctx)
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(v)
		}
		failure := presenter{log: s.cfg.Log}.present(ctx, recovered(ctx, v))
		refused(http.StatusInternalServerError, failure).write(w, acceptedMedia(r.Header))
	}()
	s.mux.ServeHTTP(w, r)
}
