package flakeid

// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// Layout defines the meaning of the bits of an ID. The zero Layout is the default, Twitter's.
type Layout struct{ descriptor string }

// ParseLayout reads the name of a preset, such as "sonyflake", or a descriptor, such as
// "t41.n10.s12@1288834974657/1ms". It returns ErrInvalidLayout for any other string.
func ParseLayout(text string) (Layout, error) {
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(with(text, func(c *C.char) *C.failure {
		return C.descriptor(c, &buffer[0], C.size_t(len(buffer)))
	}))
	return Layout{C.GoString(&buffer[0])}, err
}

// MustParseLayout is like ParseLayout, but panics instead of returning an error. Use it for constant layouts.
func MustParseLayout(text string) Layout {
	layout, err := ParseLayout(text)
	if err != nil {
		panic(err)
	}
	return layout
}

// Presets returns the names of all presets.
func Presets() (names []string) {
	for index := C.size_t(0); index < C.flakeid_preset_count(); index++ {
		names = append(names, C.GoString(C.flakeid_preset_name(index)))
	}
	return names
}

// text returns the layout as a C string for the library, in which NULL means the default.
func (l Layout) text() (layout *C.char, free func()) {
	if l.descriptor == "" {
		return nil, func() {}
	}
	layout = C.CString(l.descriptor)
	return layout, func() { C.free(unsafe.Pointer(layout)) }
}

// String returns the layout's canonical descriptor.
func (l Layout) String() string {
	if l.descriptor != "" {
		return l.descriptor
	}
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := failure(C.descriptor(nil, &buffer[0], C.size_t(len(buffer))))
	return certain(C.GoString(&buffer[0]), err)
}

// MarshalText writes the canonical descriptor.
func (l Layout) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a layout like ParseLayout, for flags and configuration files.
func (l *Layout) UnmarshalText(text []byte) error {
	read, err := ParseLayout(string(text))
	if err == nil {
		*l = read
	}
	return err
}

// LayoutInfo holds the properties of a layout.
type LayoutInfo struct {
	// Width is the number of bits that the layout uses, up to 64.
	Width int
	// Epoch is the start of tick 0, and Unit is the length of a tick.
	Epoch time.Time
	Unit  time.Duration
	// The largest value of each field, or 0 if the layout does not have the field.
	MaxTick, MaxNode, MaxDatacenter, MaxWorker, MaxClockSequence, MaxSequence uint64
	// IDsPerTick and IDsPerSecond are the maximum rates of one node.
	IDsPerTick   uint64
	IDsPerSecond float64
	// Horizon is the time at which the layout's ticks end, and FitsInt64Until the time until which IDs are positive as
	// an int64. Both are exclusive.
	Horizon, FitsInt64Until time.Time
	// IsSplit reports whether the node consists of a datacenter and a worker.
	IsSplit bool
	// CanGenerate reports whether generators can use the layout. Otherwise the layout can only decode IDs.
	CanGenerate bool
	// FitsFloat64 reports whether a float64, and so a JavaScript number, represents every ID exactly.
	FitsFloat64 bool
}

// Info returns the properties of the layout.
func (l Layout) Info() LayoutInfo {
	layout, free := l.text()
	defer free()
	info := C.no_layout_info()
	certain(info, failure(C.layout_info(layout, &info)))
	return LayoutInfo{
		Width: int(info.width), Epoch: moment(info.epoch), Unit: duration(C.int64_t(info.unit_ms)),
		MaxTick: uint64(info.max_tick), MaxNode: uint64(info.max_node),
		MaxDatacenter: uint64(info.max_datacenter), MaxWorker: uint64(info.max_worker),
		MaxClockSequence: uint64(info.max_clock_sequence), MaxSequence: uint64(info.max_sequence),
		IDsPerTick: uint64(info.ids_per_tick), IDsPerSecond: float64(info.ids_per_second),
		Horizon: moment(info.horizon), FitsInt64Until: moment(info.fits_i64_until),
		IsSplit: info.is_split != 0, CanGenerate: info.can_generate != 0, FitsFloat64: info.fits_f64 != 0,
	}
}

// Parts holds the fields of an ID.
type Parts struct {
	// Tick is the number of whole units of time since the layout's epoch.
	Tick uint64
	// Time is the start of the ID's tick. If it is zero, Layout.Pack computes it from Tick.
	Time time.Time
	// Node is the whole machine field. Datacenter and Worker are its two parts if the layout splits the node.
	Node, Datacenter, Worker uint64
	IsSplit                  bool
	ClockSequence, Sequence  uint64
}

