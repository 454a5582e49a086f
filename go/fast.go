package flakeid

import (
	"sync/atomic"
	"time"

	"github.com/flakeid/flakeid/go/internal/clock"
)

// clockKind is the clock of a fast path.
type clockKind uint8

const (
	// gatedClock reads the system's clock only a few times per millisecond, on processors on which that is exact.
	gatedClock clockKind = iota
	systemClock
	// otherClock is any clock that only the library can read, so that there is no fast path.
	otherClock
)

// fast takes IDs from the word of a generator without a call into the library. It follows the rules of the core's
// Generator::take. A rule that it does not know is never needed: in all but the common case it takes no ID, and the
// library's slow path applies all rules. Uniqueness and order result from the compare-and-swap of the word, which the
// library uses too, so another reading of the clock than the library's cannot affect them.
type fast struct {
	// word contains the next free position, or the maximum value if the generator is closed.
	word *atomic.Uint64
	// limit is the exclusive upper bound on positions. It is 0 if the generator is closed. In the process that a fork
	// creates, it is 0 because it is in memory that the fork clears.
	limit *atomic.Uint64
	epoch int64
	// unit is the length of a tick, and span the time from the epoch to the horizon, in milliseconds.
	unit, span uint64
	// mask is the largest offset of a position within its tick. node has the bits of the node in an ID.
	mask, node uint64
	// width is the number of bits below the tick in a position. The shifts are bit positions in an ID.
	width, timeShift, sequenceShift uint8
	clock                           clockKind
}

// take returns the next ID, or false if the slow path has to decide.
func (f *fast) take() (ID, bool) {
	if f.clock == gatedClock {
		return f.takeAt(clock.UnixMilli())
	}
	return f.takeAt(time.Now().UnixMilli())
}

func (f *fast) takeAt(unixMs int64) (ID, bool) {
	// One comparison checks both ends of the layout's range. Before the epoch, the difference wraps around.
	tick := uint64(unixMs - f.epoch)
	if tick >= f.span {
		return 0, false
	}
	if f.unit != 1 {
		tick /= f.unit
	}
	width := f.width & 63
	begin := tick << width
	end := begin + 1<<width
	if limit := f.limit.Load(); limit < end {
		end = limit
	}
	for {
		word := f.word.Load()
		first := word
		if first < begin {
			first = begin
		}
		// A closed word is above every end.
		if first >= end || first&(1<<width-1) > f.mask {
			return 0, false
		}
		if f.word.CompareAndSwap(word, first+1) {
			return ID(first>>width<<(f.timeShift&63) | first&(1<<width-1)<<(f.sequenceShift&63) | f.node), true
		}
		clock.Pause()
	}
}
