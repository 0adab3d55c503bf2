package main

import (
	"context"
	"errors"

	"kith/db"
	"kith/rdb"
)

// besideFlags name the stores that servers are running on.
type besideFlags struct {
	storeFlags
	Redis string `name:"redis" env:"KITH_REDIS" placeholder:"URL" help:"Redis of the servers: redis://host:port, or the addresses of a cluster, separated by commas. Needed with --mysql, and only with it."`
}

// open opens the stores; the Redis is nil where it is in the process of the server.
func (f *besideFlags) open(ctx context.Context) (d *db.DB, r *rdb.Redis, done func(), err error) {
	if (f.MySQL == "") != (f.Redis == "") {
		return nil, nil, nil, errors.New("--mysql and --redis go together: without both, the store is embedded")
	}
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
