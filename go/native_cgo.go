//go:build cgo && !flakeid_pure && (flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid

// #if !__has_include(<flakeid.h>)
// #error flakeid.h is missing: run `cargo xtask go` in the checkout of flakeid
// #endif
// #include "shim.h"
import "C"

import (
	"context"
	"runtime/cgo"
	"sync/atomic"
	"time"
	"unsafe"
)

// This file calls the C library. Without cgo, pure_library.go and pure_generator.go have the same functions.

// The codes, behaviours and kinds of events are numbers that both files share. These arrays have no valid length if a
// number differs from the library's.
var (
	_ = [1]struct{}{}[ErrInvalidLayout-C.FLAKEID_INVALID_LAYOUT]
	_ = [1]struct{}{}[ErrFieldOutOfRange-C.FLAKEID_FIELD_OUT_OF_RANGE]
	_ = [1]struct{}{}[ErrInvalidID-C.FLAKEID_INVALID_ID]
	_ = [1]struct{}{}[ErrInvalidOption-C.FLAKEID_INVALID_OPTION]
	_ = [1]struct{}{}[ErrClockRollback-C.FLAKEID_CLOCK_ROLLBACK]
	_ = [1]struct{}{}[ErrSequenceExhausted-C.FLAKEID_SEQUENCE_EXHAUSTED]
	_ = [1]struct{}{}[ErrHorizonReached-C.FLAKEID_HORIZON_REACHED]
	_ = [1]struct{}{}[ErrBeforeEpoch-C.FLAKEID_BEFORE_EPOCH]
	_ = [1]struct{}{}[ErrClosed-C.FLAKEID_CLOSED]
	_ = [1]struct{}{}[ErrForked-C.FLAKEID_FORKED]
	_ = [1]struct{}{}[ErrRingEmpty-C.FLAKEID_RING_EMPTY]
	_ = [1]struct{}{}[ErrLeaseExpired-C.FLAKEID_LEASE_EXPIRED]
	_ = [1]struct{}{}[ErrNoFreeNode-C.FLAKEID_NO_FREE_NODE]
	_ = [1]struct{}{}[ErrClockSkew-C.FLAKEID_CLOCK_SKEW]
	_ = [1]struct{}{}[ErrFenceInFuture-C.FLAKEID_FENCE_IN_FUTURE]
	_ = [1]struct{}{}[ErrStoreUnavailable-C.FLAKEID_STORE_UNAVAILABLE]
	_ = [1]struct{}{}[ErrStoreRejected-C.FLAKEID_STORE_REJECTED]
	_ = [1]struct{}{}[ErrNullArgument-C.FLAKEID_NULL_ARGUMENT]
	_ = [1]struct{}{}[bufferTooSmall-C.FLAKEID_BUFFER_TOO_SMALL]
	_ = [1]struct{}{}[ErrPanic-C.FLAKEID_PANIC]
	_ = [1]struct{}{}[LeaseAcquired-C.FLAKEID_LEASE_ACQUIRED]
	_ = [1]struct{}{}[LeaseReleased-C.FLAKEID_LEASE_RELEASED]
)

func libraryVersion() string { return C.GoString(C.flakeid_version()) }

func statusCode(code Code) string { return C.GoString(C.flakeid_status_code(C.flakeid_status(code))) }

func statusMessage(code Code) string {
	return C.GoString(C.flakeid_status_message(C.flakeid_status(code)))
}

// failure converts the error that the shim reports.
func failure(failed *C.failure) error {
	if failed == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(failed))
	made := &Error{
		Code:       Code(failed.status),
		Message:    C.GoString(C.message_of(failed)),
		RetryAfter: duration(int64(failed.retry_after_ms)),
		Rollback:   duration(int64(failed.rollback_ms)),
	}
	if failed.field != nil {
		made.Field = C.GoString(failed.field)
	}
	if failed.horizon_ms >= 0 {
		made.Horizon = moment(int64(failed.horizon_ms))
	}
	return made
}

func numberOf(made C.result) (uint64, error) { return uint64(made.value), failure(made.failed) }

