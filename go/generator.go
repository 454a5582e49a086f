package flakeid

// #include "shim.h"
import "C"

import (
	"math"
	"runtime"
	"time"
	"unsafe"
)

// Generator makes the IDs of one node, or several: unique, and strictly increasing across all
// goroutines. Every method may be called by any number of goroutines at the same time. Generators of one
// layout and node share their position within a process.
type Generator struct {
	// The garbage collector frees it, because Close cannot know which calls are under way.
	handle  *C.flakeid_generator
	maxWait time.Duration
	events  *eventQueue
	queue   queue
}

// New makes a generator for a fixed node. There is no default node: give WithNode, or WithDatacenter
// and WithWorker, or WithNodes. No other process may use the node; with OpenLease the store sees to that.
func New(options ...Option) (*Generator, error) {
	settings := newSettings(options)
	defer settings.free()
	if settings.err != nil {
		return nil, settings.err
	}
	var handle *C.flakeid_generator
	err := failure(C.new_generator(settings.config, &handle))
	runtime.KeepAlive(settings.clock)
	if err != nil {
		return nil, err
	}
	return newGenerator(handle, nil)
}

func newGenerator(handle *C.flakeid_generator, events *eventQueue) (*Generator, error) {
	made := &Generator{handle: handle, events: events}
	runtime.SetFinalizer(made, func(unused *Generator) {
		// It may take a second to give a leased node back, and finalizers run one after the other.
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

// Close ends the generator: all other calls are ErrClosed from then on. A leased node is given back,
// unless another generator of the process shares the lease, which takes at most a second. Buffers of the
// generator hand out what they hold and are then ErrClosed. Closing again does nothing.
func (g *Generator) Close() error {
	err := failure(C.close_generator(g.handle))
	g.events.end()
	runtime.KeepAlive(g)
	return err
}

// NextID is the next ID. It waits, if it has to, until there is one or something has stood in the way for
// as long as WithMaxWait says.
func (g *Generator) NextID() (ID, error) {
	// TryNextID without the reason.
	made := C.attempt_next(C.uintptr_t(uintptr(unsafe.Pointer(g.handle))))
	runtime.KeepAlive(g)
	if made.status == C.FLAKEID_OK {
		return ID(made.id), nil
	}
	return g.wait()
}

// TryNextID is the next ID, without ever waiting; Error.RetryAfter says when to try again.
func (g *Generator) TryNextID() (ID, error) {
	made := C.try_next(g.handle)
	runtime.KeepAlive(g)
	return idOf(made)
}

// Fill writes the next IDs, in order, from the beginning of ids, and says how many: fewer only if an
// obstacle outlasted WithMaxWait, which the next call reports. It fails only if there was no ID at all.
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

// attemptFill is TryFill without the reason.
func (g *Generator) attemptFill(ids []ID) int {
	var count C.size_t
	C.flakeid_generator_try_fill(g.handle, first(ids), C.size_t(len(ids)), &count)
	runtime.KeepAlive(g)
	return int(count)
}

// TryFill is Fill without ever waiting.
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

// AppendIDs appends n new IDs, in order. If it fails, the result has those that were made before.
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

// Node is the node in the IDs, the smallest if there are several. A leased generator's node changes if
// another process takes it.
func (g *Generator) Node() (uint64, error) {
	made := C.node_of(g.handle)
	runtime.KeepAlive(g)
	return numberOf(made)
}

// Nodes are all nodes in the IDs, in rising order.
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

// Layout is the generator's layout, with its epoch.
func (g *Generator) Layout() (Layout, error) {
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(C.layout_of(g.handle, &buffer[0], C.size_t(len(buffer))))
	runtime.KeepAlive(g)
	return Layout{C.GoString(&buffer[0])}, err
}

// Stats are what happened to a generator besides issuing IDs.
type Stats struct {
	// Waits is how many calls had to wait; a fill counts each time that it had to.
	Waits uint64
	// Rollbacks is how often the clock was seen to go back.
	Rollbacks uint64
	// LargestAhead is the furthest that an ID's tick was ahead of the clock, in ticks.
	LargestAhead uint64
}

// Stats says what happened to the generator besides issuing IDs.
func (g *Generator) Stats() (Stats, error) {
	stats := C.no_stats()
	err := failure(C.stats_of(g.handle, &stats))
	runtime.KeepAlive(g)
	return Stats{uint64(stats.waits), uint64(stats.rollbacks), uint64(stats.largest_ahead)}, err
}

// Extend raises the end of the window to the tick fence, exclusive; a lower one changes nothing. It is
// ErrInvalidOption for a generator without a window, or a leased one.
func (g *Generator) Extend(fence uint64) error {
	err := failure(C.extend(g.handle, C.uint64_t(fence)))
	runtime.KeepAlive(g)
	return err
}

// Retire ends a generator for a fixed node as Close does, and returns the last tick in which it issued
// an ID, if it did. It is ErrClosed the second time, and ErrInvalidOption for a leased generator.
func (g *Generator) Retire() (lastTick uint64, issued bool, err error) {
	made := C.retire(g.handle)
	runtime.KeepAlive(g)
	tick, err := numberOf(made)
	if err != nil || tick == C.FLAKEID_NO_TICK {
		return 0, false, err
	}
	return tick, true, nil
}
