package flakeid

import (
	"sync/atomic"
	"time"
)

// maxBuffer is how many IDs a buffer may hold.
const maxBuffer = 1 << 20

// perReading is how many IDs are handed out between two readings of the clock.
const perReading = 16

// Buffered hands out IDs that it gets from the generator by one call for many, at a tenth of the cost.
// Only one goroutine may use it at a time. Its IDs are distinct from all others of the generator's and
// increase, but are not in order with those of other goroutines.
//
// An ID is handed out at most maxAge after it was made: a timer drops what is left by then, and the
// clock is read at every 16th ID, in case the timer is late. What remains possible: after the whole
// process was stopped, up to 15 IDs may be older.
type Buffered struct {
	generator *Generator
	maxAge    time.Duration
	ids       []ID
	// next, end: what is left. check: up to where IDs are handed out without reading the clock.
	next, check, end int
	// batch is how many IDs to ask for.
	batch int
	made  time.Time
	stale *atomic.Bool
	timer *time.Timer
}

// Buffered makes a buffer of up to size IDs, 1 to 2^20, none of which is handed out when it is older than
// maxAge, which must be above 0. Batches begin with one ID, double while each is used up in time, and
// begin anew when something had to be dropped; so never more are dropped than were used, and at most
// size - 1.
func (g *Generator) Buffered(size int, maxAge time.Duration) (*Buffered, error) {
	if size < 1 || size > maxBuffer {
		return nil, refused(ErrFieldOutOfRange, "size",
			"size %d is out of range: must be from 1 to %d", size, maxBuffer)
	}
	if maxAge <= 0 {
		return nil, refused(ErrFieldOutOfRange, "max_age",
			"max_age %v is out of range: must be above 0", maxAge)
	}
	stale := new(atomic.Bool)
	timer := time.AfterFunc(maxAge, func() { stale.Store(true) })
	timer.Stop()
	return &Buffered{
		generator: g, maxAge: maxAge, ids: make([]ID, size), batch: 1, stale: stale, timer: timer,
	}, nil
}

// NextID is the next ID. It waits and fails as Generator.NextID does.
func (b *Buffered) NextID() (ID, error) {
	if b.next < b.check && !b.stale.Load() {
		id := b.ids[b.next]
		b.next++
		return id, nil
	}
	return b.read()
}

// read reads the clock, and gets more IDs if those that are left are used up or too old.
func (b *Buffered) read() (ID, error) {
	if b.next == b.end || b.stale.Load() || time.Since(b.made) >= b.maxAge {
		if err := b.refill(); err != nil {
			return 0, err
		}
	}
	if b.check = b.next + perReading; b.check > b.end {
		b.check = b.end
	}
	id := b.ids[b.next]
	b.next++
	return id, nil
}

// Without waiting, so that all of them are of this moment; if there are none now, it waits for one.
func (b *Buffered) refill() error {
	if b.next < b.end {
		b.batch = 1
	} else if b.end == b.batch {
		if b.batch *= 2; b.batch > len(b.ids) {
			b.batch = len(b.ids)
		}
	}
	b.next, b.check, b.end = 0, 0, 0
	b.stale.Store(false)
	b.made = time.Now()
	b.end = b.generator.attemptFill(b.ids[:b.batch])
	if b.end == 0 {
		id, err := b.generator.NextID()
		if err != nil {
			return err
		}
		b.ids[0], b.end, b.made = id, 1, time.Now()
	}
	if b.end > 1 {
		b.timer.Reset(b.maxAge)
	}
	return nil
}

// Generator is what the IDs come from.
func (b *Buffered) Generator() *Generator { return b.generator }
