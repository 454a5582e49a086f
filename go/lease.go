package flakeid

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// OpenLease leases a node from the store at url and returns a generator for it, whose IDs are unique among all
// processes that lease from the same namespace. The url is sqlite:///path, postgresql://..., mysql://...,
// redis://..., etcd://..., or http://... of a broker.
//
// A library thread renews the lease. Generators of one process with equal options share one lease. Close releases the
// node. If the process ends without Close, the node is free after the TTL.
//
// OpenLease waits for at most the time of WithMaxWait plus 2 s, or of WithOpenWait while a restarted store grants
// nothing. If ctx ends first, OpenLease returns the context's error immediately, and releases a lease that is granted
// later.
func OpenLease(ctx context.Context, url string, options ...LeaseOption) (*Generator, error) {
	if err := checkNul("url", url); err != nil {
		return nil, err
	}
	return open(ctx, &url, options)
}

// Auto leases a node like OpenLease, but takes the store's URL from the environment variable FLAKEID_STORE and the
// namespace from FLAKEID_NAMESPACE. Without FLAKEID_STORE, the store is a file for this user on this host.
func Auto(ctx context.Context, options ...LeaseOption) (*Generator, error) {
	return open(ctx, nil, options)
}

// open leases a node from the store at url, or from the store that the environment names if url is nil.
func open(ctx context.Context, url *string, options []LeaseOption) (*Generator, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("flakeid: no lease was requested: %w", err)
	}
	var s settings
	for index, option := range options {
		if option == nil {
			return nil, nilOption(index)
		}
		option.setLease(&s)
	}
	if s.err != nil {
		return nil, s.err
	}
	type opened struct {
		generator *Generator
		err       error
	}
	done := make(chan opened, 1)
	go func() {
		generator, err := openLease(url, &s)
		done <- opened{generator, err}
	}()
	select {
	case result := <-done:
		return result.generator, result.err
	case <-ctx.Done():
		go func() {
			if late := <-done; late.generator != nil {
				late.generator.Close()
			}
		}()
		return nil, fmt.Errorf("flakeid: no lease was granted in time: %w", ctx.Err())
	}
}

func openLease(url *string, s *settings) (*Generator, error) {
	events := newEventQueue(s.observer)
	native, err := newLeased(url, s, events)
	if err != nil {
		events.end()
		return nil, err
	}
	return newGenerator(native, s, events)
}

// LeaseStatus is the state of a lease.
type LeaseStatus struct {
	// FencedOff reports whether the node is lost from its fence onward, usually to another process.
	FencedOff bool
	// Start is the first tick of the current grant. Fence is the first tick that must not be used; every renewal raises
	// the fence. FenceTime is the start of the fence's tick: while the store is unavailable, the generator issues IDs
	// until then.
	Start, Fence uint64
	FenceTime    time.Time
	// Expires is the time, by the store's clock, until which no other process can lease the node. ExpiresIn is the
	// remaining time by this host's clock, negative if Expires is in the past.
	Expires   time.Time
	ExpiresIn time.Duration
	// Renewals is the number of renewals that the store confirmed, Grants the number of nodes granted so far, and Failures
	// the number of failed attempts to acquire a node or to renew its lease.
	Renewals, Grants, Failures uint64
	// LastError is the Code of the latest attempt if it failed, or nil if it succeeded.
	LastError error
}

// Lease returns the state of the generator's lease. It returns ErrInvalidOption for a generator that New created.
func (g *Generator) Lease() (LeaseStatus, error) {
	status, err := g.of().lease()
	runtime.KeepAlive(g)
	return status, err
}

func codeOf(code Code) error {
	if code == noError {
		return nil
	}
	return code
}

// EventKind is the kind of a lease event. Later releases may add kinds.
type EventKind int32

// The kinds of events. After LeaseFencedOff, the generator requests a node again, unless another process has taken over
// its fixed node. After LeaseStoreLost, the generator continues to issue IDs until the fence.
const (
	LeaseAcquired   EventKind = 1 // a node was granted
	LeaseRenewed    EventKind = 2 // the fence was raised
	LeaseFencedOff  EventKind = 3 // the node is lost from its fence onward
	LeaseRefused    EventKind = 4 // the store refused a request
	LeaseStoreLost  EventKind = 5 // the store does not respond
	LeaseStoreFound EventKind = 6 // the store responds again
	LeaseClockSkew  EventKind = 7 // the clocks of host and store are too far apart
	LeaseReleased   EventKind = 8 // the node was released
)

// LeaseEvent is a lease event.
type LeaseEvent struct {
	Kind EventKind
	// Node is the node that was acquired, renewed, lost or released; otherwise 0.
	Node uint64
	// Start is the first usable tick of a node that was acquired; otherwise 0.
	Start uint64
	// Fence is the first tick that must not be used, if a node was acquired or renewed; otherwise 0.
	Fence uint64
	// Err is the cause, an *Error, or nil.
	Err error
}

// eventQueue passes events to a program's function on a goroutine, so that the function can do anything, including
// Close, and blocks no thread of the library. A nil queue has no function.
type eventQueue struct {
	observer func(LeaseEvent)
	// released is called after the library's last call, if it is not nil.
	released func()
	once     sync.Once
	mutex    sync.Mutex
	changed  *sync.Cond
	events   []LeaseEvent
	ended    bool
}

func newEventQueue(observer func(LeaseEvent)) *eventQueue {
	if observer == nil {
		return nil
	}
	queue := &eventQueue{observer: observer}
	queue.changed = sync.NewCond(&queue.mutex)
	go queue.run()
	return queue
}

func (q *eventQueue) run() {
	for {
		q.mutex.Lock()
		for len(q.events) == 0 && !q.ended {
			q.changed.Wait()
		}
		events := q.events
		q.events = nil
		q.mutex.Unlock()
		if len(events) == 0 {
			return
		}
		for _, event := range events {
			q.observer(event)
		}
	}
}

func (q *eventQueue) put(event LeaseEvent) {
	q.mutex.Lock()
	q.events = append(q.events, event)
	q.mutex.Unlock()
	q.changed.Signal()
}

// end ends the queue after the library's last call. Events until then are still delivered.
func (q *eventQueue) end() {
	if q == nil {
		return
	}
	q.once.Do(func() {
		if q.released != nil {
			q.released()
		}
		q.mutex.Lock()
		q.ended = true
		q.mutex.Unlock()
		q.changed.Signal()
	})
}
