package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"

	"kith/social"
)

func TestDriverErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for want, errs := range map[fault][]error{
		notThere:  {sql.ErrNoRows},
		duplicate: {&mysql.MySQLError{Number: 1062}},
		again:     {&mysql.MySQLError{Number: 1020}, &mysql.MySQLError{Number: 1205}, &mysql.MySQLError{Number: 1213}},
		gone: {mysql.ErrInvalidConn, driver.ErrBadConn, io.EOF, io.ErrUnexpectedEOF,
			&mysql.MySQLError{Number: 1053}, &mysql.MySQLError{Number: 1317}, &mysql.MySQLError{Number: 1927}, &mysql.MySQLError{Number: 4031}},
		unreachable: {context.DeadlineExceeded, os.ErrDeadlineExceeded, sql.ErrConnDone, &net.OpError{Op: "dial", Err: errors.New("refused")},
			connectError{&mysql.MySQLError{Number: 1045}}, fmt.Errorf("begin: %w", connectError{errors.New("refused")}),
			&mysql.MySQLError{Number: 1226}, &mysql.MySQLError{Number: 3024}, &mysql.MySQLError{Number: 1969},
			&mysql.MySQLError{Number: 1021}, &mysql.MySQLError{Number: 1040}, &mysql.MySQLError{Number: 1047}, &mysql.MySQLError{Number: 1129},
			&mysql.MySQLError{Number: 1203}, &mysql.MySQLError{Number: 1290}, &mysql.MySQLError{Number: 1836}},
		other: {nil, errors.New("anything"), context.Canceled, &mysql.MySQLError{Number: 1064}, &mysql.MySQLError{Number: 1406}},
	} {
		for _, err := range errs {
			if got := classify(err); got != want {
				t.Errorf("%v: got %d, want %d", err, got, want)
			}
			if err == nil {
				continue
			}
			wrapped := fmt.Errorf("read users: %w", err)
			if got := classify(wrapped); got != want {
				t.Errorf("wrapped %v: got %d, want %d", err, got, want)
			}
			if got, want := social.HasCode(public(wrapped), social.Unavailable), want == again || want == gone || want == unreachable; got != want {
				t.Errorf("%v leaves as UNAVAILABLE: %v, want %v", err, got, want)
			}
			if !errors.Is(public(wrapped), err) {
				t.Errorf("%v lost its cause", err)
			}
		}
	}
}

func TestSQLiteCodesAreClassified(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]fault{
		5: again, 517: again, 6: again, 262: again, // BUSY, BUSY_SNAPSHOT, LOCKED, LOCKED_SHAREDCACHE
		1555: duplicate, 2067: duplicate, // PRIMARYKEY, UNIQUE
		8: unreachable, 10: unreachable, 266: unreachable, 13: unreachable, 14: unreachable, // READONLY, IOERR, IOERR_READ, FULL, CANTOPEN
		1: other, 1299: other, 19: other, // ERROR, NOTNULL, CONSTRAINT
	} {
		if got := classifySQLite(code); got != want {
			t.Errorf("%d: got %d, want %d", code, got, want)
		}
	}
}

func TestOurOwnErrorsPassAsTheyAre(t *testing.T) {
	t.Parallel()
	ours := &social.Error{Code: social.Conflict, Cause: &mysql.MySQLError{Number: 1213}}
	if got := public(ours); got != error(ours) { //nolint:errorlint // as it is
		t.Errorf("got %v", got)
	}
	if public(nil) != nil {
		t.Error("no error became one")
	}
}

func TestOnlyWhatSurelyDidNotHappenIsRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{mysql.ErrInvalidConn, true},
		{fmt.Errorf("begin: %w", driver.ErrBadConn), true},
		{commitError{fmt.Errorf("commit: %w", mysql.ErrInvalidConn)}, false},
		{commitError{fmt.Errorf("commit: %w", io.EOF)}, false},
		{commitError{fmt.Errorf("commit: %w", &mysql.MySQLError{Number: 1213})}, true}, // the store said that it did not
		{&mysql.MySQLError{Number: 1205}, true},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, false},
		{context.DeadlineExceeded, false},
		{errors.New("anything"), false},
	} {
		if got := retryable(c.err); got != c.want {
			t.Errorf("%v: got %v", c.err, got)
		}
	}
}

func TestServersAreToldApartByTheirVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"10.11.19-MariaDB-0+deb12u1": true, "5.5.5-10.6.1-mariadb": true,
		"8.0.36": false, "8.4.0-commercial": false, "8.0.11-TiDB-v8.5.0": false,
	} {
		if got := isMariaDB(version); got != want {
			t.Errorf("%s: got %v", version, got)
		}
	}
}
