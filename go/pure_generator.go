//go:build !cgo || flakeid_pure || !(flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// nativeGenerator is a generator of the library translated to Go.
//
// The generator's word and limit belong to Go, because the library's instance is used by one goroutine at a time, and
// because its memory moves when it grows. The fast path takes IDs from the word with sync/atomic. For a call into the
// library, the generator closes the word, so that no other goroutine takes an ID, copies it to the instance's memory,
// and copies it back after the call.
type nativeGenerator struct {
	library *pureLibrary
	at      address
	// current has the word of the current node. It is nil until a lease has its first node.
	current *pureWord
	// waited is the number of calls that waited. The library does not wait, so it does not count them.
	waited atomic.Uint64
	// keeper keeps the lease; nil for a fixed node.
	keeper *pureKeeper
}

// closedWord is the word of a closed generator.
const closedWord = math.MaxUint64

// pureWord is the word of one node, with the limit of one generator.
type pureWord struct {
	word  *atomic.Uint64
	limit atomic.Uint64
	// wordAt and limitAt are the addresses of the library's copies.
	wordAt, limitAt address
	// grant is the number of the lease's grant.
	grant uint64
	fast  fast
	// suffices reports whether the fast path can take an ID. isShared reports whether the word belongs to the process.
	suffices, isShared bool
}

// sharedWords are the words of fixed nodes by the address of the library's copy, which is never freed. The mutex of the
// instance guards them.
var sharedWords = map[address]*atomic.Uint64{}

