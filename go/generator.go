package flakeid

// #include "shim.h"
import "C"

import (
	"math"
	"runtime"
	"time"
	"unsafe"
)

// Generator generates the IDs of one or several nodes, which are unique and strictly increase across all goroutines.
// Any number of goroutines can call its methods at the same time. Generators with the same layout and node share
// their position within a process.
type Generator struct {
	// The garbage collector frees the handle, because Close cannot know which calls are still running.
	handle  *C.flakeid_generator
	maxWait time.Duration
	events  *eventQueue
	queue   queue
}

// New returns a generator for a fixed node. The node has no default: pass WithNode, or WithDatacenter and WithWorker,
// or WithNodes. No other process may use the same node; OpenLease ensures this with a store.
func New(options ...Option) (*Generator, error) {
	var s settings
	for _, option := range options {
		option.setGenerator(&s)
	}
	byName, err := s.handle()
	if err != nil {
		return nil, err
	}
	defer C.flakeid_options_free(byName)
	var clock *C.flakeid_manual_clock
	if s.clock != nil {
		clock = s.clock.handle
	}
	var handle *C.flakeid_generator
	err = failure(C.new_generator(byName, clock, &handle))
	runtime.KeepAlive(s.clock)
	if err != nil {
		return nil, err
	}
	return newGenerator(handle, nil)
}

func newGenerator(handle *C.flakeid_generator, events *eventQueue) (*Generator, error) {
	made := &Generator{handle: handle, events: events}
	runtime.SetFinalizer(made, func(unused *Generator) {
		// The release of a leased node can take a second, and finalizers run one after another.
		go func() {
			C.flakeid_generator_free(unused.handle)
			unused.events.end()
		}()
	})
	maxWait, err := numberOf(C.max_wait_of(handle))
	if err != nil {
		return nil, err
	}
	made.maxWait = duration(C.int64_t(maxWait))
	return made, nil
}

// Close ends the generator: all other calls then return ErrClosed. It releases a leased node, in at most a second,
// unless another generator of the process shares the lease. Buffers of the generator return the IDs that they hold
// and then ErrClosed. Closing again does nothing.
func (g *Generator) Close() error {
	err := failure(C.close_generator(g.handle))
	g.events.end()
	runtime.KeepAlive(g)
	return err
}

// NextID returns the next ID. It waits if necessary, and fails once an obstacle has lasted for the time of
// WithMaxWait.
func (g *Generator) NextID() (ID, error) {
	// This call is like TryNextID, but does not report the reason for a failure.
	made := C.attempt_next(C.uintptr_t(uintptr(unsafe.Pointer(g.handle))))
	runtime.KeepAlive(g)
	if made.status == C.FLAKEID_OK {
		return ID(made.id), nil
	}
	return g.wait()
}

// TryNextID returns the next ID and never waits. Error.RetryAfter is the time to wait before retrying.
func (g *Generator) TryNextID() (ID, error) {
	made := C.try_next(g.handle)
	runtime.KeepAlive(g)
	return idOf(made)
}

// Fill writes the next IDs, in order, into ids and returns their number. It is below len(ids) only if an obstacle
// lasted longer than WithMaxWait, which the next call reports. Fill fails only if it wrote no ID.
func (g *Generator) Fill(ids []ID) (int, error) {
	made := g.attemptFill(ids)
	for made < len(ids) {
		id, err := g.wait()
		if err != nil && made == 0 {
			return 0, err
		} else if err != nil {
			return made, nil
		}
		ids[made] = id
		made += 1 + g.attemptFill(ids[made+1:])
	}
	return made, nil
}

// attemptFill is like TryFill, but does not report the reason for a failure.
func (g *Generator) attemptFill(ids []ID) int {
	var count C.size_t
	C.flakeid_generator_try_fill(g.handle, first(ids), C.size_t(len(ids)), &count)
	runtime.KeepAlive(g)
	return int(count)
}

