package flakeid

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxBuffer is how many IDs a buffer may hold.
const maxBuffer = 1 << 20

// perReading is how many IDs are handed out between two readings of the clock.
const perReading = 64

// Buffered hands out IDs that it gets from the generator by one call for many, at a fraction of the cost.
// Its IDs are distinct from all others of the generator's. Each goroutine should have a buffer of its own: then
// it is quickest, and its IDs increase, though not in order with those of others. Goroutines may share one, too,
// at the same time, and then its IDs are in no order.
//
// An ID is handed out at most maxAge after it was made: a timer drops what is left by then, and the
// clock is read at every 64th ID, in case the timer is late. What remains possible: after the whole
// process was stopped, or the computer asleep, up to 63 IDs may be older.
type Buffered struct {
	generator *Generator
	maxAge    time.Duration
	size      int
	current   atomic.Pointer[batch]
	timer     *time.Timer

	// mutex is for those who replace the current batch.
	mutex sync.Mutex
	// wanted is how many IDs to ask for.
	wanted int
}

// batch is what one call of the library made. Its IDs stay as they are, so a goroutine that has taken a place
// may read its ID whenever it gets to it.
type batch struct {
	// next is the place of the next ID; it grows beyond the last one.
	next  atomic.Uint64
	ids   []ID
	stale atomic.Bool
	made  time.Time
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
	made := &Buffered{generator: g, maxAge: maxAge, size: size}
	made.current.Store(&batch{})
	made.timer = time.AfterFunc(maxAge, func() { made.current.Load().stale.Store(true) })
	made.timer.Stop()
	return made, nil
}

// NextID is the next ID. It waits and fails as Generator.NextID does.
func (b *Buffered) NextID() (ID, error) {
	held := b.current.Load()
	place := held.next.Add(1) - 1
	if place < uint64(len(held.ids)) && !held.stale.Load() &&
		(place%perReading != 0 || held.age() < b.maxAge) {
		return held.ids[place], nil
	}
	return b.replace(held)
}

// age is how old the IDs are: by the clock of this process, or by the time of day, which also counts while
// the computer is asleep.
func (held *batch) age() time.Duration {
	now := time.Now()
	age, ofDay := now.Sub(held.made), now.Round(0).Sub(held.made.Round(0))
	if ofDay > age {
		return ofDay
	}
	return age
}

// replace is the first ID of a new batch, or of one that another goroutine has put in the place of the old.
func (b *Buffered) replace(old *batch) (ID, error) {
	b.mutex.Lock()
	if b.current.Load() != old {
		b.mutex.Unlock()
		return b.NextID()
	}
	switch used := old.next.Load() > uint64(len(old.ids)); {
	case !used:
		b.wanted = 1
	// A single one may have come by waiting.
	case len(old.ids) == b.wanted || b.wanted == 1:
		b.wanted = doubled(b.wanted, b.size)
	}
	// Before the call, so that no ID is older. Without waiting, so that all are of this moment.
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

// Generator is what the IDs come from.
func (b *Buffered) Generator() *Generator { return b.generator }