func idOf(made C.result) (ID, error) { return ID(made.value), failure(made.failed) }

// cString copies a string for the library; nil becomes NULL.
func cString(text *string) (c *C.char, free func()) {
	if text == nil {
		return nil, func() {}
	}
	c = C.CString(*text)
	return c, func() { C.free(unsafe.Pointer(c)) }
}

func toText(form Form, id ID) (string, error) {
	var buffer [C.FLAKEID_TEXT_SIZE]C.char
	err := failure(C.to_text(C.int(form), C.uint64_t(id), &buffer[0], C.size_t(len(buffer))))
	return C.GoString(&buffer[0]), err
}

func fromText(form Form, text string) (ID, error) {
	c, free := cString(&text)
	defer free()
	return idOf(C.from_text(C.int(form), c))
}

func fromBytes(bytes []byte) (ID, error) {
	first := new(byte) // NULL would cause another error
	if len(bytes) > 0 {
		first = &bytes[0]
	}
	return idOf(C.from_bytes((*C.uint8_t)(first), C.size_t(len(bytes))))
}

// toUUID ignores the status, because the call fails only for a buffer of less than 16 bytes.
func toUUID(id ID) (uuid [16]byte) {
	C.flakeid_to_uuid_bytes(C.uint64_t(id), (*C.uint8_t)(&uuid[0]), C.size_t(len(uuid)))
	return uuid
}

func fromUUID(uuid [16]byte) (ID, error) {
	return idOf(C.from_uuid_bytes((*C.uint8_t)(&uuid[0]), C.size_t(len(uuid))))
}

func descriptorOf(layout *string) (string, error) {
	c, free := cString(layout)
	defer free()
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(C.descriptor(c, &buffer[0], C.size_t(len(buffer))))
	return C.GoString(&buffer[0]), err
}

func presetNames() (names []string) {
	for index := C.size_t(0); index < C.flakeid_preset_count(); index++ {
		names = append(names, C.GoString(C.flakeid_preset_name(index)))
	}
	return names
}

func layoutInfoOf(layout *string) (LayoutInfo, error) {
	c, free := cString(layout)
	defer free()
	info := C.no_layout_info()
	if err := failure(C.layout_info(c, &info)); err != nil {
		return LayoutInfo{}, err
	}
	return LayoutInfo{
		Width: int(info.width), Epoch: moment(int64(info.epoch)), Unit: duration(int64(info.unit_ms)),
		MaxTick: uint64(info.max_tick), MaxNode: uint64(info.max_node),
		MaxDatacenter: uint64(info.max_datacenter), MaxWorker: uint64(info.max_worker),
		MaxClockSequence: uint64(info.max_clock_sequence), MaxSequence: uint64(info.max_sequence),
		IDsPerTick: uint64(info.ids_per_tick), IDsPerSecond: float64(info.ids_per_second),
		Horizon: moment(int64(info.horizon)), FitsInt64Until: moment(int64(info.fits_i64_until)),
		IsSplit: info.is_split != 0, CanGenerate: info.can_generate != 0, FitsFloat64: info.fits_f64 != 0,
	}, nil
}

const splitFlags = C.FLAKEID_HAS_DATACENTER | C.FLAKEID_HAS_WORKER

func partsOf(p C.flakeid_parts) Parts {
	return Parts{
		Tick: uint64(p.tick), Time: moment(int64(p.unix_ms)), Node: uint64(p.node),
		Datacenter: uint64(p.datacenter), Worker: uint64(p.worker), IsSplit: p.has == splitFlags,
		ClockSequence: uint64(p.clock_sequence), Sequence: uint64(p.sequence),
	}
}

func unpack(layout *string, id ID) (Parts, error) {
	c, free := cString(layout)
	defer free()
	var p C.flakeid_parts
	if err := failure(C.decode(c, C.uint64_t(id), &p)); err != nil {
		return Parts{}, err
	}
	return partsOf(p), nil
}

