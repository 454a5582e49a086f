package flakeid

import (
	"strconv"
	"strings"
	"time"
)

// Option is an option of New.
type Option interface{ setGenerator(*settings) }

// LeaseOption is an option of OpenLease.
type LeaseOption interface{ setLease(*settings) }

// NamespaceOption is an option of CreateNamespace.
type NamespaceOption interface{ setNamespace(*settings) }

// SharedOption is an option of both New and OpenLease.
type SharedOption func(*settings)

func (o SharedOption) setGenerator(s *settings) { o.set(s) }
func (o SharedOption) setLease(s *settings)     { o.set(s) }

func (o SharedOption) set(s *settings) {
	if o == nil {
		s.fail(refused(ErrInvalidOption, "", "options: a SharedOption is nil; omit it"))
		return
	}
	o(s)
}

// nilOption returns the error for a nil option, of which index is the position in the arguments.
func nilOption(index int) *Error {
	return refused(ErrInvalidOption, "", "options: option %d is nil; omit it", index+1)
}

// LayoutOption is an option of New, OpenLease and CreateNamespace.
type LayoutOption func(*settings)

func (o LayoutOption) setGenerator(s *settings) { o(s) }
func (o LayoutOption) setLease(s *settings)     { o(s) }
func (o LayoutOption) setNamespace(s *settings) { o(s) }

// AheadOption is an option of New and CreateNamespace. For a namespace, it sets the longest time by which a window
// may start ahead of the clock, at most a day; the default is 20 s or four ticks, whichever is longer.
type AheadOption func(*settings)

func (o AheadOption) setGenerator(s *settings) { o(s) }
func (o AheadOption) setNamespace(s *settings) { o(s) }

type namespaceOption func(*settings)

func (o namespaceOption) setNamespace(s *settings) { o(s) }

type option func(*settings)

func (o option) setGenerator(s *settings) { o(s) }

type leaseOption func(*settings)

func (o leaseOption) setLease(s *settings) { o(s) }

// settings holds options by name, as the library expects them, and the options that cannot be strings.
type settings struct {
	texts    [][2]string
	clock    *ManualClock
	observer func(LeaseEvent)
	err      error
}

func (s *settings) set(name, text string) { s.texts = append(s.texts, [2]string{name, text}) }

// clockKind returns the clock of the fast path.
func (s *settings) clockKind() clockKind {
	kind := gatedClock
	for _, pair := range s.texts {
		if pair[0] != "clock" {
			continue
		}
		switch pair[1] {
		case "gated":
			kind = gatedClock
		case "system":
			kind = systemClock
		default:
			kind = otherClock
		}
	}
	return kind
}

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

// choice sets the behaviour that has the given number; the library rejects any other number.
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

func (s *settings) layout(layout Layout) {
	if layout.descriptor != "" {
		s.text("layout", "WithLayout", layout.descriptor)
	}
}

func (s *settings) instant(name, option string, value time.Time) {
	if value.Nanosecond()%int(time.Millisecond) != 0 {
		s.fail(refused(ErrFieldOutOfRange, option, "%s %v: must be a whole millisecond", option, value))
		return
	}
	s.set(name, strconv.FormatInt(value.UnixMilli(), 10))
}

// Overflow is the behaviour when a tick is full.
type Overflow int32

// OverflowWait, the default, waits for the next tick. OverflowError fails immediately with ErrSequenceExhausted.
// OverflowBorrow issues IDs from the following ticks, at most max ahead, and requires a window.
const (
	OverflowWait   Overflow = 0
	OverflowError  Overflow = 1
	OverflowBorrow Overflow = 2
)

// Rollback is the behaviour when the clock goes backwards.
type Rollback int32

// RollbackContinue, the default, continues in the current tick until it is full, and then waits. RollbackError fails
// immediately with ErrClockRollback. RollbackWait waits. RollbackClockSequence uses another clock sequence, in
// layouts that have one and without a window. A wait never lasts longer than max wait.
const (
	RollbackContinue      Rollback = 0
	RollbackError         Rollback = 1
	RollbackWait          Rollback = 2
	RollbackClockSequence Rollback = 3
)

// [options: generator shared]

// WithNode sets the node, from 0 to the layout's largest node; there is no default, because no other
// generator may use the same node at the same time. For a lease, it sets the node to lease; the default
// is any node. Taking over the node is safe even while another process holds it.
func WithNode(node uint64) SharedOption {
	return func(s *settings) {
		s.number("node", node)
	}
}

// WithDatacenter sets the high part of the node, in layouts that split the node; must be set together
// with WithWorker.
func WithDatacenter(datacenter uint64) SharedOption {
	return func(s *settings) {
		s.number("datacenter", datacenter)
	}
}

