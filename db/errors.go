package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"kith/social"
)

// fault is what an error of a driver means for us.
type fault int

const (
	other       fault = iota
	notThere          // no row
	duplicate         // a unique key is taken
	again             // lost against another transaction: the whole may be tried again
	gone              // the connection is lost: the statement may have run or not
	unreachable       // the store does not take work now
)

// connectError is whatever keeps a connection from being opened: a password that was
// changed as much as a server that is down. No statement has run.
type connectError struct{ error }

// Unwrap gives the cause.
func (e connectError) Unwrap() error { return e.error }

// classify is the only reader of driver errors.
func classify(err error) fault {
	var my *mysql.MySQLError
	var lite *sqlite.Error
	var net net.Error
	var refused connectError
	switch {
	case errors.As(err, &refused):
		return unreachable
	case errors.Is(err, sql.ErrNoRows):
		return notThere
	case errors.As(err, &my):
		return classifyMySQL(my.Number)
	case errors.As(err, &lite):
		return classifySQLite(lite.Code())
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return gone
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &net), errors.Is(err, sql.ErrConnDone):
		return unreachable
	}
	return other
}

// isDeadlock tells a transaction that lost in a deadlock.
func isDeadlock(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == 1213
}

func classifyMySQL(number uint16) fault {
	switch number {
	case 1062: // duplicate entry
		return duplicate
	case 1020, 1205, 1213, 8022, 8028, 9007: // record changed, lock wait time-out, deadlock; TiDB: conflict, schema changed
		return again
	case 1053, 1159, 1161, 1317, 1927, 4031: // shutdown, network, query or connection killed, timed out when idle
		return gone
	case 1021, 1040, 1041, 1047, 1114, 1129, 1135, 1203, 1226, 1290, 1836, // full, out of resources, too many connections, not ready, read only
		1969, 3024, // statement time-out
		9001, 9002, 9005: // TiDB: a part is away
		return unreachable
	}
	return other
}

func classifySQLite(code int) fault {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return duplicate
	}
	switch code & 0xff { // the primary code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return again
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return unreachable
	}
	return other
}

// public turns an error that leaves this package into what callers may see. Errors that
// are ours already, and those that only a fault of ours explains, pass as they are.
func public(err error) error {
	var ours *social.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	switch classify(err) {
	case again, gone, unreachable:
		return &social.Error{Code: social.Unavailable, Message: "the store cannot answer now; try again", Cause: err}
	}
	return err
}
