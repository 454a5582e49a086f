package flakeid

// #include "shim.h"
import "C"

import (
	"strings"
	"time"
	"unsafe"
)

// Option is an option of New.
type Option interface{ setGenerator(*settings) }

// LeaseOption is an option of OpenLease.
type LeaseOption interface{ setLease(*leaseSettings) }

// SharedOption is an option of both.
type SharedOption func(*shared)

func (o SharedOption) setGenerator(s *settings)  { o(&s.shared) }
func (o SharedOption) setLease(s *leaseSettings) { o(&s.shared) }

type option func(*settings)

func (o option) setGenerator(s *settings) { o(s) }

type leaseOption func(*leaseSettings)

func (o leaseOption) setLease(s *leaseSettings) { o(s) }

// shared are the fields that both structs of options have, and what belongs to them.
type shared struct {
	has                *C.uint32_t
	layout, clock      **C.char
	node, high, low    *C.uint64_t
	sequenceMask       *C.uint64_t
	maxWait            *C.uint64_t
	epoch              *C.int64_t
	sequenceStart      *C.uint32_t
	overflow, rollback *C.int32_t
	memory             []unsafe.Pointer
	err                error
}

type settings struct {
	shared
	config *C.flakeid_config
	clock  *ManualClock
}

type leaseSettings struct {
	shared
	config   *C.flakeid_lease_config
	observer func(LeaseEvent)
}

// newSettings allocates for the library, which may not have pointers into Go's memory.
func newSettings(options []Option) *settings {
	config := (*C.flakeid_config)(C.malloc(C.sizeof_flakeid_config))
	C.no_options(config)
	s := &settings{config: config, shared: shared{
		has: &config.has, layout: &config.layout, clock: &config.clock_name,
		node: &config.node, high: &config.datacenter, low: &config.worker,
		sequenceMask: &config.sequence_mask, maxWait: &config.max_wait_ms, epoch: &config.epoch,
		sequenceStart: &config.sequence_start, overflow: &config.overflow, rollback: &config.rollback,
		memory: []unsafe.Pointer{unsafe.Pointer(config)},
	}}
	for _, option := range options {
		option.setGenerator(s)
	}
	return s
}

func newLeaseSettings(options []LeaseOption) *leaseSettings {
	config := (*C.flakeid_lease_config)(C.malloc(C.sizeof_flakeid_lease_config))
	C.no_lease_options(config)
	s := &leaseSettings{config: config, shared: shared{
		has: &config.has, layout: &config.layout, clock: &config.clock_name,
		node: &config.node, high: &config.datacenter, low: &config.worker,
		sequenceMask: &config.sequence_mask, maxWait: &config.max_wait_ms, epoch: &config.epoch,
		sequenceStart: &config.sequence_start, overflow: &config.overflow, rollback: &config.rollback,
		memory: []unsafe.Pointer{unsafe.Pointer(config)},
	}}
	for _, option := range options {
		option.setLease(s)
	}
	return s
}

func (s *shared) free() {
	for _, memory := range s.memory {
		C.free(memory)
	}
}

func (s *shared) fail(err *Error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *shared) number(flag C.uint32_t, field *C.uint64_t, value uint64) {
	*s.has |= flag
	*field = C.uint64_t(value)
}

// text is a string for the library. C would take it to end at a NUL.
func (s *shared) text(field **C.char, name, value string) {
	if strings.Contains(value, "\x00") {
		s.fail(refused(ErrInvalidOption, "", "%s: %.64q has a NUL in it; leave that out", name, value))
		return
	}
	*field = C.CString(value)
	s.memory = append(s.memory, unsafe.Pointer(*field))
}

func (s *shared) duration(flag C.uint32_t, field *C.uint64_t, name string, value time.Duration) {
	if value < 0 || value%time.Millisecond != 0 {
		s.fail(refused(ErrFieldOutOfRange, name, "%s %v: must be whole milliseconds, from 0", name, value))
		return
	}
	s.number(flag, field, uint64(value/time.Millisecond))
}

// WithLayout sets the layout; otherwise it is Twitter's. A namespace of leases has one.
func WithLayout(layout Layout) SharedOption {
	return func(s *shared) {
		if layout.descriptor != "" {
			s.text(s.layout, "layout", layout.descriptor)
		}
	}
}

// WithNode sets the node, from 0 to the layout's MaxNode. Of New it must be different for every
// generator of the layout that may run at the same time. Of OpenLease it asks for exactly this node, and
// takes it over even from a live holder, which is safe.
func WithNode(node uint64) SharedOption {
	return func(s *shared) { s.number(C.FLAKEID_HAS_NODE, s.node, node) }
}

// WithDatacenter sets the high part of the node, in layouts that split it, together with WithWorker.
func WithDatacenter(datacenter uint64) SharedOption {
	return func(s *shared) { s.number(C.FLAKEID_HAS_DATACENTER, s.high, datacenter) }
}

// WithWorker sets the low part of the node, in layouts that split it, together with WithDatacenter.
func WithWorker(worker uint64) SharedOption {
	return func(s *shared) { s.number(C.FLAKEID_HAS_WORKER, s.low, worker) }
}

// WithEpoch sets the beginning of tick 0, in whole milliseconds, instead of the layout's.
func WithEpoch(epoch time.Time) SharedOption {
	return func(s *shared) {
		if epoch.Nanosecond()%int(time.Millisecond) != 0 {
			s.fail(refused(ErrFieldOutOfRange, "epoch", "epoch %v: must be a whole millisecond", epoch))
			return
		}
		*s.has |= C.FLAKEID_HAS_EPOCH
		*s.epoch = C.int64_t(epoch.UnixMilli())
	}
}

