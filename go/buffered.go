package flakeid

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxBuffer is the maximum number of IDs in a buffer.
const maxBuffer = 1 << 20

// perReading is the number of IDs that a buffer returns between two readings of the clock.
const perReading = 64

// Buffered returns IDs that it requests from the generator in batches, which costs a fraction of single calls. Its
// IDs are distinct from all other IDs of the generator. A separate buffer for each goroutine is fastest, and its IDs
// increase, but are not ordered relative to IDs from other buffers. Goroutines can also share a buffer, whose IDs are
// then not ordered.
//
// A buffer returns an ID at most maxAge after it was generated: a timer drops the remaining IDs, and the buffer reads
// the clock at every 64th ID in case the timer is late. After the whole process was stopped, or the computer was
// suspended, up to 63 IDs can be older.
type Buffered struct {
	generator *Generator
	maxAge    time.Duration
	size      int
	current   atomic.Pointer[batch]
	timer     *time.Timer

	// mutex guards the replacement of the current batch.
	mutex sync.Mutex
	// wanted is the number of IDs to request.
	wanted int
}

// batch holds the IDs of one call to the library. They never change, so a goroutine that has reserved a position can
// read its ID later.
type batch struct {
	// next is the index of the next ID. It grows beyond the last index.
	next  atomic.Uint64
	ids   []ID
	stale atomic.Bool
	made  time.Time
}

// Buffered returns a buffer of up to size IDs, 1 to 2^20, which returns no ID older than maxAge. maxAge must be above
// 0. Batches begin with one ID, double while each is used up in time, and begin with one ID again after the buffer
// dropped IDs. A buffer therefore never drops more IDs than were used, and at most size - 1.
func (g *Generator) Buffered(size int, maxAge time.Duration) (*Buffered, error) {
	if g == nil {
		return nil, refused(ErrNullArgument, "", "generator: must not be nil")
	}
	if size < 1 || size > maxBuffer {
		return nil, refused(ErrFieldOutOfRange, "size",
			"size %d is out of range: must be from 1 to %d", size, maxBuffer)
	}
	if maxAge <= 0 {
		return nil, refused(ErrFieldOutOfRange, "max_age",
			"max_age %v is out of range: must be above 0", maxAge)
	}
	made := &Buffered{generator: g, maxAge: maxAge, size: size}
	made.current.Store(&batch{})
	made.timer = time.AfterFunc(maxAge, func() { made.current.Load().stale.Store(true) })
	made.timer.Stop()
	return made, nil
}

// NextID returns the next ID. It waits and fails like Generator.NextID.
func (b *Buffered) NextID() (ID, error) {
	if b == nil {
		return 0, unmade()
	}
	held := b.current.Load()
	if held == nil {
		return 0, unmade()
	}
	place := held.next.Add(1) - 1
	if place < uint64(len(held.ids)) && !held.stale.Load() &&
		(place%perReading != 0 || held.age() < b.maxAge) {
		return held.ids[place], nil
	}
	return b.replace(held)
}

// unmade returns the error of a nil or zero Buffered.
func unmade() error {
	return refused(ErrNullArgument, "", "buffer: must be created with Generator.Buffered")
}

// age returns the age of the IDs by the monotonic clock, or by the wall clock, which also advances while the computer
// is suspended, whichever is larger.
func (held *batch) age() time.Duration {
	now := time.Now()
	age, ofDay := now.Sub(held.made), now.Round(0).Sub(held.made.Round(0))
	if ofDay > age {
		return ofDay
	}
	return age
}

// replace returns the first ID of a new batch, or an ID of a batch with which another goroutine replaced the old one.
func (b *Buffered) replace(old *batch) (ID, error) {
	b.mutex.Lock()
	if b.current.Load() != old {
		b.mutex.Unlock()
		return b.NextID()
	}
	switch used := old.next.Load() > uint64(len(old.ids)); {
	case !used:
		b.wanted = 1
	// A batch of one ID may be empty, because its ID came from a call that waited.
	case len(old.ids) == b.wanted || b.wanted == 1:
		b.wanted = doubled(b.wanted, b.size)
	}
	// The clock is read before the call, so that no ID is older. The call does not wait, so that no ID is newer.
	made := &batch{made: time.Now(), ids: make([]ID, b.wanted)}
	made.ids = made.ids[:b.generator.attemptFill(made.ids)]
	made.next.Store(1)
	b.current.Store(made)
	if len(made.ids) > 1 {
		b.timer.Reset(b.maxAge)
	}
	b.mutex.Unlock()
	if len(made.ids) == 0 {
		return b.generator.NextID()
	}
	return made.ids[0], nil
}

func doubled(wanted, most int) int {
	if wanted == 0 {
		return 1
	}
	if wanted *= 2; wanted > most {
		return most
	}
	return wanted
}

// Generator returns the generator of the buffer.
func (b *Buffered) Generator() *Generator {
	if b == nil {
		return nil
	}
	return b.generator
}
