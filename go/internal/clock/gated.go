//go:build amd64 && linux

package clock

import (
	"bytes"
	"os"
	"time"
)

// readCounter reads the processor's cycle counter.
func readCounter() uint64

// hasInvariantCounter reports whether the counter has the same rate at every frequency of the processor and while the
// processor sleeps.
func hasInvariantCounter() bool

// Pause gives way to other processors for a moment, so that the processor that changed a word can use it before this
// one requests it again.
func Pause()

var (
	process gate
	machine = instruments{counter: readCounter, now: time.Now}
	isFit   = hasInvariantCounter() && isKeptByKernel()
)

// isKeptByKernel reports whether the kernel has compared the counters of all processors and derives the system's clock
// from them. With other clock sources, the host may change the rate of the clock.
func isKeptByKernel() bool {
	name, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return err == nil && bytes.Equal(bytes.TrimSpace(name), []byte("tsc"))
}

// UnixMilli returns the time of the system's clock in Unix milliseconds.
func UnixMilli() int64 {
	if isFit && process.isOpen(readCounter()) {
		return process.ms.Load()
	}
	return readClosed()
}

func readClosed() int64 {
	if !isFit {
		return time.Now().UnixMilli()
	}
	return process.refresh(machine)
}