// WithSequenceMask sets the largest sequence number to use, 2^k - 1; otherwise it is the layout's.
func WithSequenceMask(mask uint64) SharedOption {
	return func(s *shared) { s.number(C.FLAKEID_HAS_SEQUENCE_MASK, s.sequenceMask, mask) }
}

// WithSequenceStart begins each tick at a random sequence number below 2^bits; otherwise at 0.
func WithSequenceStart(bits uint32) SharedOption {
	return func(s *shared) { *s.sequenceStart = C.uint32_t(bits) }
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

// WithOverflow sets what happens when a tick is full.
func WithOverflow(overflow Overflow) SharedOption {
	return func(s *shared) { *s.overflow = C.int32_t(overflow) }
}

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

// WithRollback sets what happens when the clock goes back.
func WithRollback(rollback Rollback) SharedOption {
	return func(s *shared) { *s.rollback = C.int32_t(rollback) }
}

// WithMaxWait sets how long a call waits without an ID, in whole milliseconds; otherwise 1 s or two
// ticks, whichever is longer.
func WithMaxWait(wait time.Duration) SharedOption {
	return func(s *shared) { s.duration(C.FLAKEID_HAS_MAX_WAIT, s.maxWait, "max_wait_ms", wait) }
}

// WithClock chooses the system's clock by name: "system", exact to the millisecond; "coarse", a few
// milliseconds late, never ahead, and quicker to read; or "gated", exact to the millisecond and quicker
// to read where the processor allows it.
func WithClock(name string) SharedOption {
	return func(s *shared) { s.text(s.clock, "clock", name) }
}

// WithManualClock sets a clock for tests.
func WithManualClock(clock *ManualClock) Option {
	return option(func(s *settings) { s.clock, s.config.clock = clock, clock.handle })
}

// WithNodes gives the generator several nodes instead of one: a power of two of them, all different. It
// then issues so many times as many IDs in a tick, and they still strictly increase. Within a process a
// node must be used either alone or always together with the same other nodes.
func WithNodes(nodes ...uint64) Option {
	return option(func(s *settings) {
		// An empty list must be refused as any wrong number of nodes is, and NULL would be the default.
		memory := C.malloc(C.size_t(len(nodes)+1) * C.sizeof_uint64_t)
		s.memory = append(s.memory, memory)
		s.config.nodes, s.config.node_count = (*C.uint64_t)(memory), C.size_t(len(nodes))
		numbers := unsafe.Slice(s.config.nodes, len(nodes))
		for index, node := range nodes {
			numbers[index] = C.uint64_t(node)
		}
	})
}

// WithMaxAhead sets how far ahead of the clock a window may be used, in whole milliseconds; otherwise
// 20 s.
func WithMaxAhead(ahead time.Duration) Option {
	return option(func(s *settings) {
		s.duration(C.FLAKEID_HAS_MAX_AHEAD, &s.config.max_ahead_ms, "max_ahead_ms", ahead)
	})
}

// WithWindow sets the ticks that the generator may use, from start and below fence, for programs that
// have leases of their own.
func WithWindow(start, fence uint64) Option {
	return option(func(s *settings) {
		s.number(C.FLAKEID_HAS_WINDOW, &s.config.window_start, start)
		s.config.window_fence = C.uint64_t(fence)
	})
}

// WithNamespace sets the namespace to lease from, 1 to 64 of A-Z a-z 0-9 . _ -; otherwise "default".
func WithNamespace(namespace string) LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.text(&s.config.namespace_name, "namespace", namespace) })
}

// WithName prefers the node that this name had last, 1 to 128 bytes.
func WithName(name string) LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.text(&s.config.name, "name", name) })
}

// WithNodeRange sets the nodes that may be leased, both inclusive; otherwise all of the layout.
func WithNodeRange(first, last uint64) LeaseOption {
	return leaseOption(func(s *leaseSettings) {
		s.number(C.FLAKEID_HAS_NODES, &s.config.first_node, first)
		s.config.last_node = C.uint64_t(last)
	})
}

// WithNodeCount leases so many nodes for the one generator, a power of two; otherwise 1.
func WithNodeCount(count uint32) LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.config.node_count = C.uint32_t(count) })
}

// WithLeaseWindow sets how long IDs go on while the store is away, at least two ticks and in whole
// milliseconds; otherwise 10 s.
func WithLeaseWindow(window time.Duration) LeaseOption {
	return leaseOption(func(s *leaseSettings) {
		s.duration(C.FLAKEID_HAS_WINDOW_MS, &s.config.window_ms, "window_ms", window)
	})
}

// WithTTL sets how long other processes cannot have the node after its last renewal, in whole
// milliseconds; otherwise 60 s. Uniqueness does not depend on it.
func WithTTL(ttl time.Duration) LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.duration(C.FLAKEID_HAS_TTL, &s.config.ttl_ms, "ttl_ms", ttl) })
}

// WithNeverReuse leases only nodes that were never leased before, so that each start uses up a node.
func WithNeverReuse() LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.config.never_reuse = 1 })
}

// WithEvents has the function called with everything that happens to the lease, one event after the
// other, on a goroutine of its own that ends after Close. A lease with a function is not shared with
// other generators of the process. The garbage collector does not give back a generator that its own
// function refers to: close it.
func WithEvents(observer func(LeaseEvent)) LeaseOption {
	return leaseOption(func(s *leaseSettings) { s.observer = observer })
}
