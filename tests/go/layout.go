package flakeid

/*
#include <stdlib.h>
#include <flakeid.h>

static flakeid_layout_info no_figures(void) {
    flakeid_layout_info value = FLAKEID_LAYOUT_INFO_INIT;
    return value;
}

typedef flakeid_status (*encode)(uint64_t, char *, size_t);
typedef flakeid_status (*decode)(const char *, uint64_t *);

static const encode encodes[] = {flakeid_to_decimal, flakeid_to_base32, flakeid_to_base36,
                                 flakeid_to_base58,  flakeid_to_base62, flakeid_to_hex};
static const decode decodes[] = {flakeid_from_decimal, flakeid_from_base32, flakeid_from_base36,
                                 flakeid_from_base58,  flakeid_from_base62, flakeid_from_hex};

static flakeid_status to_text(int form, uint64_t id, char *buffer, size_t size) {
    return encodes[form](id, buffer, size);
}

static flakeid_status from_text(int form, const char *text, uint64_t *id) {
    return decodes[form](text, id);
}
*/
import "C"

import "unsafe"

// Forms are the names of the text forms, in the order of their numbers here.
var Forms = []string{"decimal", "base32", "base36", "base58", "base62", "hex"}

// Parts of an ID.
type Parts struct {
	Tick                                              uint64
	UnixMs                                            int64
	Node, Datacenter, Worker, ClockSequence, Sequence uint64
	Split                                             bool
}

// with runs a call that takes a string.
func with(text string, function func(*C.char) C.flakeid_status) error {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return call(func() C.flakeid_status { return function(c) })
}

// Presets are the names of all presets.
func Presets() (names []string) {
	for index := C.size_t(0); index < C.flakeid_preset_count(); index++ {
		names = append(names, C.GoString(C.flakeid_preset_name(index)))
	}
	return
}

func Descriptor(layout string) (string, error) {
	var buffer [C.FLAKEID_DESCRIPTOR_SIZE]C.char
	err := with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_layout_descriptor(c, &buffer[0], C.size_t(len(buffer)))
	})
	return C.GoString(&buffer[0]), err
}

// Figures are some of a layout's.
type Figures struct {
	Width                                     uint32
	MaxTick, MaxNode, MaxSequence, IDsPerTick uint64
	Horizon, FitsI64Until, Epoch              int64
	Split, Generates                          bool
}

func Info(layout string) (Figures, error) {
	info := C.no_figures()
	err := with(layout, func(c *C.char) C.flakeid_status { return C.flakeid_layout_get_info(c, &info) })
	return Figures{
		uint32(info.width),
		uint64(info.max_tick), uint64(info.max_node), uint64(info.max_sequence), uint64(info.ids_per_tick),
		int64(info.horizon), int64(info.fits_i64_until), int64(info.epoch),
		info.is_split != 0, info.can_generate != 0,
	}, err
}

func Decode(layout string, id uint64) (Parts, error) {
	var p C.flakeid_parts
	err := with(layout, func(c *C.char) C.flakeid_status { return C.flakeid_decode(c, C.uint64_t(id), &p) })
	return Parts{
		uint64(p.tick), int64(p.unix_ms),
		uint64(p.node), uint64(p.datacenter), uint64(p.worker), uint64(p.clock_sequence), uint64(p.sequence),
		p.has == C.FLAKEID_HAS_DATACENTER|C.FLAKEID_HAS_WORKER,
	}, err
}

func Pack(layout string, parts Parts) (id uint64, err error) {
	p := C.flakeid_parts{
		tick: C.uint64_t(parts.Tick), unix_ms: C.int64_t(parts.UnixMs), node: C.uint64_t(parts.Node),
		datacenter: C.uint64_t(parts.Datacenter), worker: C.uint64_t(parts.Worker),
		clock_sequence: C.uint64_t(parts.ClockSequence), sequence: C.uint64_t(parts.Sequence),
	}
	if parts.Split {
		p.has = C.FLAKEID_HAS_DATACENTER | C.FLAKEID_HAS_WORKER
	}
	err = with(layout, func(c *C.char) C.flakeid_status { return C.flakeid_pack(c, &p, (*C.uint64_t)(&id)) })
	return
}

func JoinNode(layout string, datacenter, worker uint64) (node uint64, err error) {
	err = with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_join_node(c, C.uint64_t(datacenter), C.uint64_t(worker), (*C.uint64_t)(&node))
	})
	return
}

func UnixMsAt(layout string, tick uint64) (ms int64, err error) {
	err = with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_unix_ms_at(c, C.uint64_t(tick), (*C.int64_t)(&ms))
	})
	return
}

func Timestamp(layout string, ms int64) (string, error) {
	var buffer [C.FLAKEID_TIMESTAMP_SIZE]C.char
	err := with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_timestamp(c, C.int64_t(ms), &buffer[0], C.size_t(len(buffer)))
	})
	return C.GoString(&buffer[0]), err
}

func LowerBound(layout string, ms int64) (id uint64, err error) {
	err = with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_lower_bound(c, C.int64_t(ms), (*C.uint64_t)(&id))
	})
	return
}

func UpperBound(layout string, ms int64) (id uint64, err error) {
	err = with(layout, func(c *C.char) C.flakeid_status {
		return C.flakeid_upper_bound(c, C.int64_t(ms), (*C.uint64_t)(&id))
	})
	return
}

func ToText(form int, id uint64) (string, error) {
	var buffer [C.FLAKEID_TEXT_SIZE]C.char
	err := call(func() C.flakeid_status {
		return C.to_text(C.int(form), C.uint64_t(id), &buffer[0], C.size_t(len(buffer)))
	})
	return C.GoString(&buffer[0]), err
}

func FromText(form int, text string) (id uint64, err error) {
	err = with(text, func(c *C.char) C.flakeid_status {
		return C.from_text(C.int(form), c, (*C.uint64_t)(&id))
	})
	return
}

func ToBytes(id uint64) (bytes [8]byte, err error) {
	err = call(func() C.flakeid_status {
		return C.flakeid_to_bytes(C.uint64_t(id), (*C.uint8_t)(&bytes[0]), 8)
	})
	return
}

func FromBytes(bytes []byte) (id uint64, err error) {
	err = call(func() C.flakeid_status {
		return C.flakeid_from_bytes((*C.uint8_t)(&bytes[0]), C.size_t(len(bytes)), (*C.uint64_t)(&id))
	})
	return
}
