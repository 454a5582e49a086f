package flakeid

// #include "shim.h"
import "C"

import (
	"runtime"
	"sync"
)

// A call that waits in the library holds a thread of the operating system, and waking threads costs more
// than waking goroutines. So of the goroutines that have to wait for one generator, one does it in the
// library, and the others wait for that one.

// queue is who waits.
type queue struct {
	mutex sync.Mutex
	first *turn
}

// turn is one wait in the library.
type turn struct {
	over chan struct{}
	err  error
}

// wait is the next ID after an attempt that failed.
func (g *Generator) wait() (ID, error) {
	for {
		mine, isFirst := g.queue.join()
		if isFirst {
			waited := C.next(g.handle)
			runtime.KeepAlive(g)
			id, err := idOf(waited)
			g.queue.leave(mine, err)
			return id, err
		}
		<-mine.over
		// What has stood in the way of the first for so long does so for all.
		if mine.err != nil {
			return 0, mine.err
		}
		if id, ok := g.attempt(); ok {
			return id, nil
		}
	}
}

// join is the present turn, or a new one for the caller to take.
func (q *queue) join() (mine *turn, isFirst bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.first == nil {
		q.first, isFirst = &turn{over: make(chan struct{})}, true
	}
	return q.first, isFirst
}

func (q *queue) leave(mine *turn, err error) {
	mine.err = err
	q.mutex.Lock()
	q.first = nil
	q.mutex.Unlock()
	close(mine.over)
}
