package flakeid

// #include "shim.h"
import "C"

import (
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Option is an option of New.
type Option interface{ setGenerator(*settings) }

// LeaseOption is an option of OpenLease.
type LeaseOption interface{ setLease(*settings) }

// SharedOption is an option of both.
type SharedOption func(*settings)

func (o SharedOption) setGenerator(s *settings) { o(s) }
func (o SharedOption) setLease(s *settings)     { o(s) }

type option func(*settings)

func (o option) setGenerator(s *settings) { o(s) }

type leaseOption func(*settings)

func (o leaseOption) setLease(s *settings) { o(s) }

// settings are options by name, as the library takes them, and the options that have no text.
type settings struct {
	texts    [][2]string
	clock    *ManualClock
	observer func(LeaseEvent)
	err      error
}

func (s *settings) set(name, text string) { s.texts = append(s.texts, [2]string{name, text}) }

func (s *settings) fail(err *Error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *settings) number(name string, value uint64) { s.set(name, strconv.FormatUint(value, 10)) }

func (s *settings) numbers(name string, values []uint64) {
	texts := make([]string, len(values))
	for index, value := range values {
		texts[index] = strconv.FormatUint(value, 10)
	}
	s.set(name, strings.Join(texts, ","))
}

func (s *settings) flag(name string, value bool) { s.set(name, strconv.FormatBool(value)) }

// choice sets the behaviour with this number; the library rejects any other number.
func (s *settings) choice(name string, number int32, values ...string) {
	if number < 0 || int(number) >= len(values) {
		s.set(name, strconv.Itoa(int(number)))
		return
	}
	s.set(name, values[number])
}

func (s *settings) text(name, option, value string) {
	if err := checkNul(option, value); err != nil {
		s.fail(err)
		return
	}
	s.set(name, value)
}

func (s *settings) duration(name, option string, value time.Duration) {
	if value < 0 || value%time.Millisecond != 0 {
		s.fail(refused(ErrFieldOutOfRange, option, "%s %v: must be whole milliseconds, from 0", option, value))
		return
	}
	s.number(name, uint64(value/time.Millisecond))
}

// handle are the options in the library's memory, which the caller frees.
func (s *settings) handle() (*C.flakeid_options, error) {
	if s.err != nil {
		return nil, s.err
	}
	var options *C.flakeid_options
	if err := failure(C.new_options(&options)); err != nil {
		return nil, err
	}
	for _, pair := range s.texts {
		if err := setByName(options, pair[0], pair[1]); err != nil {
			C.flakeid_options_free(options)
			return nil, err
		}
	}
	return options, nil
}

func setByName(options *C.flakeid_options, name, text string) error {
	n, t := C.CString(name), C.CString(text)
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(t))
	return failure(C.set_option(options, n, t))
}

// WithLayout sets the layout; otherwise it is Twitter's. A namespace of leases has one.
func WithLayout(layout Layout) SharedOption {
	return func(s *settings) {
		if layout.descriptor != "" {
			s.text("layout", "WithLayout", layout.descriptor)
		}
	}
}

// WithEpoch sets the beginning of tick 0, in whole milliseconds, instead of the layout's.
func WithEpoch(epoch time.Time) SharedOption {
	return func(s *settings) {
		if epoch.Nanosecond()%int(time.Millisecond) != 0 {
			s.fail(refused(ErrFieldOutOfRange, "WithEpoch", "WithEpoch %v: must be a whole millisecond", epoch))
			return
		}
		s.set("epoch", strconv.FormatInt(epoch.UnixMilli(), 10))
	}
}

// Overflow is what happens when a tick is full.
type Overflow int32

// OverflowWait, the default, waits for the next tick; OverflowError is ErrSequenceExhausted at once;
// OverflowBorrow issues from the following ticks, at most max ahead, and needs a window.
const (
	OverflowWait   Overflow = C.FLAKEID_OVERFLOW_WAIT
	OverflowError  Overflow = C.FLAKEID_OVERFLOW_ERROR
	OverflowBorrow Overflow = C.FLAKEID_OVERFLOW_BORROW
)

// Rollback is what happens when the clock goes back.
type Rollback int32

// RollbackContinue, the default, goes on in the current tick until it is full and then waits;
// RollbackError is ErrClockRollback at once; RollbackWait waits; RollbackClockSequence takes another
// clock sequence, in layouts that have one and without a window. Nothing waits longer than max wait.
const (
	RollbackContinue      Rollback = C.FLAKEID_ROLLBACK_CONTINUE
	RollbackError         Rollback = C.FLAKEID_ROLLBACK_ERROR
	RollbackWait          Rollback = C.FLAKEID_ROLLBACK_WAIT
	RollbackClockSequence Rollback = C.FLAKEID_ROLLBACK_CLOCK_SEQUENCE
)

// [options: generator shared except layout epoch]

// WithNode sets the node, from 0 to the layout's largest; there is no default, because no other
// generator may have it at the same time. Of a lease, it sets the node to lease, which is taken over
// even from a live holder; that is safe; otherwise any node.
func WithNode(node uint64) SharedOption {
	return func(s *settings) { s.number("node", node) }
}

// WithDatacenter sets the high part of the node, in layouts that split it; requires WithWorker.
func WithDatacenter(datacenter uint64) SharedOption {
	return func(s *settings) { s.number("datacenter", datacenter) }
}

// WithWorker sets the low part of the node, in layouts that split it; requires WithDatacenter.
func WithWorker(worker uint64) SharedOption {
	return func(s *settings) { s.number("worker", worker) }
}

