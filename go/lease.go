package flakeid

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"runtime/cgo"
	"sync"
	"time"
	"unsafe"
)

// OpenLease leases a node from the store at url and returns a generator for it, whose IDs are unique among all
// processes that lease from the same namespace. The url is sqlite:///path, postgresql://..., mysql://...,
// redis://..., etcd://..., or http://... of a broker. If the url is empty, the environment variables FLAKEID_STORE
// and FLAKEID_NAMESPACE apply; without these variables, the store is a file for this user on this host.
//
// A library thread renews the lease. Generators of one process with equal options share one lease. Close releases the
// node. If the process ends without Close, the node is free after the TTL.
//
// OpenLease waits for at most the time of WithMaxWait plus 2 s. If ctx ends first, OpenLease returns the context's
// error immediately, and releases a lease that is granted later.
func OpenLease(ctx context.Context, url string, options ...LeaseOption) (*Generator, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("flakeid: no lease was requested: %w", err)
	}
	var s settings
	for _, option := range options {
		option.setLease(&s)
	}
	if err := checkNul("url", url); err != nil {
		return nil, err
	}
	byName, err := s.handle()
	if err != nil {
		return nil, err
	}
	type opened struct {
		generator *Generator
		err       error
	}
	done := make(chan opened, 1)
	go func() {
		generator, err := openLease(url, byName, s.observer)
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

func openLease(url string, options *C.flakeid_options, observer func(LeaseEvent)) (*Generator, error) {
	defer C.flakeid_options_free(options)
	var store *C.char
	if url != "" {
		store = C.CString(url)
		defer C.free(unsafe.Pointer(store))
	}
	events := newEventQueue(observer)
	var handle *C.flakeid_generator
	err := failure(C.open_lease(store, options, events.handle(), &handle))
	if err != nil {
		events.end()
		return nil, err
	}
	return newGenerator(handle, events)
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
	status := C.no_lease_status()
	err := failure(C.lease_of(g.handle, &status))
	runtime.KeepAlive(g)
	if err != nil {
		return LeaseStatus{}, err
	}
	return LeaseStatus{
		FencedOff: status.fenced_off != 0, Start: uint64(status.start), Fence: uint64(status.fence),
		FenceTime: moment(status.fence_unix_ms), Expires: moment(status.expires_unix_ms),
		ExpiresIn: time.Duration(status.expires_in_ms) * time.Millisecond,
		Renewals:  uint64(status.renewals), Grants: uint64(status.grants), Failures: uint64(status.failures),
		LastError: codeOf(status.last_error),
	}, nil
}

func codeOf(status C.flakeid_status) error {
	if status == C.FLAKEID_OK {
		return nil
	}
	return Code(status)
}

// EventKind is the kind of a lease event. Later releases may add kinds.
type EventKind int32

// The kinds of events. After LeaseFencedOff, the generator requests a node again, unless another process has taken over
// its fixed node. After LeaseStoreLost, the generator continues to issue IDs until the fence.
const (
	LeaseAcquired   EventKind = C.FLAKEID_LEASE_ACQUIRED    // a node was granted
	LeaseRenewed    EventKind = C.FLAKEID_LEASE_RENEWED     // the fence was raised
	LeaseFencedOff  EventKind = C.FLAKEID_LEASE_FENCED_OFF  // the node is lost from its fence onward
	LeaseRefused    EventKind = C.FLAKEID_LEASE_REFUSED     // the store refused a request
	LeaseStoreLost  EventKind = C.FLAKEID_LEASE_STORE_LOST  // the store does not respond
	LeaseStoreFound EventKind = C.FLAKEID_LEASE_STORE_FOUND // the store responds again
	LeaseClockSkew  EventKind = C.FLAKEID_LEASE_CLOCK_SKEW  // the clocks of host and store are too far apart
	LeaseReleased   EventKind = C.FLAKEID_LEASE_RELEASED    // the node was released
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
	self     cgo.Handle
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
	queue.self = cgo.NewHandle(queue)
	go queue.run()
	return queue
}

// handle returns the value that the library passes with each event.
func (q *eventQueue) handle() C.uintptr_t {
	if q == nil {
		return 0
	}
	return C.uintptr_t(q.self)
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
		q.self.Delete()
		q.mutex.Lock()
		q.ended = true
		q.mutex.Unlock()
		q.changed.Signal()
	})
}

//export flakeidGoEvent
func flakeidGoEvent(event *C.flakeid_lease_event, observer C.uintptr_t) {
	told := LeaseEvent{
		Kind: EventKind(event.kind), Node: uint64(event.node),
		Start: uint64(event.start), Fence: uint64(event.fence),
	}
	if event.status != C.FLAKEID_OK {
		told.Err = refused(Code(event.status), "", "%s", C.GoString(event.message))
	}
	cgo.Handle(observer).Value().(*eventQueue).put(told)
}
