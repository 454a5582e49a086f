// Package flakeid is the C library as a Go program sees it: just enough of it for the tests.
package flakeid

/*
#cgo pkg-config: flakeid
#include <stdlib.h>
#include <flakeid.h>

static flakeid_config no_options(void) {
    flakeid_config value = FLAKEID_CONFIG_INIT;
    return value;
}
static flakeid_lease_config no_lease_options(void) {
    flakeid_lease_config value = FLAKEID_LEASE_CONFIG_INIT;
    return value;
}
static flakeid_stats no_stats(void) {
    flakeid_stats value = FLAKEID_STATS_INIT;
    return value;
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Error is a call that failed.
type Error struct {
	Status                        int32
	Code, Message, Field          string
	RetryAfterMs, ByMs, HorizonMs int64
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// call runs a function of the library. The last error belongs to a thread of the operating system,
// from which a goroutine may be moved between two calls.
func call(function func() C.flakeid_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := function()
	if status == C.FLAKEID_OK {
		return nil
	}
	failed := &Error{
		Status:       int32(status),
		Code:         C.GoString(C.flakeid_status_code(status)),
		Message:      C.GoString(C.flakeid_last_error()),
		RetryAfterMs: int64(C.flakeid_retry_after_ms()),
		ByMs:         int64(C.flakeid_rollback_ms()),
		HorizonMs:    int64(C.flakeid_horizon_ms()),
	}
	if field := C.flakeid_last_error_field(); field != nil {
		failed.Field = C.GoString(field)
	}
	return failed
}

// StatusCode and StatusMessage are the error table.
func StatusCode(status int32) string {
	return C.GoString(C.flakeid_status_code(C.flakeid_status(status)))
}
func StatusMessage(status int32) string {
	return C.GoString(C.flakeid_status_message(C.flakeid_status(status)))
}

// Options of a generator; nil is the default.
type Options struct {
	Layout                              string
	Node, Datacenter, Worker            *uint64
	SequenceMask, MaxAheadMs, MaxWaitMs *uint64
	Overflow, Rollback                  int32
	Clock                               *ManualClock
	Window                              *[2]uint64
}

// Generator makes IDs.
type Generator struct{ handle *C.flakeid_generator }

// NewGenerator makes a generator, to be freed.
func NewGenerator(options Options) (*Generator, error) {
	config := C.no_options()
	layout := C.CString(options.Layout)
	defer C.free(unsafe.Pointer(layout))
	if options.Layout != "" {
		config.layout = layout
	}
	set := func(flag C.uint32_t, field *C.uint64_t, value *uint64) {
		if value != nil {
			config.has |= flag
			*field = C.uint64_t(*value)
		}
	}
	set(C.FLAKEID_HAS_NODE, &config.node, options.Node)
	set(C.FLAKEID_HAS_DATACENTER, &config.datacenter, options.Datacenter)
	set(C.FLAKEID_HAS_WORKER, &config.worker, options.Worker)
	set(C.FLAKEID_HAS_SEQUENCE_MASK, &config.sequence_mask, options.SequenceMask)
	set(C.FLAKEID_HAS_MAX_AHEAD, &config.max_ahead_ms, options.MaxAheadMs)
	set(C.FLAKEID_HAS_MAX_WAIT, &config.max_wait_ms, options.MaxWaitMs)
	config.overflow = C.int32_t(options.Overflow)
	config.rollback = C.int32_t(options.Rollback)
	if options.Clock != nil {
		config.clock = options.Clock.handle
	}
	if options.Window != nil {
		config.has |= C.FLAKEID_HAS_WINDOW
		config.window_start = C.uint64_t(options.Window[0])
		config.window_fence = C.uint64_t(options.Window[1])
	}
	made := &Generator{}
	err := call(func() C.flakeid_status { return C.flakeid_generator_new(&config, &made.handle) })
	return made, err
}

// Open leases a node of that namespace, to be freed.
func Open(url, namespace string) (*Generator, error) {
	config := C.no_lease_options()
	config.namespace_name = C.CString(namespace)
	defer C.free(unsafe.Pointer(config.namespace_name))
	store := C.CString(url)
	defer C.free(unsafe.Pointer(store))
	made := &Generator{}
	err := call(func() C.flakeid_status { return C.flakeid_generator_open(store, &config, &made.handle) })
	return made, err
}

func (g *Generator) Free() { C.flakeid_generator_free(g.handle) }

func (g *Generator) NextID() (id uint64, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_generator_next(g.handle, (*C.uint64_t)(&id)) })
	return
}

func (g *Generator) TryNextID() (id uint64, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_generator_try_next(g.handle, (*C.uint64_t)(&id)) })
	return
}

func first(ids []uint64) *C.uint64_t {
	if len(ids) == 0 {
		return nil
	}
	return (*C.uint64_t)(&ids[0])
}

func (g *Generator) Fill(ids []uint64) (int, error) {
	var count C.size_t
	err := call(func() C.flakeid_status {
		return C.flakeid_generator_fill(g.handle, first(ids), C.size_t(len(ids)), &count)
	})
	return int(count), err
}

func (g *Generator) TryFill(ids []uint64) (int, error) {
	var count C.size_t
	err := call(func() C.flakeid_status {
		return C.flakeid_generator_try_fill(g.handle, first(ids), C.size_t(len(ids)), &count)
	})
	return int(count), err
}

func (g *Generator) Extend(fence uint64) error {
	return call(func() C.flakeid_status { return C.flakeid_generator_extend(g.handle, C.uint64_t(fence)) })
}

// Retire returns the last tick, and whether there was one.
func (g *Generator) Retire() (tick uint64, issued bool, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_generator_retire(g.handle, (*C.uint64_t)(&tick)) })
	return tick, tick != C.FLAKEID_NO_TICK, err
}

// Stats are waits, rollbacks and the largest ahead.
func (g *Generator) Stats() (waits, rollbacks, ahead uint64, err error) {
	stats := C.no_stats()
	err = call(func() C.flakeid_status { return C.flakeid_generator_stats(g.handle, &stats) })
	return uint64(stats.waits), uint64(stats.rollbacks), uint64(stats.largest_ahead), err
}

// Local is a generator's handle for one goroutine at a time.
type Local struct{ handle *C.flakeid_local }

// Local makes a handle, to be freed.
func (g *Generator) Local() (*Local, error) {
	made := &Local{}
	err := call(func() C.flakeid_status { return C.flakeid_local_open(g.handle, &made.handle) })
	return made, err
}

func (l *Local) Free() { C.flakeid_local_free(l.handle) }

func (l *Local) NextID() (id uint64, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_local_next(l.handle, (*C.uint64_t)(&id)) })
	return
}

// Cached is a ring of IDs made beforehand.
type Cached struct{ handle *C.flakeid_cached }

// Cached makes a ring with the default options, to be freed.
func (g *Generator) Cached() (*Cached, error) {
	made := &Cached{}
	err := call(func() C.flakeid_status { return C.flakeid_cached_open(g.handle, nil, &made.handle) })
	return made, err
}

func (c *Cached) Free() { C.flakeid_cached_free(c.handle) }

func (c *Cached) NextID() (id uint64, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_cached_next(c.handle, (*C.uint64_t)(&id)) })
	return
}

// ManualClock is a clock for tests.
type ManualClock struct{ handle *C.flakeid_manual_clock }

func NewManualClock(ms int64) (*ManualClock, error) {
	made := &ManualClock{}
	err := call(func() C.flakeid_status { return C.flakeid_manual_clock_new(C.int64_t(ms), &made.handle) })
	return made, err
}

func (c *ManualClock) Free() { C.flakeid_manual_clock_free(c.handle) }

func (c *ManualClock) Set(ms int64) error {
	return call(func() C.flakeid_status { return C.flakeid_manual_clock_set(c.handle, C.int64_t(ms)) })
}

func (c *ManualClock) Now() (ms int64, err error) {
	err = call(func() C.flakeid_status { return C.flakeid_manual_clock_get(c.handle, (*C.int64_t)(&ms)) })
	return
}
