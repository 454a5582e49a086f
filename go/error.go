package flakeid

import (
	"fmt"
	"strings"
	"time"
)

// Code is the kind of an error. Its values are the same in every language and release. A Code is an error itself, so
// that errors.Is(err, flakeid.ErrClockRollback) compares kinds.
type Code int32

// The codes, which have the same meaning in every language.
const (
	// ErrInvalidLayout: the fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs.
	ErrInvalidLayout Code = 1
	// ErrFieldOutOfRange: a value is outside the range of its field, which Error.Field names.
	ErrFieldOutOfRange Code = 2
	// ErrInvalidID: an argument (a string, byte sequence or number) is not a valid ID.
	ErrInvalidID Code = 3
	// ErrInvalidOption: an option is invalid, or conflicts with another option.
	ErrInvalidOption Code = 4
	// ErrClockRollback: the clock went backwards, by Error.Rollback.
	ErrClockRollback Code = 10
	// ErrSequenceExhausted: all sequence numbers of the tick are used up.
	ErrSequenceExhausted Code = 11
	// ErrHorizonReached: the layout's ticks ended at Error.Horizon.
	ErrHorizonReached Code = 12
	// ErrBeforeEpoch: the time is before the layout's epoch.
	ErrBeforeEpoch Code = 13
	// ErrClosed: the generator was closed or retired.
	ErrClosed Code = 14
	// ErrForked: the generator's node belongs to the parent of this forked process.
	ErrForked Code = 15
	// ErrRingEmpty: a ring of IDs is empty. The Go package has no rings.
	ErrRingEmpty Code = 16
	// ErrLeaseExpired: the granted window of ticks is used up.
	ErrLeaseExpired Code = 20
	// ErrNoFreeNode: the namespace has no free node now.
	ErrNoFreeNode Code = 21
	// ErrClockSkew: the clocks of this host and of the store differ too much.
	ErrClockSkew Code = 22
	// ErrFenceInFuture: the node's fence is too far ahead of the clock.
	ErrFenceInFuture Code = 23
	// ErrStoreUnavailable: the lease store is not responding.
	ErrStoreUnavailable Code = 24
	// ErrStoreRejected: the lease store refused the request.
	ErrStoreRejected Code = 25
	// ErrNullArgument: a Generator, ManualClock or PublicIDs was not created by a function of this package.
	ErrNullArgument Code = 100
	// ErrPanic: the library caught an internal error, which is a bug.
	ErrPanic Code = 102

	noError        Code = 0
	bufferTooSmall Code = 101
)

// String returns the name of the code, such as FLAKEID_CLOCK_ROLLBACK.
func (c Code) String() string { return statusCode(c) }

// Error returns a message that describes the code.
func (c Code) Error() string { return "flakeid: " + statusMessage(c) }

// Error is the error of a failed call.
type Error struct {
	// Code is the kind of the error, which errors.Is compares.
	Code Code
	// Message is a sentence with the field, the value and the allowed range.
	Message string
	// Field is the name of the field for ErrFieldOutOfRange, otherwise empty.
	Field string
	// RetryAfter is the time after which the call may succeed, or negative if waiting does not help.
	RetryAfter time.Duration
	// Rollback is the time by which the clock went backwards for ErrClockRollback, otherwise negative.
	Rollback time.Duration
	// Horizon is the time at which the layout's ticks end for ErrHorizonReached, otherwise zero.
	Horizon time.Time
}

// Error returns the message.
func (e *Error) Error() string { return "flakeid: " + e.Message }

// Unwrap returns the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// refused returns an error for input that is not passed to the library.
func refused(code Code, field, format string, values ...any) *Error {
	return &Error{
		Code: code, Message: fmt.Sprintf(format, values...), Field: field, RetryAfter: -1, Rollback: -1,
	}
}

// duration converts milliseconds from the library, where a negative number means that there is no duration.
func duration(ms int64) time.Duration {
	if ms < 0 {
		return -1
	}
	if ms > int64(1<<63-1)/int64(time.Millisecond) {
		return 1<<63 - 1
	}
	return time.Duration(ms) * time.Millisecond
}

func moment(unixMs int64) time.Time { return time.UnixMilli(unixMs).UTC() }

// withoutNul replaces NUL, which ends a string in C, by U+FFFD. No layout and no text form contains that character,
// so the library rejects it with its own message.
func withoutNul(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// checkNul rejects a string that contains a NUL, at which C would end the string.
func checkNul(name, text string) *Error {
	if !strings.Contains(text, "\x00") {
		return nil
	}
	// A URL may contain a password, so only its scheme is shown.
	if scheme, _, isURL := strings.Cut(text, "://"); isURL {
		text = scheme + "://…"
	}
	return refused(ErrInvalidOption, "", "%s: %.64q contains a NUL; remove it", name, text)
}
