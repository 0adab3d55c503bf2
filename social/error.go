package social

import (
	"errors"
	"fmt"
	"time"
)

// Code is the class of an [Error], as clients see it in errors[].extensions.code.
type Code string

// The codes. INTERNAL is not among them: it is what every other error becomes.
const (
	Unauthenticated Code = "UNAUTHENTICATED"
	Forbidden       Code = "FORBIDDEN"
	NotFound        Code = "NOT_FOUND"
	BadUserInput    Code = "BAD_USER_INPUT"
	Conflict        Code = "CONFLICT"
	RateLimited     Code = "RATE_LIMITED"
	LimitExceeded   Code = "LIMIT_EXCEEDED"
	QueryTooComplex Code = "QUERY_TOO_COMPLEX"
	Unavailable     Code = "UNAVAILABLE"
)

// Error is an error that clients may see. Message is written for them and holds no
// cause; Field names the argument or input field at fault, where there is one.
type Error struct {
	Code    Code
	Field   string
	Message string
	// RetryAfter is how long to wait before trying again; RATE_LIMITED alone has it.
	RetryAfter time.Duration
	// Cause is for the log alone.
	Cause error
}

// Error is the message with code, field and cause, for logs and tests.
func (e *Error) Error() string {
	s := string(e.Code)
	if e.Field != "" {
		s += " (" + e.Field + ")"
	}
	s += ": " + e.Message
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error without a field.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid is BAD_USER_INPUT about one argument or input field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: BadUserInput, Field: field, Message: fmt.Sprintf(format, args...)}
}

// HasCode tells whether err is, or wraps, an Error of this code.
func HasCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
