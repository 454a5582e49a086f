package flakeid

import (
	"runtime"
	"time"
)

// ManualClock is a clock for tests, which changes only when the program sets it. A generator that waits does not
// sleep but moves the clock forward. Every method can be called while generators use the clock.
type ManualClock struct{ native nativeClock }

// NewManualClock returns a clock that reads the given time, to the millisecond.
func NewManualClock(now time.Time) *ManualClock {
	native, err := newClock(now.UnixMilli())
	made := &ManualClock{certain(native, err)}
	runtime.SetFinalizer(made, func(unused *ManualClock) { unused.native.free() })
	return made
}

// Set sets the clock forward or backward.
func (c *ManualClock) Set(now time.Time) {
	certain(0, c.native.set(now.UnixMilli()))
	runtime.KeepAlive(c)
}

// Advance moves the clock forward by whole milliseconds. It panics if by is negative.
func (c *ManualClock) Advance(by time.Duration) {
	if by < 0 {
		panic("flakeid: a clock cannot be advanced by " + by.String() + "; set it")
	}
	certain(0, c.native.advance(uint64(by.Milliseconds())))
	runtime.KeepAlive(c)
}

// Now returns the time of the clock.
func (c *ManualClock) Now() time.Time {
	now, err := c.native.now()
	runtime.KeepAlive(c)
	return moment(certain(now, err))
}
