// Package clock reads the system's clock in milliseconds. On Linux on x86-64, it reads the clock only a few times per
// millisecond if the kernel derives the clock from the processor's cycle counter. It follows the rules of the core's
// GatedClock, in crates/flakeid-core/src/clock/gate.rs.
package clock

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// instruments are the clocks and the counter that a gate reads.
type instruments struct {
	// counter has a constant rate and the same value on every processor.
	counter func() uint64
	// now has a reading of the system's clock and a reading of a clock that cannot be set.
	now func() time.Time
}

// gate reuses a reading of the system's clock until the counter shows that the current millisecond may have ended.
type gate struct {
	// ms is the time that readers return while the counter is 1 to span counts below until. The three values have their
	// own cache line.
	ms          atomic.Int64
	until, span atomic.Uint64
	_           [104]byte

	// mutex guards the fields below, which only a goroutine that refreshes the gate uses.
	mutex sync.Mutex
	// counter and steady are the readings at the last measurement of the rate.
	counter uint64
	steady  time.Time
	// measured is the last measured rate, in counts per millisecond; 0 if unknown. rate is the lower of the last two
	// measured rates, minus an eighth.
	measured, rate uint64
}

const (
	nsPerMs = uint64(time.Millisecond)
	// interval is the shortest time over which the rate is measured.
	interval = 10 * time.Millisecond
	// margin is the number of nanoseconds by which the gate closes early, because the counters of two processors may
	// differ, and because a processor may read its counter out of order.
	margin = 1000
	// The rates of a processor's counter are plausible from lowestRate to highestRate, in counts per millisecond.
	lowestRate, highestRate = 50_000, 50_000_000
)

// isOpen reports whether the reading in ms still applies when the counter is at now. The difference must be in 1..=span,
// so that an old reading is not returned after the counter was set back.
func (g *gate) isOpen(now uint64) bool {
	return g.until.Load()-now-1 < g.span.Load()
}

// refresh reads the system's clock, and opens the gate unless another goroutine refreshes it.
func (g *gate) refresh(from instruments) int64 {
	if !g.mutex.TryLock() {
		// Readers do not wait, because the goroutine that refreshes the gate may be suspended.
		return from.now().UnixMilli()
	}
	defer g.mutex.Unlock()
	// The counter is read first, so that the real end of the millisecond is later than the published end.
	before := from.counter()
	now := from.now()
	after := from.counter()
	rate := g.measure(before, after, now)
	past := uint64(now.Nanosecond()) % nsPerMs
	left := uint64(0)
	if past+margin < nsPerMs {
		left = nsPerMs - past - margin
	}
	// until is stored last, so that a reader that loads the new value also loads the new ms.
	g.ms.Store(now.UnixMilli())
	g.span.Store(rate)
	g.until.Store(before + left*rate/nsPerMs)
	return now.UnixMilli()
}

// measure returns the rate of the counter in counts per millisecond, reduced by an eighth, or 0 while the rate is
// unknown. The result is the lower of two measurements, so that a jump of the counter during one measurement has no
// effect. A measurement includes only counts that certainly lie between the two readings of the clock.
func (g *gate) measure(before, after uint64, now time.Time) uint64 {
	elapsed := now.Sub(g.steady)
	if !g.steady.IsZero() && elapsed < interval {
		return g.rate
	}
	measured := uint64(0)
	if !g.steady.IsZero() && before > g.counter {
		high, low := bits.Mul64(before-g.counter, nsPerMs)
		if high < uint64(elapsed) {
			measured, _ = bits.Div64(high, low, uint64(elapsed))
		}
	}
	if measured < lowestRate || measured > highestRate {
		measured = 0
	}
	rate := measured
	if g.measured < rate {
		rate = g.measured
	}
	g.counter, g.steady, g.measured, g.rate = after, now, measured, rate/8*7
	return g.rate
}
