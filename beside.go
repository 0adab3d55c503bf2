package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

// besideFlags name the stores that servers are running on.
type besideFlags struct {
	storeFlags
	Redis string `name:"redis" env:"KITH_REDIS" placeholder:"URL" help:"Redis of the servers: redis://host:port, or the addresses of a cluster, separated by commas. Needed with --mysql, and only with it."`
}

// Validate is asked by the parser.
func (f *besideFlags) Validate() error {
	if (f.MySQL == "") != (f.Redis == "") {
		return errors.New("--mysql and --redis go together: without both, the store is embedded")
	}
	return nil
}

// parseID reads what a flag names: a global id or its number; 0 for the empty text.
func parseID(flag string, of social.NodeType, text string) (social.ID, error) {
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		return social.ID(n), nil
	}
	id, err := social.ParseIDOf(of, flag, text)
	var known *social.Error
	if errors.As(err, &known) { // codes and fields are for other programs
		err = fmt.Errorf("--%s: %s", flag, known.Message)
	}
	return id, err
}

// open opens the stores; the Redis is nil where it is in the process of the server.
func (f *besideFlags) open(ctx context.Context) (d *db.DB, r *rdb.Redis, done func(), err error) {
	if d, err = f.openBeside(ctx); err != nil {
		return nil, nil, nil, err
	}
	if f.Redis == "" {
		return d, nil, func() { _ = d.Close() }, nil
	}
	if r, err = rdb.Open(rdb.Config{URL: f.Redis}); err != nil {
		return nil, nil, nil, errors.Join(err, d.Close())
	}
	return d, r, func() { _, _ = r.Close(), d.Close() }, nil
}