func newFixed(s *settings) (*nativeGenerator, error) {
	l := statefulLibrary()
	made := &nativeGenerator{library: l}
	err := l.call(func() error {
		options, err := l.options(s)
		if err != nil {
			return err
		}
		defer l.module.Xflakeid_options_free(options)
		var clock address
		if s.clock != nil {
			clock = s.clock.native.at
		}
		l.meet()
		to := l.room(4)
		if err := l.failure(l.module.Xflakeid_fixed_new(options, clock, to)); err != nil {
			return err
		}
		made.at = address(l.u32(to))
		made.current = made.exposed(0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// options returns the options in the library's memory, which the caller frees.
func (l *pureLibrary) options(s *settings) (address, error) {
	to := l.room(4)
	if err := l.failure(l.module.Xflakeid_options_new(to)); err != nil {
		return 0, err
	}
	options := address(l.u32(to))
	for _, pair := range s.texts {
		if err := l.failure(l.module.Xflakeid_options_set(options, l.text(&pair[0]), l.text(&pair[1]))); err != nil {
			l.module.Xflakeid_options_free(options)
			return 0, err
		}
	}
	return options, nil
}

// exposed returns the word of the current node, or nil if a lease has no node.
func (n *nativeGenerator) exposed(grant uint64) *pureWord {
	l := n.library
	const size = 72
	exposed := l.room(size)
	l.put32(exposed, size)
	if Code(l.module.Xflakeid_generator_expose(n.at, exposed)) != noError {
		return nil
	}
	made := &pureWord{
		wordAt: address(l.u32(exposed + 8)), limitAt: address(l.u32(exposed + 12)), grant: grant,
		suffices: l.u32(exposed+4) != 0, isShared: l.u32(exposed+68) != 0,
		fast: fast{
			epoch: l.i64(exposed + 16), unit: l.u64(exposed + 24), span: l.u64(exposed + 32),
			mask: l.u64(exposed + 40), node: l.u64(exposed + 48), width: uint8(l.u32(exposed + 56)),
			timeShift: uint8(l.u32(exposed + 60)), sequenceShift: uint8(l.u32(exposed + 64)),
		},
	}
	made.word = new(atomic.Uint64)
	if known := sharedWords[made.wordAt]; made.isShared && known != nil {
		made.word = known
	} else {
		made.word.Store(l.u64(made.wordAt))
		if made.isShared {
			sharedWords[made.wordAt] = made.word
		}
	}
	made.limit.Store(l.u64(made.limitAt))
	made.fast.word, made.fast.limit = made.word, &made.limit
	return made
}

// with makes calls to the library while no other goroutine takes IDs. If a call panics, the word remains closed.
func (n *nativeGenerator) with(calls func(l *pureLibrary) error) error {
	if n == nil || n.at == 0 {
		return statefulLibrary().call(func() error { return calls(statefulLibrary()) })
	}
	l := n.library
	return l.call(func() error {
		if held := n.current; held != nil {
			l.put64(held.wordAt, held.word.Swap(closedWord))
		}
		l.meet()
		err := calls(l)
		n.giveBack()
		return err
	})
}

// giveBack copies the word and the limit of the current node from the library's memory.
func (n *nativeGenerator) giveBack() {
	held := n.current
	if held == nil {
		return
	}
	held.limit.Store(n.library.u64(held.limitAt))
	held.word.Store(n.library.u64(held.wordAt))
}

// pointer returns the address of the library's generator; NULL for nil, which the library rejects.
func (n *nativeGenerator) pointer() address {
	if n == nil {
		return 0
	}
	return n.at
}

func (n *nativeGenerator) free() {
	if n.keeper != nil {
		n.keeper.close()
		<-n.keeper.done // which uses the generator
	}
	l := n.library
	_ = l.call(func() error {
		held := n.current
		if held != nil {
			l.put64(held.wordAt, held.word.Swap(closedWord))
		}
		l.module.Xflakeid_generator_free(n.at)
		if held != nil && held.isShared {
			held.word.Store(l.u64(held.wordAt))
		}
		n.at, n.current = 0, nil
		return nil
	})
}

func (n *nativeGenerator) close() error {
	if n != nil && n.keeper != nil {
		n.keeper.close()
		return nil
	}
	return n.with(func(l *pureLibrary) error {
		return l.failure(l.module.Xflakeid_generator_close(n.pointer()))
	})
}

func (n *nativeGenerator) maxWait() (ms int64, err error) {
	err = n.with(func(l *pureLibrary) error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_generator_max_wait_ms(n.pointer(), to))
		ms = l.i64(to)
		return err
	})
	return ms, err
}

// attempt takes an ID without waiting, and does not report the reason for a failure.
func (n *nativeGenerator) attempt() (id ID, made bool) {
	_ = n.with(func(l *pureLibrary) error {
		to := l.room(8)
		made = Code(l.module.Xflakeid_generator_try_next(n.pointer(), to)) == noError
		id = ID(l.u64(to))
		return nil
	})
	return id, made
}

func (n *nativeGenerator) tryNext() (id ID, err error) {
	err = n.with(func(l *pureLibrary) error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_generator_try_next(n.pointer(), to))
		id = ID(l.u64(to))
		return err
	})
	n.requestWindow(err)
	return id, err
}

// requestWindow lets the keeper request a window after a call that failed because there was none.
func (n *nativeGenerator) requestWindow(err error) {
	if err != nil && n != nil && n.keeper != nil {
		n.keeper.request()
	}
}

// nextWithin takes an ID, and waits at most ms milliseconds or until ctx has ended. The library reports how long it
// would wait, because it cannot sleep.
func (n *nativeGenerator) nextWithin(ctx context.Context, ms uint64) (ID, error) {
	deadline := deadlineIn(ms)
	counted := false
	for {
		var id ID
		var until int64
		gains := uint64(0)
		left := remainingMs(deadline)
		err := n.with(func(l *pureLibrary) error {
			if n != nil && n.keeper != nil {
				gains = n.keeper.gains.Load()
			}
			to := l.room(8)
			err := l.failure(l.module.Xflakeid_generator_next_within(n.pointer(), int64(left), to))
			id, until = ID(l.u64(to)), l.module.Xflakeid_host_wait_until()
			return err
		})
		if err == nil {
			return id, nil
		}
		if until == math.MinInt64 {
			if n == nil || n.keeper == nil || !n.keeper.awaitGain(ctx, gains, deadline, err) {
				return 0, err
			}
			continue
		}
		if left == 0 {
			return 0, err
		}
		if !counted {
			n.waited.Add(1)
			counted = true
		}
		pause := time.Until(time.UnixMilli(until))
		if longest := time.Until(deadline); pause > longest {
			pause = longest
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, err
		}
	}
}