// WithOverflow sets the behaviour when a tick is full; otherwise OverflowWait. OverflowBorrow requires a
// window.
func WithOverflow(overflow Overflow) SharedOption {
	return func(s *settings) { s.choice("overflow", int32(overflow), "wait", "error", "borrow") }
}

// WithRollback sets the behaviour when the clock goes backwards; otherwise RollbackContinue.
func WithRollback(rollback Rollback) SharedOption {
	return func(s *settings) {
		s.choice("rollback", int32(rollback), "continue", "error", "wait", "clock-sequence")
	}
}

// WithSequenceMask sets the largest sequence number to use: 2^k - 1; otherwise the layout's.
func WithSequenceMask(sequenceMask uint64) SharedOption {
	return func(s *settings) { s.number("sequence_mask", sequenceMask) }
}

// WithSequenceStart sets the number of bits of a random sequence number with which each tick begins;
// otherwise 0.
func WithSequenceStart(sequenceStart uint32) SharedOption {
	return func(s *settings) { s.number("sequence_start", uint64(sequenceStart)) }
}

// WithMaxWait sets the longest time that a call waits without issuing an ID, in whole milliseconds;
// otherwise 1 s or two ticks, whichever is longer. Opening a lease takes at most 2 s more, to connect.
func WithMaxWait(maxWait time.Duration) SharedOption {
	return func(s *settings) { s.duration("max_wait_ms", "WithMaxWait", maxWait) }
}

// WithClock sets the clock: "gated" is the system's, exact, and read only a few times a millisecond
// where the processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late;
// otherwise "gated".
func WithClock(clock string) SharedOption {
	return func(s *settings) { s.text("clock", "WithClock", clock) }
}

// [/options]

// [options: generator own]

// WithNodes sets several nodes instead of one, for as many times the IDs in a tick; their number must be
// a power of two; otherwise one node. Cannot be combined with WithSequenceMask or layouts with clock
// sequences. Within a process a node must be used either alone or always together with the same other
// nodes.
func WithNodes(nodes ...uint64) Option {
	return option(func(s *settings) { s.numbers("nodes", nodes) })
}

// WithWindow sets the ticks to which a lease limits the generator, the fence exclusive; otherwise all
// ticks.
func WithWindow(start, fence uint64) Option {
	return option(func(s *settings) {
		s.number("window_start", start)
		s.number("window_fence", fence)
	})
}

// WithMaxAhead sets the longest time by which IDs of a window may be ahead of the clock, in whole
// milliseconds; otherwise 20 s.
func WithMaxAhead(maxAhead time.Duration) Option {
	return option(func(s *settings) { s.duration("max_ahead_ms", "WithMaxAhead", maxAhead) })
}

// [/options]

// WithManualClock sets a clock for tests.
func WithManualClock(clock *ManualClock) Option {
	return option(func(s *settings) { s.clock = clock })
}

// [options: lease own except reuse on_event]

// WithNamespace sets the namespace to lease from: 1 to 64 of A-Z a-z 0-9 . _ -; otherwise "default".
// Each namespace has one layout, and nodes of its own.
func WithNamespace(namespace string) LeaseOption {
	return leaseOption(func(s *settings) { s.text("namespace", "WithNamespace", namespace) })
}

// WithName sets the name of this process, by which it prefers the node that it had last: 1 to 128 bytes;
// otherwise none.
func WithName(name string) LeaseOption {
	return leaseOption(func(s *settings) { s.text("name", "WithName", name) })
}

// WithNodeRange sets the range of nodes to choose from, both ends inclusive; otherwise all nodes of the
// layout.
func WithNodeRange(from, to uint64) LeaseOption {
	return leaseOption(func(s *settings) {
		s.number("nodes_from", from)
		s.number("nodes_to", to)
	})
}

// WithNodeCount sets the number of nodes to lease for this one generator, a power of two, for as many
// times the IDs in a tick; otherwise 1. Several nodes cannot be combined with WithName, WithNode or
// WithSequenceMask.
func WithNodeCount(nodeCount uint32) LeaseOption {
	return leaseOption(func(s *settings) { s.number("node_count", uint64(nodeCount)) })
}

// WithTTL sets the time after the last renewal until other processes can have the node, in whole
// milliseconds: 1 ms to 30 days; otherwise 60 s or 12 ticks, whichever is longer. Uniqueness does not
// depend on it.
func WithTTL(ttl time.Duration) LeaseOption {
	return leaseOption(func(s *settings) { s.duration("ttl_ms", "WithTTL", ttl) })
}

// WithLeaseWindow sets the time for which the generator issues IDs while the store is away, in whole
// milliseconds: from two ticks to what the namespace allows; otherwise 10 s or two ticks, whichever is
// longer.
func WithLeaseWindow(window time.Duration) LeaseOption {
	return leaseOption(func(s *settings) { s.duration("window_ms", "WithLeaseWindow", window) })
}

// [/options]

// WithNeverReuse leases only nodes that were never leased before, so that each start uses up a node.
func WithNeverReuse() LeaseOption {
	return leaseOption(func(s *settings) { s.flag("reuse", false) })
}

// WithEvents has the function called with everything that happens to the lease, one event after the
// other, on a goroutine of its own that ends after Close. A lease with a function is not shared with
// other generators of the process. The garbage collector does not give back a generator that its own
// function refers to: close it.
func WithEvents(observer func(LeaseEvent)) LeaseOption {
	return leaseOption(func(s *settings) { s.observer = observer })
}