const splitFlags = C.FLAKEID_HAS_DATACENTER | C.FLAKEID_HAS_WORKER

func partsOf(p C.flakeid_parts) Parts {
	return Parts{
		Tick: uint64(p.tick), Time: moment(p.unix_ms), Node: uint64(p.node),
		Datacenter: uint64(p.datacenter), Worker: uint64(p.worker), IsSplit: p.has == splitFlags,
		ClockSequence: uint64(p.clock_sequence), Sequence: uint64(p.sequence),
	}
}

// Decode returns the parts of an ID. It returns ErrInvalidID if the ID has bits that the layout never sets.
func (l Layout) Decode(id ID) (Parts, error) {
	layout, free := l.text()
	defer free()
	var p C.flakeid_parts
	if err := failure(C.decode(layout, C.uint64_t(id), &p)); err != nil {
		return Parts{}, err
	}
	return partsOf(p), nil
}

// Pack packs parts into an ID. It returns ErrFieldOutOfRange for a part that does not fit, ErrInvalidOption for parts
// that contradict each other, and ErrBeforeEpoch or ErrHorizonReached for a time outside the layout's range.
func (l Layout) Pack(parts Parts) (ID, error) {
	layout, free := l.text()
	defer free()
	p := C.flakeid_parts{
		tick: C.uint64_t(parts.Tick), unix_ms: C.int64_t(parts.Time.UnixMilli()), node: C.uint64_t(parts.Node),
		datacenter: C.uint64_t(parts.Datacenter), worker: C.uint64_t(parts.Worker),
		clock_sequence: C.uint64_t(parts.ClockSequence), sequence: C.uint64_t(parts.Sequence),
	}
	if parts.Time.IsZero() {
		begin := C.unix_ms_at(layout, p.tick)
		if err := failure(begin.failed); err != nil {
			return 0, err
		}
		p.unix_ms = begin.value
	}
	if parts.IsSplit {
		p.has = splitFlags
	}
	return idOf(C.pack(layout, &p))
}

// PartsAt returns parts for Pack: the tick of an instant, with all other fields zero.
func (l Layout) PartsAt(when time.Time) (Parts, error) {
	layout, free := l.text()
	defer free()
	var p C.flakeid_parts
	if err := failure(C.parts_at(layout, C.int64_t(when.UnixMilli()), &p)); err != nil {
		return Parts{}, err
	}
	return partsOf(p), nil
}

// JoinNode returns the node of a datacenter and a worker.
func (l Layout) JoinNode(datacenter, worker uint64) (uint64, error) {
	layout, free := l.text()
	defer free()
	return numberOf(C.join_node(layout, C.uint64_t(datacenter), C.uint64_t(worker)))
}

// LowerBound returns the smallest ID in the tick that contains the instant, for range scans (id >= lower). Instants
// outside the layout's range are clamped to that range.
func (l Layout) LowerBound(when time.Time) ID {
	layout, free := l.text()
	defer free()
	return certain(idOf(C.lower_bound(layout, C.int64_t(when.UnixMilli()))))
}

// UpperBound returns the largest ID in the tick that contains the instant, for range scans (id <= upper). Instants
// outside the layout's range are clamped to that range.
func (l Layout) UpperBound(when time.Time) ID {
	layout, free := l.text()
	defer free()
	return certain(idOf(C.upper_bound(layout, C.int64_t(when.UnixMilli()))))
}

// TickStart returns the start of a tick, or the horizon for ticks past the last one.
func (l Layout) TickStart(tick uint64) time.Time {
	layout, free := l.text()
	defer free()
	begin := C.unix_ms_at(layout, C.uint64_t(tick))
	return moment(certain(begin.value, failure(begin.failed)))
}

// Timestamp formats an instant in UTC as in RFC 3339, with the precision of the layout.
func (l Layout) Timestamp(when time.Time) string {
	layout, free := l.text()
	defer free()
	var buffer [C.FLAKEID_TIMESTAMP_SIZE]C.char
	err := failure(C.timestamp(layout, C.int64_t(when.UnixMilli()), &buffer[0], C.size_t(len(buffer))))
	return certain(C.GoString(&buffer[0]), err)
}

// certain panics on an error, because its callers' calls fail only for an invalid layout, and a Layout is always
// valid.
func certain[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
