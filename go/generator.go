package flakeid

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Generator generates the IDs of one or several nodes, which are unique and strictly increase across all goroutines.
// Any number of goroutines can call its methods at the same time. Generators with the same layout and node share
// their position within a process.
type Generator struct {
	// The garbage collector frees the library's generator, because Close cannot know which calls are still running.
	native  *nativeGenerator
	maxWait time.Duration
	events  *eventQueue
	queue   queue
	// fast is nil if the generator has no fast path. In a lease, every node has its own.
	fast   atomic.Pointer[fast]
	clock  clockKind
	closed atomic.Bool
}

// New returns a generator for a fixed node. The node has no default: pass WithNode, or WithDatacenter and WithWorker,
// or WithNodes. No other process may use the same node; OpenLease ensures this with a store.
func New(options ...Option) (*Generator, error) {
	var s settings
	for index, option := range options {
		if option == nil {
			return nil, nilOption(index)
		}
		option.setGenerator(&s)
	}
	if s.err != nil {
		return nil, s.err
	}
	native, err := newFixed(&s)
	runtime.KeepAlive(s.clock)
	if err != nil {
		return nil, err
	}
	return newGenerator(native, &s, nil)
}

func newGenerator(native *nativeGenerator, s *settings, events *eventQueue) (*Generator, error) {
	made := &Generator{native: native, events: events, clock: s.clockKind()}
	runtime.SetFinalizer(made, func(unused *Generator) {
		// The release of a leased node can take a second, and finalizers run one after another.
		go func() {
			unused.native.free()
			unused.events.end()
		}()
	})
	maxWait, err := native.maxWait()
	if err != nil {
		return nil, err
	}
	made.maxWait = duration(maxWait)
	made.renewFast()
	return made, nil
}

// renewFast begins the fast path for the current node if the generator has none, or if the node of the fast path was
// lost.
func (g *Generator) renewFast() {
	if old := g.fast.Load(); g.clock == otherClock || old != nil && old.limit.Load() != 0 {
		return
	}
	made, suffices := g.native.expose()
	runtime.KeepAlive(g)
	if !suffices {
		return
	}
	made.clock = g.clock
	g.fast.Store(made)
	// Close sets closed first and then removes the fast path, so one of the two removes it.
	if g.closed.Load() {
		g.fast.Store(nil)
	}
}

// endFast ends the fast path before the library closes the generator, because another generator may share the lease.
func (g *Generator) endFast() {
	g.closed.Store(true)
	g.fast.Store(nil)
}

// takeFast returns the next ID without a call into the library, or false if the library has to decide. A goroutine that
// waits must not be overtaken by a call that is repeated in a loop.
func (g *Generator) takeFast() (ID, bool) {
	f := g.fast.Load()
	if f == nil || g.queue.led.Load() {
		return 0, false
	}
	id, taken := f.take()
	runtime.KeepAlive(g) // the word is freed with the generator
	return id, taken
}

// of returns the library's generator; nil for a nil generator, which the library rejects.
func (g *Generator) of() *nativeGenerator {
	if g == nil {
		return nil
	}
	return g.native
}

// Close ends the generator: all other calls then return ErrClosed. It releases a leased node, in at most a second,
// unless another generator of the process shares the lease. Buffers of the generator return the IDs that they hold
// and then ErrClosed. Closing again does nothing.
func (g *Generator) Close() error {
	if g != nil {
		g.endFast()
		defer g.events.end()
	}
	err := g.of().close()
	runtime.KeepAlive(g)
	return err
}

// NextID returns the next ID. It waits if necessary, and fails once an obstacle has lasted for the time of
// WithMaxWait.
func (g *Generator) NextID() (ID, error) {
	if g == nil {
		return g.TryNextID()
	}
	if id, taken := g.takeFast(); taken {
		return id, nil
	}
	return g.nextSlowly(context.Background())
}

// NextIDContext returns the next ID like NextID, but stops waiting within 200 ms after ctx has ended, with an error that
// wraps the context's error. It returns an ID that is available even if ctx has ended.
func (g *Generator) NextIDContext(ctx context.Context) (ID, error) {
	if g == nil {
		return g.TryNextID()
	}
	if id, taken := g.takeFast(); taken {
		return id, nil
	}
	return g.nextSlowly(ctx)
}

func (g *Generator) nextSlowly(ctx context.Context) (ID, error) {
	// This call is like TryNextID, but does not report the reason for a failure.
	id, made := g.native.attempt()
	runtime.KeepAlive(g)
	if made {
		g.renewFast()
		return id, nil
	}
	return g.wait(ctx)
}

// TryNextID returns the next ID and never waits. Error.RetryAfter is the time to wait before retrying.
func (g *Generator) TryNextID() (ID, error) {
	if g != nil {
		if id, taken := g.takeFast(); taken {
			return id, nil
		}
	}
	id, err := g.of().tryNext()
	runtime.KeepAlive(g)
	return id, err
}

// Fill writes the next IDs, in order, into ids and returns their number. It is below len(ids) only if an obstacle
// lasted longer than WithMaxWait, which the next call reports. Fill fails only if it wrote no ID.
func (g *Generator) Fill(ids []ID) (int, error) {
	return g.FillContext(context.Background(), ids)
}

// FillContext is like Fill, but ctx ends a wait as it does in NextIDContext.
func (g *Generator) FillContext(ctx context.Context, ids []ID) (int, error) {
	if g == nil {
		return g.TryFill(ids)
	}
	made := g.attemptFill(ids)
	for made < len(ids) {
		id, err := g.wait(ctx)
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
	count := g.of().attemptFill(ids)
	runtime.KeepAlive(g)
	return count
}

// TryFill is like Fill, but never waits.
func (g *Generator) TryFill(ids []ID) (int, error) {
	count, err := g.of().tryFill(ids)
	runtime.KeepAlive(g)
	return count, err
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
	node, err := g.of().node()
	runtime.KeepAlive(g)
	return node, err
}

// Nodes returns all nodes in the IDs, in increasing order.
func (g *Generator) Nodes() ([]uint64, error) {
	for size := 16; ; size *= 4 {
		nodes := make([]uint64, size)
		count, err := g.of().nodes(nodes)
		runtime.KeepAlive(g)
		if failed, ok := err.(*Error); !ok || failed.Code != bufferTooSmall {
			return nodes[:count], err
		}
	}
}

// Layout returns the generator's layout, with its epoch.
func (g *Generator) Layout() (Layout, error) {
	descriptor, err := g.of().layout()
	runtime.KeepAlive(g)
	return Layout{descriptor}, err
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
	stats, err := g.of().stats()
	runtime.KeepAlive(g)
	return stats, err
}

// Extend raises the end of the window to the tick fence, exclusive; a lower fence changes nothing. It returns
// ErrInvalidOption for a generator that has no window or is leased.
func (g *Generator) Extend(fence uint64) error {
	err := g.of().extend(fence)
	runtime.KeepAlive(g)
	return err
}

// Retire ends a generator for a fixed node like Close, and returns the last tick in which it issued an ID, if any. It
// returns ErrClosed for a second call, and ErrInvalidOption for a leased generator.
func (g *Generator) Retire() (lastTick uint64, issued bool, err error) {
	lastTick, issued, err = g.of().retire()
	runtime.KeepAlive(g)
	return lastTick, issued, err
}
