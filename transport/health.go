package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"kith/social"
)

// readyTimeout is how long the stores have to answer; a balancer asks every few seconds.
const readyTimeout = 2 * time.Second

// healthz says that the process runs, whatever its stores do.
func healthz(w http.ResponseWriter, _ *http.Request) {
	writeText(w, http.StatusOK, "ok")
}

// Health serves /healthz and /readyz alone, for a process that takes no requests. ready
// says why it should not be counted on, or nil.
func Health(ready func(context.Context) error) http.Handler {
	mux := http.NewServeMux()
	addHealth(mux, ready)
	return mux
}

func addHealth(mux *http.ServeMux, ready func(context.Context) error) {
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { readyz(w, r, ready) })
}

// readyz says whether requests should come here.
func readyz(w http.ResponseWriter, r *http.Request, ready func(context.Context) error) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	err := ready(ctx)
	if err == nil {
		writeText(w, http.StatusOK, "ready")
		return
	}
	writeText(w, http.StatusServiceUnavailable, "not ready: "+reasonClass(err))
}

// reasonClass tells an error without its cause: /readyz may be open to anybody.
func reasonClass(err error) string {
	var told *social.Error
	switch {
	case errors.As(err, &told):
		return clip(told.Message)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	default:
		return "error"
	}
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}
