package flakeid

// #include "shim.h"
import "C"

import (
	"runtime"
	"time"
)

// ManualClock is a clock for tests, which changes only when the program sets it. A generator that waits does not
// sleep but moves the clock forward. Every method can be called while generators use the clock.
type ManualClock struct{ handle *C.flakeid_manual_clock }

// NewManualClock returns a clock that reads the given time, to the millisecond.
func NewManualClock(now time.Time) *ManualClock {
	made := &ManualClock{}
	certain(0, failure(C.new_clock(C.int64_t(now.UnixMilli()), &made.handle)))
	runtime.SetFinalizer(made, func(unused *ManualClock) { C.flakeid_manual_clock_free(unused.handle) })
	return made
}

// Set sets the clock forward or backward.
func (c *ManualClock) Set(now time.Time) {
	certain(0, failure(C.set_clock(c.handle, C.int64_t(now.UnixMilli()))))
	runtime.KeepAlive(c)
}

// Advance moves the clock forward by whole milliseconds. It panics if by is negative.
func (c *ManualClock) Advance(by time.Duration) {
	if by < 0 {
		panic("flakeid: a clock cannot be advanced by " + by.String() + "; set it")
	}
	certain(0, failure(C.advance_clock(c.handle, C.uint64_t(by.Milliseconds()))))
	runtime.KeepAlive(c)
}

// Now returns the time of the clock.
func (c *ManualClock) Now() time.Time {
	now := C.clock_now(c.handle)
	runtime.KeepAlive(c)
	return moment(certain(now.value, failure(now.failed)))
}