// TryFill is like Fill, but never waits.
func (g *Generator) TryFill(ids []ID) (int, error) {
	made := C.try_fill(g.handle, first(ids), C.size_t(len(ids)))
	runtime.KeepAlive(g)
	return int(made.count), failure(made.failed)
}

func first(ids []ID) *C.uint64_t {
	if len(ids) == 0 {
		return nil
	}
	return (*C.uint64_t)(unsafe.Pointer(&ids[0]))
}

// AppendIDs appends n new IDs, in order. If it fails, the result contains the IDs generated before the failure.
func (g *Generator) AppendIDs(ids []ID, n int) ([]ID, error) {
	if n < 0 {
		return ids, refused(ErrFieldOutOfRange, "n", "n %d is out of range: must be from 0", n)
	}
	end := len(ids) + n
	if end < n {
		return ids, refused(ErrFieldOutOfRange, "n", "n %d is out of range: must be from 0 to %d, because the "+
			"slice has %d IDs already", n, math.MaxInt-len(ids), len(ids))
	}
	if end > cap(ids) {
		ids = append(ids, make([]ID, n)...)[:len(ids)]
	}
	for len(ids) < end {
		made, err := g.Fill(ids[len(ids):end])
		if ids = ids[:len(ids)+made]; err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// Node returns the node in the IDs, or the smallest node if there are several. The node of a leased generator
// changes if the generator loses the node.
func (g *Generator) Node() (uint64, error) {
	made := C.node_of(g.handle)
	runtime.KeepAlive(g)
	return numberOf(made)
}

// Nodes returns all nodes in the IDs, in increasing order.
func (g *Generator) Nodes() ([]uint64, error) {
	for size := 16; ; size *= 4 {
		nodes := make([]uint64, size)
		made := C.nodes_of(g.handle, (*C.uint64_t)(unsafe.Pointer(&nodes[0])), C.size_t(size))
		runtime.KeepAlive(g)
		err := failure(made.failed)
		if failed, ok := err.(*Error); !ok || failed.Code != C.FLAKEID_BUFFER_TOO_SMALL {
			return nodes[:made.count], err
		}
	}
}

// Layout returns the generator's layout, with its epoch.
func (g *Generator) Layout() (Layout, error) {
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(C.layout_of(g.handle, &buffer[0], C.size_t(len(buffer))))
	runtime.KeepAlive(g)
	return Layout{C.GoString(&buffer[0])}, err
}

// Stats counts the waits and clock rollbacks of a generator.
type Stats struct {
	// Waits is the number of waits. A fill can wait several times.
	Waits uint64
	// Rollbacks is the number of times that the generator detected that the clock went backwards.
	Rollbacks uint64
	// LargestAhead is the largest number of ticks by which an ID was ahead of the clock.
	LargestAhead uint64
}

// Stats returns the counters of the generator.
func (g *Generator) Stats() (Stats, error) {
	stats := C.no_stats()
	err := failure(C.stats_of(g.handle, &stats))
	runtime.KeepAlive(g)
	return Stats{uint64(stats.waits), uint64(stats.rollbacks), uint64(stats.largest_ahead)}, err
}

// Extend raises the end of the window to the tick fence, exclusive; a lower fence changes nothing. It returns
// ErrInvalidOption for a generator that has no window or is leased.
func (g *Generator) Extend(fence uint64) error {
	err := failure(C.extend(g.handle, C.uint64_t(fence)))
	runtime.KeepAlive(g)
	return err
}

// Retire ends a generator for a fixed node like Close, and returns the last tick in which it issued an ID, if any. It
// returns ErrClosed for a second call, and ErrInvalidOption for a leased generator.
func (g *Generator) Retire() (lastTick uint64, issued bool, err error) {
	made := C.retire(g.handle)
	runtime.KeepAlive(g)
	tick, err := numberOf(made)
	if err != nil || tick == C.FLAKEID_NO_TICK {
		return 0, false, err
	}
	return tick, true, nil
}
