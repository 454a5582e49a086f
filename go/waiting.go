package flakeid

// #include "shim.h"
import "C"

import (
	"runtime"
	"sync"
)

// A call that waits in the library holds a thread of the operating system, and waking a thread costs more
// than waking a goroutine. So of the goroutines that have to wait for one generator, one does it in the
// library, and then gets IDs for the others, too, in the order in which they came.

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

// wait is the next ID after an attempt that failed.
func (g *Generator) wait() (ID, error) {
	if mine := g.queue.join(); mine != nil {
		if told := <-mine; !told.leads {
			return told.id, told.err
		}
	}
	waited := C.next(g.handle)
	runtime.KeepAlive(g)
	id, err := idOf(waited)
	if err != nil {
		// What has stood in the way of the first for so long does so for all.
		g.queue.fail(err)
		return 0, err
	}
	if others := g.queue.length(); others > 0 {
		ids := make([]ID, others)
		g.queue.serve(ids[:g.attemptFill(ids)])
	} else {
		g.queue.serve(nil)
	}
	return id, nil
}

// join is nil if the caller is to wait in the library.
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

// length is how many are to be served.
func (q *queue) length() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if len(q.waiting) > mostServed {
		return mostServed
	}
	return len(q.waiting)
}

// serve hands the IDs to those who came first, and lets the next one wait in the library.
func (q *queue) serve(ids []ID) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for index, id := range ids {
		q.waiting[index] <- outcome{id: id}
	}
	q.waiting = q.waiting[len(ids):]
	if len(q.waiting) == 0 {
		q.led, q.waiting = false, nil
		return
	}
	q.waiting[0] <- outcome{leads: true}
	q.waiting = q.waiting[1:]
}

func (q *queue) fail(err error) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, other := range q.waiting {
		other <- outcome{err: err}
	}
	q.led, q.waiting = false, nil
}