func pack(layout *string, parts Parts) (ID, error) {
	c, free := cString(layout)
	defer free()
	p := C.flakeid_parts{
		tick: C.uint64_t(parts.Tick), unix_ms: C.int64_t(parts.Time.UnixMilli()), node: C.uint64_t(parts.Node),
		datacenter: C.uint64_t(parts.Datacenter), worker: C.uint64_t(parts.Worker),
		clock_sequence: C.uint64_t(parts.ClockSequence), sequence: C.uint64_t(parts.Sequence),
	}
	if parts.IsSplit {
		p.has = splitFlags
	}
	return idOf(C.pack(c, &p))
}

func partsAt(layout *string, unixMs int64) (Parts, error) {
	c, free := cString(layout)
	defer free()
	var p C.flakeid_parts
	if err := failure(C.parts_at(c, C.int64_t(unixMs), &p)); err != nil {
		return Parts{}, err
	}
	return partsOf(p), nil
}

func joinNode(layout *string, datacenter, worker uint64) (uint64, error) {
	c, free := cString(layout)
	defer free()
	return numberOf(C.join_node(c, C.uint64_t(datacenter), C.uint64_t(worker)))
}

func lowerBound(layout *string, unixMs int64) (ID, error) {
	c, free := cString(layout)
	defer free()
	return idOf(C.lower_bound(c, C.int64_t(unixMs)))
}

func upperBound(layout *string, unixMs int64) (ID, error) {
	c, free := cString(layout)
	defer free()
	return idOf(C.upper_bound(c, C.int64_t(unixMs)))
}

func unixMsAt(layout *string, tick uint64) (int64, error) {
	c, free := cString(layout)
	defer free()
	begin := C.unix_ms_at(c, C.uint64_t(tick))
	return int64(begin.value), failure(begin.failed)
}

func timestamp(layout *string, unixMs int64) (string, error) {
	c, free := cString(layout)
	defer free()
	var buffer [C.FLAKEID_TIMESTAMP_SIZE]C.char
	err := failure(C.timestamp(c, C.int64_t(unixMs), &buffer[0], C.size_t(len(buffer))))
	return C.GoString(&buffer[0]), err
}

type nativeClock struct{ c *C.flakeid_manual_clock }

func newClock(unixMs int64) (made nativeClock, err error) {
	err = failure(C.new_clock(C.int64_t(unixMs), &made.c))
	return made, err
}

func (n nativeClock) free() { C.flakeid_manual_clock_free(n.c) }

func (n nativeClock) set(unixMs int64) error { return failure(C.set_clock(n.c, C.int64_t(unixMs))) }

func (n nativeClock) advance(ms uint64) error { return failure(C.advance_clock(n.c, C.uint64_t(ms))) }

func (n nativeClock) now() (int64, error) {
	now := C.clock_now(n.c)
	return int64(now.value), failure(now.failed)
}

type nativePublicIDs struct{ c *C.flakeid_public_ids }

func newPublicIDs(keyring, domain string, options PublicIDOptions) (made nativePublicIDs, err error) {
	key, freeKey := cString(&keyring)
	defer freeKey()
	of, freeDomain := cString(&domain)
	defer freeDomain()
	var prefix *C.char
	if options.Prefix != "" {
		prefix = C.CString(options.Prefix)
		defer C.free(unsafe.Pointer(prefix))
	}
	layout, freeLayout := cString(options.Layout.text())
	defer freeLayout()
	hasSince, since := C.int(0), C.int64_t(0)
	if !options.Since.IsZero() {
		hasSince, since = 1, C.int64_t(options.Since.UnixMilli())
	}
	err = failure(C.new_public_ids(key, of, layout, prefix, hasSince, since, &made.c))
	return made, err
}

func (n nativePublicIDs) free() { C.flakeid_public_ids_free(n.c) }

func (n nativePublicIDs) seal(id ID) (string, error) {
	var buffer [C.FLAKEID_PUBLIC_ID_SIZE]C.char
	err := failure(C.seal(n.c, C.uint64_t(id), &buffer[0], C.size_t(len(buffer))))
	return C.GoString(&buffer[0]), err
}

