package flakeid

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A call that waits in the library occupies an operating-system thread, and waking a thread costs more than waking a
// goroutine. So only one of the goroutines that wait for a generator, the leader, waits in the library. The leader
// then gets IDs for the other goroutines too, in the order in which they arrived.

// queue holds the waiting goroutines of a generator.
type queue struct {
	mutex sync.Mutex
	// led reports whether a leader waits in the library. The others are in waiting.
	led     atomic.Bool
	waiting []chan outcome
}

// outcome is the result of a wait: an ID, an error, or the role of the leader.
type outcome struct {
	id    ID
	err   error
	leads bool
}

// mostServed is the maximum number of goroutines for which one leader gets IDs.
const mostServed = 4096

// wait returns the next ID after a failed attempt. It takes at most the time of WithMaxWait, and ends with ctx.
func (g *Generator) wait(ctx context.Context) (ID, error) {
	left := g.maxWait
	if mine := g.queue.join(); mine != nil {
		start := time.Now()
		told, isTold := g.queue.await(ctx, mine, left)
		if !isTold {
			// This is one last attempt, because the ID for which the call waited may be available at this moment.
			id, err := g.TryNextID()
			return id, ended(ctx, err)
		} else if !told.leads {
			return told.id, told.err
		}
		left = remaining(left, start)
	}
	id, err := g.native.nextWithin(ctx, milliseconds(left))
	runtime.KeepAlive(g)
	g.queue.pass(err, g.attemptFill)
	return id, ended(ctx, err)
}

// ended adds the context's error to the error of a call if ctx has ended.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("flakeid: %w during a wait: %w", ctx.Err(), err)
	}
	return err
}

// remaining returns the rest of a duration that began at start.
func remaining(whole time.Duration, start time.Time) time.Duration {
	if left := whole - time.Since(start); left > 0 {
		return left
	}
	return 0
}

// milliseconds rounds up to whole milliseconds.
func milliseconds(duration time.Duration) uint64 {
	return (uint64(duration) + uint64(time.Millisecond) - 1) / uint64(time.Millisecond)
}

// join returns nil if the caller becomes the leader.
func (q *queue) join() chan outcome {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if !q.led.Load() {
		q.led.Store(true)
		return nil
	}
	mine := make(chan outcome, 1)
	q.waiting = append(q.waiting, mine)
	return mine
}

// await waits for an outcome, and leaves the queue when the time is up or ctx has ended.
func (q *queue) await(ctx context.Context, mine chan outcome, atMost time.Duration) (told outcome, isTold bool) {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case told = <-mine:
		return told, true
	case <-timer.C:
	case <-ctx.Done():
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for place, other := range q.waiting {
		if other == mine {
			q.waiting = append(q.waiting[:place], q.waiting[place+1:]...)
			return outcome{}, false
		}
	}
	return <-mine, true // the outcome arrived at that moment
}

// pass ends the caller's role as the leader, whose call returned err or an ID. It passes IDs to the goroutines that
// arrived first, and then makes the next goroutine the leader. It passes an error that waiting cannot fix to all
// goroutines.
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
		q.led.Store(false)
		q.waiting = nil
		return
	}
	q.waiting[0] <- outcome{leads: true}
	q.waiting = q.waiting[1:]
}