// WithWorker sets the low part of the node, in layouts that split the node; must be set together with
// WithDatacenter.
func WithWorker(worker uint64) SharedOption {
	return func(s *settings) {
		s.number("worker", worker)
	}
}

// WithLayout sets the layout of the IDs; the default is "twitter". A lease must use the layout of its
// namespace.
func WithLayout(layout Layout) LayoutOption {
	return func(s *settings) {
		s.layout(layout)
	}
}

// WithEpoch sets the instant of tick 0, in whole milliseconds; the default is the layout's epoch.
func WithEpoch(epoch time.Time) LayoutOption {
	return func(s *settings) {
		s.instant("epoch", "WithEpoch", epoch)
	}
}

// WithOverflow sets the behaviour when a tick has no IDs left; the default is OverflowWait.
// OverflowBorrow requires a window.
func WithOverflow(overflow Overflow) SharedOption {
	return func(s *settings) {
		s.choice("overflow", int32(overflow), "wait", "error", "borrow")
	}
}

// WithRollback sets the behaviour when the clock goes backwards; the default is RollbackContinue.
func WithRollback(rollback Rollback) SharedOption {
	return func(s *settings) {
		s.choice("rollback", int32(rollback), "continue", "error", "wait", "clock-sequence")
	}
}

// WithSequenceMask sets the largest sequence number to use, which must have the form 2^k - 1; the
// default is the layout's largest sequence number.
func WithSequenceMask(sequenceMask uint64) SharedOption {
	return func(s *settings) {
		s.number("sequence_mask", sequenceMask)
	}
}

// WithSequenceStart sets the number of random bits in the first sequence number of each tick; the
// default is 0.
func WithSequenceStart(sequenceStart uint32) SharedOption {
	return func(s *settings) {
		s.number("sequence_start", uint64(sequenceStart))
	}
}

// WithMaxWait sets the longest time that a call waits without issuing an ID, in whole milliseconds; the
// default is 1 s or two ticks, whichever is longer. Opening a lease may take up to 2 s longer because of
// the connection to the store, or as long as WithOpenWait if the store grants nothing after a restart.
func WithMaxWait(maxWait time.Duration) SharedOption {
	return func(s *settings) {
		s.duration("max_wait_ms", "WithMaxWait", maxWait)
	}
}

// WithClock sets the clock: "gated", "system" or "coarse"; the default is "gated". With "gated", the
// time is exact, and on suitable processors the system clock is read only a few times per millisecond.
// With "system", the system clock is read for every ID. With "coarse", the time lags behind the system
// clock by a few milliseconds, and is never ahead of the system clock.
func WithClock(clock string) SharedOption {
	return func(s *settings) {
		s.text("clock", "WithClock", clock)
	}
}

// [/options]

// [options: generator own]

// WithNodes sets several different nodes instead of one; the default is one node. The number of nodes
// must be a power of two. In every tick, the generator can then issue the IDs of all these nodes.
// Several nodes cannot be combined with WithSequenceMask or with layouts that have clock sequences.
// Within a process, a node must be used either alone or always together with the same other nodes.
func WithNodes(nodes ...uint64) Option {
	return option(func(s *settings) {
		s.numbers("nodes", nodes)
	})
}

// WithWindow sets the range of ticks that a lease allows the generator to use, including the start and
// excluding the fence; the default is all ticks.
func WithWindow(start, fence uint64) Option {
	return option(func(s *settings) {
		s.number("window_start", start)
		s.number("window_fence", fence)
	})
}

// WithMaxAhead sets the longest time by which IDs in a window may be ahead of the clock, in whole
// milliseconds; the default is 20 s.
func WithMaxAhead(maxAhead time.Duration) AheadOption {
	return AheadOption(func(s *settings) {
		s.duration("max_ahead_ms", "WithMaxAhead", maxAhead)
	})
}

// [/options]

// WithManualClock sets a clock for tests.
func WithManualClock(clock *ManualClock) Option {
	return option(func(s *settings) {
		if clock == nil {
			s.fail(refused(ErrInvalidOption, "", "WithManualClock: the clock is nil; pass a clock of NewManualClock"))
		}
		s.clock = clock
	})
}

// [options: lease own]

// WithNamespace sets the namespace from which to lease a node: 1 to 64 characters from the set A-Z a-z
// 0-9 . _ -; the default is "default". Each namespace has one layout and its own nodes.
func WithNamespace(namespace string) LeaseOption {
	return leaseOption(func(s *settings) {
		s.text("namespace", "WithNamespace", namespace)
	})
}