func (n nativePublicIDs) sealBits(id ID) (uint64, error) {
	return numberOf(C.seal_bits(n.c, C.uint64_t(id)))
}

func (n nativePublicIDs) openAt(text string, unixMs int64) (ID, error) {
	c, free := cString(&text)
	defer free()
	return idOf(C.open_public_at(n.c, c, C.int64_t(unixMs)))
}

// options returns the options in the library's memory, which the caller frees.
func (s *settings) options() (*C.flakeid_options, error) {
	var options *C.flakeid_options
	if err := failure(C.new_options(&options)); err != nil {
		return nil, err
	}
	for _, pair := range s.texts {
		if err := setByName(options, pair[0], pair[1]); err != nil {
			C.flakeid_options_free(options)
			return nil, err
		}
	}
	return options, nil
}

func setByName(options *C.flakeid_options, name, text string) error {
	n, freeName := cString(&name)
	defer freeName()
	t, freeText := cString(&text)
	defer freeText()
	return failure(C.set_option(options, n, t))
}

// nativeGenerator is the library's generator.
type nativeGenerator struct{ c *C.flakeid_generator }

func newFixed(s *settings) (*nativeGenerator, error) {
	options, err := s.options()
	if err != nil {
		return nil, err
	}
	defer C.flakeid_options_free(options)
	var clock *C.flakeid_manual_clock
	if s.clock != nil {
		clock = s.clock.native.c
	}
	made := &nativeGenerator{}
	if err := failure(C.new_generator(options, clock, &made.c)); err != nil {
		return nil, err
	}
	return made, nil
}

// newLeased leases a node from the store at url, or from the store that the environment names if url is nil.
func newLeased(url *string, s *settings, events *eventQueue) (*nativeGenerator, error) {
	options, err := s.options()
	if err != nil {
		return nil, err
	}
	defer C.flakeid_options_free(options)
	store, free := cString(url)
	defer free()
	observer := C.uintptr_t(0)
	if events != nil {
		handle := cgo.NewHandle(events)
		events.released, observer = handle.Delete, C.uintptr_t(handle)
	}
	made := &nativeGenerator{}
	if err := failure(C.open_lease(store, options, observer, &made.c)); err != nil {
		return nil, err
	}
	return made, nil
}

func createNamespace(url, name string, s *settings) (time.Duration, error) {
	options, err := s.options()
	if err != nil {
		return 0, err
	}
	defer C.flakeid_options_free(options)
	u, freeURL := cString(&url)
	defer freeURL()
	n, freeName := cString(&name)
	defer freeName()
	made := C.create_namespace(u, n, options)
	return duration(int64(made.value)), failure(made.failed)
}

// pointer returns the library's generator; NULL for nil, which the library rejects.
func (n *nativeGenerator) pointer() *C.flakeid_generator {
	if n == nil {
		return nil
	}
	return n.c
}

func (n *nativeGenerator) free() { C.flakeid_generator_free(n.pointer()) }

func (n *nativeGenerator) close() error { return failure(C.close_generator(n.pointer())) }

func (n *nativeGenerator) maxWait() (int64, error) {
	ms, err := numberOf(C.max_wait_of(n.pointer()))
	return int64(ms), err
}

// attempt takes an ID without waiting, and does not report the reason for a failure.
func (n *nativeGenerator) attempt() (ID, bool) {
	made := C.attempt_next(C.uintptr_t(uintptr(unsafe.Pointer(n.pointer()))))
	return ID(made.id), made.status == C.FLAKEID_OK
}

func (n *nativeGenerator) tryNext() (ID, error) { return idOf(C.try_next(n.pointer())) }

func (n *nativeGenerator) nextWithin(ctx context.Context, ms uint64) (ID, error) {
	if ctx.Done() == nil {
		return idOf(C.next_within(n.pointer(), C.uint64_t(ms)))
	}
	isOver := new(C.int32_t)
	stop := context.AfterFunc(ctx, func() { atomic.StoreInt32((*int32)(isOver), 1) })
	defer stop()
	return idOf(C.next_until(n.pointer(), C.uint64_t(ms), isOver))
}