// deadlineIn returns the time in ms milliseconds.
func deadlineIn(ms uint64) time.Time {
	const longest = uint64(math.MaxInt64 / int64(time.Millisecond) / 2)
	if ms > longest {
		ms = longest
	}
	return time.Now().Add(time.Duration(ms) * time.Millisecond)
}

// remainingMs returns the milliseconds until a deadline, rounded up.
func remainingMs(deadline time.Time) uint64 {
	left := time.Until(deadline)
	if left <= 0 {
		return 0
	}
	return milliseconds(left)
}

// attemptFill is like tryFill, but does not report the reason for a failure.
func (n *nativeGenerator) attemptFill(ids []ID) int {
	count, _ := n.tryFill(ids)
	return count
}

func (n *nativeGenerator) tryFill(ids []ID) (filled int, err error) {
	err = n.with(func(l *pureLibrary) error {
		most := len(ids)
		if most > 65536 {
			most = 65536
		}
		count, room := l.room(4), l.room(8*most)
		for {
			wanted := len(ids) - filled
			if wanted > most {
				wanted = most
			}
			status := l.module.Xflakeid_generator_try_fill(n.pointer(), room, address(wanted), count)
			made := int(l.u32(count))
			for index := range ids[filled : filled+made] {
				ids[filled+index] = ID(l.u64(room + address(8*index)))
			}
			filled += made
			if filled == 0 {
				return l.failure(status)
			}
			if made < wanted || filled == len(ids) {
				return nil
			}
		}
	})
	n.requestWindow(err)
	return filled, err
}

func (n *nativeGenerator) node() (node uint64, err error) {
	err = n.with(func(l *pureLibrary) error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_generator_node(n.pointer(), to))
		node = l.u64(to)
		return err
	})
	return node, err
}

func (n *nativeGenerator) nodes(nodes []uint64) (count int, err error) {
	err = n.with(func(l *pureLibrary) error {
		room, to := l.room(8*len(nodes)), l.room(4)
		err := l.failure(l.module.Xflakeid_generator_nodes(n.pointer(), room, address(len(nodes)), to))
		count = int(l.u32(to))
		for index := range nodes[:count] {
			nodes[index] = l.u64(room + address(8*index))
		}
		return err
	})
	return count, err
}

func (n *nativeGenerator) layout() (descriptor string, err error) {
	err = n.with(func(l *pureLibrary) error {
		const size = 128
		buffer := l.room(size)
		err := l.failure(l.module.Xflakeid_generator_layout(n.pointer(), buffer, size))
		descriptor = l.read(buffer)
		return err
	})
	return descriptor, err
}

func (n *nativeGenerator) stats() (stats Stats, err error) {
	err = n.with(func(l *pureLibrary) error {
		const size = 32
		to := l.room(size)
		l.put32(to, size)
		err := l.failure(l.module.Xflakeid_generator_stats(n.pointer(), to))
		stats = Stats{l.u64(to + 8), l.u64(to + 16), l.u64(to + 24)}
		return err
	})
	if err == nil {
		stats.Waits += n.waited.Load()
	}
	return stats, err
}

func (n *nativeGenerator) extend(fence uint64) error {
	return n.with(func(l *pureLibrary) error {
		return l.failure(l.module.Xflakeid_generator_extend(n.pointer(), int64(fence)))
	})
}

func (n *nativeGenerator) retire() (lastTick uint64, issued bool, err error) {
	err = n.with(func(l *pureLibrary) error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_generator_retire(n.pointer(), to))
		lastTick = l.u64(to)
		return err
	})
	if err != nil || lastTick == math.MaxUint64 {
		return 0, false, err
	}
	return lastTick, true, nil
}

// expose returns the fast path for the current node, and whether it suffices to take an ID.
func (n *nativeGenerator) expose() (made *fast, suffices bool) {
	_ = n.with(func(*pureLibrary) error {
		if n != nil && n.current != nil {
			copied := n.current.fast
			made, suffices = &copied, n.current.suffices
		}
		return nil
	})
	return made, suffices
}