// WithName sets the name of this process, 1 to 128 bytes long; the default is none. If possible, the
// process gets the last node that was leased under its name.
func WithName(name string) LeaseOption {
	return leaseOption(func(s *settings) {
		s.text("name", "WithName", name)
	})
}

// WithNodeRange sets the range of nodes to choose from, both ends inclusive; the default is all nodes of
// the layout.
func WithNodeRange(from, to uint64) LeaseOption {
	return leaseOption(func(s *settings) {
		s.number("nodes_from", from)
		s.number("nodes_to", to)
	})
}

// WithNodeCount sets the number of nodes to lease for this generator, which must be a power of two; the
// default is 1. In every tick, the generator can issue the IDs of all these nodes. Several nodes cannot
// be combined with WithName, WithNode or WithSequenceMask.
func WithNodeCount(nodeCount uint32) LeaseOption {
	return leaseOption(func(s *settings) {
		s.number("node_count", uint64(nodeCount))
	})
}

// WithTTL sets the time for which the node stays reserved after the last renewal, in whole milliseconds:
// 1 ms to 30 days; the default is 60 s or 12 ticks, whichever is longer. Uniqueness does not depend on
// this time.
func WithTTL(ttl time.Duration) LeaseOption {
	return leaseOption(func(s *settings) {
		s.duration("ttl_ms", "WithTTL", ttl)
	})
}

// WithLeaseWindow sets the time for which the generator issues IDs while the store is unavailable, in
// whole milliseconds: from two ticks to the longest window that the namespace allows; the default is 10
// s or two ticks, whichever is longer.
func WithLeaseWindow(window time.Duration) LeaseOption {
	return leaseOption(func(s *settings) {
		s.duration("window_ms", "WithLeaseWindow", window)
	})
}

// WithOpenWait sets the longest time that opening a lease waits while the store grants nothing, for
// example after a restart, in whole milliseconds; the default is 30 s. If the store would grant a node
// only later, opening fails at once.
func WithOpenWait(openWait time.Duration) LeaseOption {
	return leaseOption(func(s *settings) {
		s.duration("open_wait_ms", "WithOpenWait", openWait)
	})
}

// WithNeverReuse leases only nodes that have never been leased, so that each start uses up a node.
func WithNeverReuse() LeaseOption {
	return leaseOption(func(s *settings) {
		s.flag("reuse", false)
	})
}

// WithEvents sets a function that is called for each lease event, one call at a time, on its own
// goroutine, which ends after Close. A lease with an event function is not shared with other generators.
// The garbage collector does not free a generator to which its own function refers: close such a
// generator.
func WithEvents(observer func(LeaseEvent)) LeaseOption {
	return leaseOption(func(s *settings) {
		s.observer = observer
	})
}

// [/options]

// [options: namespace own except max_ahead_ms]

// WithMaxWindow sets the longest window of a lease, for which processes can issue IDs while the store is
// unavailable, in whole milliseconds: from two ticks to a day; the default is 10 s or four ticks,
// whichever is longer.
func WithMaxWindow(maxWindow time.Duration) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.duration("max_window_ms", "WithMaxWindow", maxWindow)
	})
}

// WithMaxSkew sets the largest allowed difference between a host's clock and the store's clock, in whole
// milliseconds: 1 ms to a day; the default is 1 s.
func WithMaxSkew(maxSkew time.Duration) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.duration("max_skew_ms", "WithMaxSkew", maxSkew)
	})
}

// WithQuiet sets the time for which the store grants no nodes after a restart, a failover or a restore,
// in whole milliseconds: at most a week; the default is the longest window, four times the allowed
// difference between clocks and a tick, but at least 15 s.
func WithQuiet(quiet time.Duration) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.duration("quiet_ms", "WithQuiet", quiet)
	})
}

// WithBlockBits sets the exponent k: brokers lease blocks of 2^k nodes, and processes lease nodes from
// the brokers; the default is 0. With 0, processes lease single nodes from the store.
func WithBlockBits(blockBits uint32) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.number("block_bits", uint64(blockBits))
	})
}

// WithHistory sets whether the store records which process held which node; the default is true.
func WithHistory(history bool) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.flag("history", history)
	})
}

// WithFresh sets whether the store has never had a namespace with this name, so that it grants nodes at
// once; the default is false. If this is untrue, IDs may be issued twice. Never set this option when a
// program starts: it is untrue after the store has lost its data.
func WithFresh(fresh bool) NamespaceOption {
	return namespaceOption(func(s *settings) {
		s.flag("fresh", fresh)
	})
}

// [/options]