// attemptFill is like tryFill, but does not report the reason for a failure.
func (n *nativeGenerator) attemptFill(ids []ID) int {
	var count C.size_t
	C.flakeid_generator_try_fill(n.pointer(), first(ids), C.size_t(len(ids)), &count)
	return int(count)
}

func (n *nativeGenerator) tryFill(ids []ID) (int, error) {
	made := C.try_fill(n.pointer(), first(ids), C.size_t(len(ids)))
	return int(made.count), failure(made.failed)
}

func first(ids []ID) *C.uint64_t {
	if len(ids) == 0 {
		return nil
	}
	return (*C.uint64_t)(unsafe.Pointer(&ids[0]))
}

func (n *nativeGenerator) node() (uint64, error) { return numberOf(C.node_of(n.pointer())) }

func (n *nativeGenerator) nodes(nodes []uint64) (int, error) {
	made := C.nodes_of(n.pointer(), (*C.uint64_t)(unsafe.Pointer(&nodes[0])), C.size_t(len(nodes)))
	return int(made.count), failure(made.failed)
}

func (n *nativeGenerator) layout() (string, error) {
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(C.layout_of(n.pointer(), &buffer[0], C.size_t(len(buffer))))
	return C.GoString(&buffer[0]), err
}

func (n *nativeGenerator) stats() (Stats, error) {
	stats := C.no_stats()
	err := failure(C.stats_of(n.pointer(), &stats))
	return Stats{uint64(stats.waits), uint64(stats.rollbacks), uint64(stats.largest_ahead)}, err
}

func (n *nativeGenerator) extend(fence uint64) error {
	return failure(C.extend(n.pointer(), C.uint64_t(fence)))
}

func (n *nativeGenerator) retire() (lastTick uint64, issued bool, err error) {
	tick, err := numberOf(C.retire(n.pointer()))
	if err != nil || tick == C.FLAKEID_NO_TICK {
		return 0, false, err
	}
	return tick, true, nil
}

func (n *nativeGenerator) lease() (LeaseStatus, error) {
	status := C.no_lease_status()
	if err := failure(C.lease_of(n.pointer(), &status)); err != nil {
		return LeaseStatus{}, err
	}
	return LeaseStatus{
		FencedOff: status.fenced_off != 0, Start: uint64(status.start), Fence: uint64(status.fence),
		FenceTime: moment(int64(status.fence_unix_ms)), Expires: moment(int64(status.expires_unix_ms)),
		ExpiresIn: time.Duration(status.expires_in_ms) * time.Millisecond,
		Renewals:  uint64(status.renewals), Grants: uint64(status.grants), Failures: uint64(status.failures),
		LastError: codeOf(Code(status.last_error)),
	}, nil
}

// expose returns the fast path for the current node, and whether it suffices to take an ID.
func (n *nativeGenerator) expose() (made *fast, suffices bool) {
	exposed := C.not_exposed()
	if failed := failure(C.expose(n.pointer(), &exposed)); failed != nil {
		return nil, false
	}
	return &fast{
		word:  (*atomic.Uint64)(unsafe.Pointer(exposed.word)),
		limit: (*atomic.Uint64)(unsafe.Pointer(exposed.limit)),
		epoch: int64(exposed.epoch), unit: uint64(exposed.unit_ms), span: uint64(exposed.span_ms),
		mask: uint64(exposed.sequence_mask), node: uint64(exposed.node_bits), width: uint8(exposed.width),
		timeShift: uint8(exposed.time_shift), sequenceShift: uint8(exposed.sequence_shift),
	}, exposed.suffices != 0
}

//export flakeidGoEvent
func flakeidGoEvent(event *C.flakeid_lease_event, observer C.uintptr_t) {
	reported := LeaseEvent{
		Kind: EventKind(event.kind), Node: uint64(event.node),
		Start: uint64(event.start), Fence: uint64(event.fence),
	}
	if event.status != C.FLAKEID_OK {
		reported.Err = refused(Code(event.status), "", "%s", C.GoString(event.message))
	}
	cgo.Handle(observer).Value().(*eventQueue).put(reported)
}
