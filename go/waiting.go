package flakeid

// #include "shim.h"
import "C"

import (
	"runtime"
	"sync"
	"time"
)

// A call that waits in the library holds a thread of the operating system, and waking a thread costs more
// than waking a goroutine. So of the goroutines that have to wait for one generator, one does it in the
// library, the leader. Then it gets IDs for the others, too, in the order in which they came.

// queue is who waits.
type queue struct {
	mutex sync.Mutex
	// led says whether somebody waits in the library; the others are in waiting.
	led     bool
	waiting []chan outcome
}

// outcome is what somebody who waits is told: an ID, an error, or to wait in the library from now on.
type outcome struct {
	id    ID
	err   error
	leads bool
}

// mostServed is for how many one leader gets IDs.
const mostServed = 4096

// wait is the next ID after an attempt that failed. It takes at most as long as WithMaxWait says.
func (g *Generator) wait() (ID, error) {
	left := g.maxWait
	if mine := g.queue.join(); mine != nil {
		start := time.Now()
		told, isTold := g.queue.await(mine, left)
		if !isTold {
			// Without this a call that was told how long to wait would fail at the very moment.
			return g.TryNextID()
		} else if !told.leads {
			return told.id, told.err
		}
		left = remaining(left, start)
	}
	waited := C.next_within(g.handle, C.uint64_t(milliseconds(left)))
	runtime.KeepAlive(g)
	id, err := idOf(waited)
	g.queue.pass(err, g.attemptFill)
	return id, err
}

// remaining is what is left of a duration that began at start.
func remaining(whole time.Duration, start time.Time) time.Duration {
	if left := whole - time.Since(start); left > 0 {
		return left
	}
	return 0
}

// milliseconds are whole ones, rounded up.
func milliseconds(duration time.Duration) uint64 {
	return (uint64(duration) + uint64(time.Millisecond) - 1) / uint64(time.Millisecond)
}

// join is nil if the caller is to lead.
func (q *queue) join() chan outcome {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !q.led {
		q.led = true
		return nil
	}
	mine := make(chan outcome, 1)
	q.waiting = append(q.waiting, mine)
	return mine
}

// await waits to be told something, and leaves the queue if that takes too long.
func (q *queue) await(mine chan outcome, atMost time.Duration) (told outcome, isTold bool) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case told = <-mine:
		return told, true
	case <-timer.C:
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for place, other := range q.waiting {
		if other == mine {
			q.waiting = append(q.waiting[:place], q.waiting[place+1:]...)
			return outcome{}, false
		}
	}
	return <-mine, true // it was told at that moment
}

// pass ends the caller's lead, which ended in err or an ID: it hands IDs to those who came first, and then
// the next one leads. An error that waiting does not mend is one for all.
func (q *queue) pass(err error, attemptFill func([]ID) int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if failed, ok := err.(*Error); ok && failed.RetryAfter < 0 {
		for _, other := range q.waiting {
			other <- outcome{err: err}
		}
		q.waiting = nil
	} else if err == nil && len(q.waiting) > 0 {
		first := q.waiting
		if len(first) > mostServed {
			first = first[:mostServed]
		}
		ids := make([]ID, len(first))
		served := attemptFill(ids)
		for place, id := range ids[:served] {
			first[place] <- outcome{id: id}
		}
		q.waiting = q.waiting[served:]
	}
	if len(q.waiting) == 0 {
		q.led, q.waiting = false, nil
		return
	}
	q.waiting[0] <- outcome{leads: true}
	q.waiting = q.waiting[1:]
}
