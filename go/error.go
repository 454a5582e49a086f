package flakeid

// #include "shim.h"
import "C"

import (
	"fmt"
	"strings"
	"time"
	"unsafe"
)

// Code is the kind of an error. Its values are the same in every language and release. A Code is an error itself, so
// that errors.Is(err, flakeid.ErrClockRollback) compares kinds.
type Code int32

// The codes, which have the same meaning in every language.
const (
	// ErrInvalidLayout: the fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs.
	ErrInvalidLayout Code = C.FLAKEID_INVALID_LAYOUT
	// ErrFieldOutOfRange: a value is outside the range of its field, which Error.Field names.
	ErrFieldOutOfRange Code = C.FLAKEID_FIELD_OUT_OF_RANGE
	// ErrInvalidID: an argument (a string, byte sequence or number) is not a valid ID.
	ErrInvalidID Code = C.FLAKEID_INVALID_ID
	// ErrInvalidOption: an option is invalid, or conflicts with another option.
	ErrInvalidOption Code = C.FLAKEID_INVALID_OPTION
	// ErrClockRollback: the clock went backwards, by Error.Rollback.
	ErrClockRollback Code = C.FLAKEID_CLOCK_ROLLBACK
	// ErrSequenceExhausted: all sequence numbers of the tick are used up.
	ErrSequenceExhausted Code = C.FLAKEID_SEQUENCE_EXHAUSTED
	// ErrHorizonReached: the layout's ticks ended at Error.Horizon.
	ErrHorizonReached Code = C.FLAKEID_HORIZON_REACHED
	// ErrBeforeEpoch: the time is before the layout's epoch.
	ErrBeforeEpoch Code = C.FLAKEID_BEFORE_EPOCH
	// ErrClosed: the generator was closed or retired.
	ErrClosed Code = C.FLAKEID_CLOSED
	// ErrForked: the generator's node belongs to the parent of this forked process.
	ErrForked Code = C.FLAKEID_FORKED
	// ErrRingEmpty: a ring of IDs is empty. The Go package has no rings.
	ErrRingEmpty Code = C.FLAKEID_RING_EMPTY
	// ErrLeaseExpired: the granted window of ticks is used up.
	ErrLeaseExpired Code = C.FLAKEID_LEASE_EXPIRED
	// ErrNoFreeNode: the namespace has no free node now.
	ErrNoFreeNode Code = C.FLAKEID_NO_FREE_NODE
	// ErrClockSkew: the clocks of this host and of the store differ too much.
	ErrClockSkew Code = C.FLAKEID_CLOCK_SKEW
	// ErrFenceInFuture: the node's fence is too far ahead of the clock.
	ErrFenceInFuture Code = C.FLAKEID_FENCE_IN_FUTURE
	// ErrStoreUnavailable: the lease store is not responding.
	ErrStoreUnavailable Code = C.FLAKEID_STORE_UNAVAILABLE
	// ErrStoreRejected: the lease store refused the request.
	ErrStoreRejected Code = C.FLAKEID_STORE_REJECTED
	// ErrNullArgument: a Generator, ManualClock or PublicIDs was not created by a function of this package.
	ErrNullArgument Code = C.FLAKEID_NULL_ARGUMENT
	// ErrPanic: the library caught an internal error, which is a bug.
	ErrPanic Code = C.FLAKEID_PANIC
)

// String returns the name of the code, such as FLAKEID_CLOCK_ROLLBACK.
func (c Code) String() string { return C.GoString(C.flakeid_status_code(C.flakeid_status(c))) }

// Error returns a message that describes the code.
func (c Code) Error() string {
	return "flakeid: " + C.GoString(C.flakeid_status_message(C.flakeid_status(c)))
}

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

// failure converts the error that the shim reports.
func failure(failed *C.failure) error {
	if failed == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(failed))
	made := &Error{
		Code:       Code(failed.status),
		Message:    C.GoString(C.message_of(failed)),
		RetryAfter: duration(failed.retry_after_ms),
		Rollback:   duration(failed.rollback_ms),
	}
	if failed.field != nil {
		made.Field = C.GoString(failed.field)
	}
	if failed.horizon_ms >= 0 {
		made.Horizon = moment(failed.horizon_ms)
	}
	return made
}

// refused returns an error for input that is not passed to the library.
func refused(code Code, field, format string, values ...any) *Error {
	return &Error{
		Code: code, Message: fmt.Sprintf(format, values...), Field: field, RetryAfter: -1, Rollback: -1,
	}
}

// duration converts milliseconds from the library, where a negative number means that there is no duration.
func duration(ms C.int64_t) time.Duration {
	if ms < 0 {
		return -1
	}
	if ms > C.int64_t(1<<63-1)/C.int64_t(time.Millisecond) {
		return 1<<63 - 1
	}
	return time.Duration(ms) * time.Millisecond
}

func moment(unixMs C.int64_t) time.Time { return time.UnixMilli(int64(unixMs)).UTC() }

// withoutNul replaces NUL, which ends a string in C, by U+FFFD. No layout and no text form contains that character,
// so the library rejects it with its own message.
func withoutNul(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// checkNul rejects a string that contains a NUL, at which C would end the string.
func checkNul(name, text string) *Error {
	if !strings.Contains(text, "\x00") {
		return nil
	}
	return refused(ErrInvalidOption, "", "%s: %.64q contains a NUL; remove it", name, text)
}

// with calls a function that takes a string.
func with[T any](text string, call func(*C.char) T) T {
	c := C.CString(withoutNul(text))
	defer C.free(unsafe.Pointer(c))
	return call(c)
}

func numberOf(made C.result) (uint64, error) { return uint64(made.value), failure(made.failed) }

func idOf(made C.result) (ID, error) { return ID(made.value), failure(made.failed) }
