package flakeid

// #include "shim.h"
import "C"

import (
	"fmt"
	"strings"
	"time"
	"unsafe"
)

// Code says what kind of error it was. Its values are the same in every language and release. It is an
// error itself, so that errors.Is(err, flakeid.ErrClockRollback) tells kinds apart.
type Code int32

// The codes, each with the same meaning as in every other language.
const (
	// ErrInvalidLayout: a layout's fields, epoch or unit do not make a layout, or not one that can generate.
	ErrInvalidLayout Code = C.FLAKEID_INVALID_LAYOUT
	// ErrFieldOutOfRange: a value is outside the range that its field allows; Error.Field names it.
	ErrFieldOutOfRange Code = C.FLAKEID_FIELD_OUT_OF_RANGE
	// ErrInvalidID: text, bytes or a number that is not an ID.
	ErrInvalidID Code = C.FLAKEID_INVALID_ID
	// ErrInvalidOption: an option that cannot be, or cannot be together with another.
	ErrInvalidOption Code = C.FLAKEID_INVALID_OPTION
	// ErrClockRollback: the clock reads less than it did before, by Error.Rollback.
	ErrClockRollback Code = C.FLAKEID_CLOCK_ROLLBACK
	// ErrSequenceExhausted: every sequence number of the tick is used up.
	ErrSequenceExhausted Code = C.FLAKEID_SEQUENCE_EXHAUSTED
	// ErrHorizonReached: the layout's ticks have run out, at Error.Horizon.
	ErrHorizonReached Code = C.FLAKEID_HORIZON_REACHED
	// ErrBeforeEpoch: the clock reads less than the layout's epoch.
	ErrBeforeEpoch Code = C.FLAKEID_BEFORE_EPOCH
	// ErrClosed: the generator was closed or retired.
	ErrClosed Code = C.FLAKEID_CLOSED
	// ErrForked: the generator's node belongs to the parent of this forked process.
	ErrForked Code = C.FLAKEID_FORKED
	// ErrRingEmpty: a ring of IDs is empty. Nothing in Go has a ring.
	ErrRingEmpty Code = C.FLAKEID_RING_EMPTY
	// ErrLeaseExpired: the granted window of ticks is used up.
	ErrLeaseExpired Code = C.FLAKEID_LEASE_EXPIRED
	// ErrNoFreeNode: no node can be leased now.
	ErrNoFreeNode Code = C.FLAKEID_NO_FREE_NODE
	// ErrClockSkew: this host's clock and the store's are too far apart.
	ErrClockSkew Code = C.FLAKEID_CLOCK_SKEW
	// ErrFenceInFuture: the node's fence lies too far ahead of the clock.
	ErrFenceInFuture Code = C.FLAKEID_FENCE_IN_FUTURE
	// ErrStoreUnavailable: the lease store does not answer.
	ErrStoreUnavailable Code = C.FLAKEID_STORE_UNAVAILABLE
	// ErrStoreRejected: the lease store answers no.
	ErrStoreRejected Code = C.FLAKEID_STORE_REJECTED
	// ErrNullArgument: a Generator, ManualClock or PublicIDs that no function of this package made.
	ErrNullArgument Code = C.FLAKEID_NULL_ARGUMENT
	// ErrPanic: a defect of the library was caught.
	ErrPanic Code = C.FLAKEID_PANIC
)

// String is the code as text, such as FLAKEID_CLOCK_ROLLBACK.
func (c Code) String() string { return C.GoString(C.flakeid_status_code(C.flakeid_status(c))) }

// Error is what the code means, as a sentence.
func (c Code) Error() string {
	return "flakeid: " + C.GoString(C.flakeid_status_message(C.flakeid_status(c)))
}

// Error is a call that failed.
type Error struct {
	// Code is the kind of error; errors.Is compares with it.
	Code Code
	// Message is a sentence that names the field, the value and the range.
	Message string
	// Field is the field at fault of ErrFieldOutOfRange, otherwise empty.
	Field string
	// RetryAfter says after how long the call may succeed; negative where waiting does not help.
	RetryAfter time.Duration
	// Rollback says by how much the clock went back, of ErrClockRollback; otherwise negative.
	Rollback time.Duration
	// Horizon is when the layout ran out, of ErrHorizonReached; otherwise zero.
	Horizon time.Time
}

// Error is the message.
func (e *Error) Error() string { return "flakeid: " + e.Message }

// Unwrap is the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// failure takes over what the shim reports.
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

// refused is an error about what never reaches the library.
func refused(code Code, field, format string, values ...any) *Error {
	return &Error{
		Code: code, Message: fmt.Sprintf(format, values...), Field: field, RetryAfter: -1, Rollback: -1,
	}
}

// duration is negative for what the library has none of.
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

// withoutNul is the text with U+FFFD for NUL, at which C would take it to end. No layout and no text
// form has that character, so the library refuses it in its own words.
func withoutNul(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// with makes a call that takes a text.
func with[T any](text string, call func(*C.char) T) T {
	c := C.CString(withoutNul(text))
	defer C.free(unsafe.Pointer(c))
	return call(c)
}

func numberOf(made C.result) (uint64, error) { return uint64(made.value), failure(made.failed) }

func idOf(made C.result) (ID, error) { return ID(made.value), failure(made.failed) }
