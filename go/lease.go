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
)

// OpenLease leases a node from the store at url and makes a generator of it: unique among all processes
// that lease from the same namespace. The url is sqlite:///path, postgresql://..., mysql://...,
// redis://..., etcd://..., or that of a broker, http://...; if it is empty, the environment's
// FLAKEID_STORE and FLAKEID_NAMESPACE say, and otherwise a file of this user on this host is the store.
//
// A thread of the library renews the lease. Generators of one process with equal options share one.
// Close gives the node back; if the process ends without that, the node is free after the TTL.
//
// It waits at most as long as WithMaxWait says, plus 2 s. If ctx ends before, it returns the context's
// error at once; a lease that comes about nevertheless is given back.
func OpenLease(ctx context.Context, url string, options ...LeaseOption) (*Generator, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("flakeid: no lease was asked for: %w", err)
	}
	settings := newLeaseSettings(options)
	var store *C.char
	if url != "" {
		settings.text(&store, "url", url)
	}
	if settings.err != nil {
		settings.free()
		return nil, settings.err
	}
	type opened struct {
		generator *Generator
		err       error
	}
	done := make(chan opened, 1)
	go func() {
		generator, err := openLease(store, settings)
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
		return nil, fmt.Errorf("flakeid: no lease was granted so far: %w", ctx.Err())
	}
}

func openLease(store *C.char, settings *leaseSettings) (*Generator, error) {
	defer settings.free()
	events := newEventQueue(settings.observer)
	var handle *C.flakeid_generator
	err := failure(C.open_lease(store, settings.config, events.handle(), &handle))
	if err != nil {
		events.end()
		return nil, err
	}
	return newGenerator(handle, events)
}

// LeaseStatus is the state of a lease.
type LeaseStatus struct {
	// FencedOff says whether the node belongs to another process from the fence on.
	FencedOff bool
	// Start is the first tick of the present grant, and Fence the first that may not be used, which
	// every renewal moves up. IDs go on until FenceTime, when it begins, while the store is away.
	Start, Fence uint64
	FenceTime    time.Time
	// Expires is until when no other process can have the node, by the store's clock, and ExpiresIn how
	// far in the future that is by this host's; negative if it is past.
	Expires   time.Time
	ExpiresIn time.Duration
	// Renewals is how many renewals the store confirmed, Grants how many nodes were granted so far, and
	// Failures how many attempts to acquire or renew failed.
	Renewals, Grants, Failures uint64
	// LastError is why the latest attempt failed, a Code; nil if it succeeded.
	LastError error
}

// Lease is the state of the generator's lease. It is ErrInvalidOption for a generator of New.
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

// EventKind says what happened to a lease. Later releases may add kinds.
type EventKind int32

// The kinds of events. After LeaseFencedOff another node is taken; after LeaseStoreLost IDs go on until
// the fence.
const (
	LeaseAcquired   EventKind = C.FLAKEID_LEASE_ACQUIRED    // a node was granted
	LeaseRenewed    EventKind = C.FLAKEID_LEASE_RENEWED     // the fence was moved up
	LeaseFencedOff  EventKind = C.FLAKEID_LEASE_FENCED_OFF  // another process has the node from the fence on
	LeaseRefused    EventKind = C.FLAKEID_LEASE_REFUSED     // the store refused a request
	LeaseStoreLost  EventKind = C.FLAKEID_LEASE_STORE_LOST  // the store does not answer
	LeaseStoreFound EventKind = C.FLAKEID_LEASE_STORE_FOUND // the store answers again
	LeaseClockSkew  EventKind = C.FLAKEID_LEASE_CLOCK_SKEW  // the clocks of host and store are too far apart
	LeaseReleased   EventKind = C.FLAKEID_LEASE_RELEASED    // the node was given back
)

// LeaseEvent is what happened to a lease.
type LeaseEvent struct {
	Kind EventKind
	// Node was acquired, renewed, lost or released; otherwise 0.
	Node uint64
	// Start is the first tick that may be used, of a node that was acquired; otherwise 0.
	Start uint64
	// Fence is the first tick that may not be used, of a node that was acquired or renewed; otherwise 0.
	Fence uint64
	// Err is what went wrong, an *Error, or nil.
	Err error
}

// eventQueue hands events to a program's function, on a goroutine, so that the function may do anything,
// Close included, and keeps no thread of the library. A nil queue has no function.
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

// handle is what the library gives back with each event.
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

// end may be called once the library calls no more. What has happened until then is still handed over.
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
