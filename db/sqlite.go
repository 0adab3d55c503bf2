package db

import (
	"context"
	"database/sql"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// sqliteReaders is how many read beside the one that writes.
const sqliteReaders = 8

func openSQLite(ctx context.Context, path string) (*DB, error) {
	// Made here, since SQLite would let everybody read the hashes of passwords.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // G304: which file is the operator's to say
	if err != nil {
		return nil, openError("SQLite", err)
	}
	if err := f.Close(); err != nil {
		return nil, openError("SQLite", err)
	}
	open := func(size int, settings ...string) (*sql.DB, error) {
		q := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, settings...), "_txlock": {"immediate"}}
		p, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: q.Encode()}).String())
		if err != nil {
			return nil, err
		}
		p.SetMaxOpenConns(size)
		return p, p.PingContext(ctx)
	}
	// synchronous(FULL): what was answered survives a loss of power, not only of the process.
	w, err := open(1, "journal_mode(WAL)", "synchronous(FULL)")
	if err != nil {
		return nil, openError("SQLite", err)
	}
	r, err := open(sqliteReaders, "query_only(1)")
	if err != nil {
		_ = w.Close()
		return nil, openError("SQLite", err)
	}
	d := &DB{read: pool(r, "sqlite", sqliteReaders, 0), write: pool(w, "sqlite", 1, 0), close: []func() error{r.Close, w.Close}}
	d.dialect = sqliteDialect()
	return d, nil
}
