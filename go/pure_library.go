//go:build !cgo || flakeid_pure || !(flakeid_shared || flakeid_static || (linux && (amd64 || arm64)))

package flakeid

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/flakeid/flakeid/go/internal/core"
)

// If this name is undefined, the translation is missing: run `cargo xtask go` in the checkout of flakeid.
const _ = core.RunCargoXtaskGo

// This file calls the library translated to Go, in internal/core. With cgo, native_cgo.go has the same functions.
//
// The translation comes from WebAssembly: its addresses are positions in an instance's memory, and only one goroutine
// at a time can use an instance.

// address is the position of an object in an instance's memory.
type address = int32

// pureLibrary is an instance of the library.
type pureLibrary struct {
	mutex  sync.Mutex
	module *core.Module
	// arena is memory for the arguments and results of one call, of which used bytes are in use. Larger arguments are in
	// large and are freed after the call.
	arena address
	used  int
	large []block
}

type block struct {
	at   address
	size int
}

const arenaSize = 4096

// randomness is the library's source of random numbers.
type randomness struct{ of *pureLibrary }

func (r randomness) Xrandom(at, size address) {
	if _, err := rand.Read(r.of.memory()[at : at+size]); err != nil {
		panic("flakeid: the system has no random numbers: " + err.Error())
	}
}

func newLibrary() *pureLibrary {
	made := &pureLibrary{}
	made.module = core.New(randomness{made})
	made.arena = made.module.Xflakeid_host_allocate(arenaSize)
	return made
}

var (
	// stateful has the generators and manual clocks of the process, so that generators of one node share their word.
	stateful     *pureLibrary
	statefulOnce sync.Once
	// stateless are instances for calls that leave nothing in the memory.
	stateless = sync.Pool{New: func() any { return newLibrary() }}
)

func statefulLibrary() *pureLibrary {
	statefulOnce.Do(func() { stateful = newLibrary() })
	return stateful
}

func (l *pureLibrary) memory() []byte { return *l.module.Xmemory().Slice() }

// call makes calls to the instance that belong together. It returns the error of the last call.
func (l *pureLibrary) call(calls func() error) (err error) {
	l.mutex.Lock()
	defer func() {
		if cause := recover(); cause != nil {
			err = refused(ErrPanic, "", "internal error: %v; please report it", cause)
		}
		for _, block := range l.large {
			l.module.Xflakeid_host_free(block.at, address(block.size))
		}
		l.used, l.large = 0, l.large[:0]
		l.mutex.Unlock()
	}()
	return calls()
}

// once makes a call that leaves nothing in the memory, and returns its status as an error.
func once(call func(*pureLibrary) int32) error {
	library := stateless.Get().(*pureLibrary)
	defer stateless.Put(library)
	return library.call(func() error { return library.failure(call(library)) })
}

// room returns memory of zeros for one call.
func (l *pureLibrary) room(size int) address {
	size = (size + 7) &^ 7
	var at address
	if l.used+size <= arenaSize {
		at = l.arena + address(l.used)
		l.used += size
	} else {
		at = l.module.Xflakeid_host_allocate(address(size))
		if at == 0 {
			panic("flakeid: the library has no memory left")
		}
		l.large = append(l.large, block{at, size})
	}
	bytes := l.memory()[at : int(at)+size]
	for index := range bytes {
		bytes[index] = 0
	}
	return at
}

// bytes copies bytes to the memory for one call.
func (l *pureLibrary) bytes(from []byte) address {
	at := l.room(len(from) + 1)
	copy(l.memory()[at:], from)
	return at
}

// text copies a string to the memory for one call; nil becomes NULL.
func (l *pureLibrary) text(from *string) address {
	if from == nil {
		return 0
	}
	at := l.room(len(*from) + 1)
	copy(l.memory()[at:], *from)
	return at
}

// read returns the string at an address.
func (l *pureLibrary) read(at address) string {
	var text strings.Builder
	for _, character := range l.memory()[at:] {
		if character == 0 {
			break
		}
		text.WriteByte(character)
	}
	return text.String()
}

func (l *pureLibrary) u32(at address) uint32 { return binary.LittleEndian.Uint32(l.memory()[at:]) }
func (l *pureLibrary) u64(at address) uint64 { return binary.LittleEndian.Uint64(l.memory()[at:]) }
func (l *pureLibrary) i64(at address) int64  { return int64(l.u64(at)) }

func (l *pureLibrary) put32(at address, value uint32) {
	binary.LittleEndian.PutUint32(l.memory()[at:], value)
}

func (l *pureLibrary) put64(at address, value uint64) {
	binary.LittleEndian.PutUint64(l.memory()[at:], value)
}

const spellingGo = 2

// failure converts the status of the last call to an error.
func (l *pureLibrary) failure(status int32) error {
	if Code(status) == noError {
		return nil
	}
	made := &Error{
		Code:       Code(status),
		Message:    l.read(l.module.Xflakeid_last_error_spelled(spellingGo)),
		RetryAfter: duration(l.module.Xflakeid_retry_after_ms()),
		Rollback:   duration(l.module.Xflakeid_rollback_ms()),
	}
	if field := l.module.Xflakeid_last_error_field_spelled(spellingGo); field != 0 {
		made.Field = l.read(field)
	}
	if horizon := l.module.Xflakeid_horizon_ms(); horizon >= 0 {
		made.Horizon = moment(horizon)
	}
	return made
}

// started is the fixed point of the library's clock that cannot be set.
var started = time.Now()

// meet sets the time of the next calls.
func (l *pureLibrary) meet() {
	now := time.Now()
	l.module.Xflakeid_host_meet(now.UnixMilli(), now.Sub(started).Microseconds())
}

func libraryVersion() (version string) {
	_ = once(func(l *pureLibrary) int32 {
		version = l.read(l.module.Xflakeid_version())
		return 0
	})
	return version
}

func statusCode(code Code) (text string) {
	_ = once(func(l *pureLibrary) int32 {
		text = l.read(l.module.Xflakeid_status_code(int32(code)))
		return 0
	})
	return text
}

func statusMessage(code Code) (text string) {
	_ = once(func(l *pureLibrary) int32 {
		text = l.read(l.module.Xflakeid_status_message(int32(code)))
		return 0
	})
	return text
}

// textOf makes a call that writes a string to a buffer.
func textOf(size int, call func(l *pureLibrary, buffer, size address) int32) (text string, err error) {
	err = once(func(l *pureLibrary) int32 {
		buffer := l.room(size)
		status := call(l, buffer, address(size))
		text = l.read(buffer)
		return status
	})
	return text, err
}

// wordOf makes a call that writes a number of 64 bits.
func wordOf(call func(l *pureLibrary, to address) int32) (word uint64, err error) {
	err = once(func(l *pureLibrary) int32 {
		to := l.room(8)
		status := call(l, to)
		word = l.u64(to)
		return status
	})
	return word, err
}

func idBy(call func(l *pureLibrary, to address) int32) (ID, error) {
	word, err := wordOf(call)
	return ID(word), err
}

func toText(form Form, id ID) (string, error) {
	return textOf(37, func(l *pureLibrary, buffer, size address) int32 {
		encode := [...]func(int64, int32, int32) int32{
			l.module.Xflakeid_to_decimal, l.module.Xflakeid_to_base32, l.module.Xflakeid_to_base36,
			l.module.Xflakeid_to_base58, l.module.Xflakeid_to_base62, l.module.Xflakeid_to_hex,
			l.module.Xflakeid_to_base58_flickr, l.module.Xflakeid_to_zbase32,
			l.module.Xflakeid_to_uuid,
		}
		return encode[form](int64(id), buffer, size)
	})
}

func fromText(form Form, text string) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		decode := [...]func(int32, int32) int32{
			l.module.Xflakeid_from_decimal, l.module.Xflakeid_from_base32, l.module.Xflakeid_from_base36,
			l.module.Xflakeid_from_base58, l.module.Xflakeid_from_base62, l.module.Xflakeid_from_hex,
			l.module.Xflakeid_from_base58_flickr, l.module.Xflakeid_from_zbase32,
			l.module.Xflakeid_from_uuid,
		}
		return decode[form](l.text(&text), to)
	})
}

func fromBytes(bytes []byte) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_from_bytes(l.bytes(bytes), address(len(bytes)), to)
	})
}

// toUUID ignores the status, because the call fails only for a buffer of less than 16 bytes.
func toUUID(id ID) (uuid [16]byte) {
	_ = once(func(l *pureLibrary) int32 {
		buffer := l.room(len(uuid))
		status := l.module.Xflakeid_to_uuid_bytes(int64(id), buffer, address(len(uuid)))
		copy(uuid[:], l.memory()[buffer:])
		return status
	})
	return uuid
}

func fromUUID(uuid [16]byte) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_from_uuid_bytes(l.bytes(uuid[:]), address(len(uuid)), to)
	})
}

func descriptorOf(layout *string) (string, error) {
	return textOf(128, func(l *pureLibrary, buffer, size address) int32 {
		return l.module.Xflakeid_layout_descriptor(l.text(layout), buffer, size)
	})
}

func presetNames() (names []string) {
	_ = once(func(l *pureLibrary) int32 {
		for index := address(0); index < l.module.Xflakeid_preset_count(); index++ {
			names = append(names, l.read(l.module.Xflakeid_preset_name(index)))
		}
		return 0
	})
	return names
}

func layoutInfoOf(layout *string) (made LayoutInfo, err error) {
	err = once(func(l *pureLibrary) int32 {
		const size = 120
		info := l.room(size)
		l.put32(info, size)
		status := l.module.Xflakeid_layout_get_info(l.text(layout), info)
		word := func(index int) uint64 { return l.u64(info + 8 + address(8*index)) }
		flag := func(index int) bool { return l.u32(info+104+address(4*index)) != 0 }
		made = LayoutInfo{
			Width: int(l.u32(info + 4)), Epoch: moment(int64(word(0))), Unit: duration(int64(word(1))),
			MaxTick: word(2), MaxNode: word(3), MaxDatacenter: word(4), MaxWorker: word(5),
			MaxClockSequence: word(6), MaxSequence: word(7), IDsPerTick: word(8),
			IDsPerSecond: math.Float64frombits(word(9)), Horizon: moment(int64(word(10))),
			FitsInt64Until: moment(int64(word(11))), IsSplit: flag(0), CanGenerate: flag(1), FitsFloat64: flag(2),
		}
		return status
	})
	return made, err
}

const (
	partsSize = 64
	// splitFlags are the flags of a datacenter and a worker.
	splitFlags = 2 | 4
)

func partsBy(call func(l *pureLibrary, to address) int32) (parts Parts, err error) {
	err = once(func(l *pureLibrary) int32 {
		p := l.room(partsSize)
		status := call(l, p)
		if Code(status) == noError {
			parts = Parts{
				Tick: l.u64(p), Time: moment(l.i64(p + 8)), Node: l.u64(p + 16), Datacenter: l.u64(p + 24),
				Worker: l.u64(p + 32), ClockSequence: l.u64(p + 40), Sequence: l.u64(p + 48),
				IsSplit: l.u32(p+56) == splitFlags,
			}
		}
		return status
	})
	return parts, err
}

func unpack(layout *string, id ID) (Parts, error) {
	return partsBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_decode(l.text(layout), int64(id), to)
	})
}

func partsAt(layout *string, unixMs int64) (Parts, error) {
	return partsBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_parts_at(l.text(layout), unixMs, to)
	})
}

func pack(layout *string, parts Parts) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		p := l.room(partsSize)
		for index, value := range [...]uint64{parts.Tick, uint64(parts.Time.UnixMilli()), parts.Node,
			parts.Datacenter, parts.Worker, parts.ClockSequence, parts.Sequence} {
			l.put64(p+address(8*index), value)
		}
		if parts.IsSplit {
			l.put32(p+56, splitFlags)
		}
		return l.module.Xflakeid_pack(l.text(layout), p, to)
	})
}

func joinNode(layout *string, datacenter, worker uint64) (uint64, error) {
	return wordOf(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_join_node(l.text(layout), int64(datacenter), int64(worker), to)
	})
}

func lowerBound(layout *string, unixMs int64) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_lower_bound(l.text(layout), unixMs, to)
	})
}

func upperBound(layout *string, unixMs int64) (ID, error) {
	return idBy(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_upper_bound(l.text(layout), unixMs, to)
	})
}

func unixMsAt(layout *string, tick uint64) (int64, error) {
	word, err := wordOf(func(l *pureLibrary, to address) int32 {
		return l.module.Xflakeid_unix_ms_at(l.text(layout), int64(tick), to)
	})
	return int64(word), err
}

func timestamp(layout *string, unixMs int64) (string, error) {
	return textOf(32, func(l *pureLibrary, buffer, size address) int32 {
		return l.module.Xflakeid_timestamp(l.text(layout), unixMs, buffer, size)
	})
}

// handleBy makes a call that writes the address of a new object.
func (l *pureLibrary) handleBy(call func(to address) int32) (made address, err error) {
	err = l.call(func() error {
		to := l.room(4)
		err := l.failure(call(to))
		made = address(l.u32(to))
		return err
	})
	return made, err
}

type nativeClock struct{ at address }

func newClock(unixMs int64) (nativeClock, error) {
	l := statefulLibrary()
	at, err := l.handleBy(func(to address) int32 { return l.module.Xflakeid_manual_clock_new(unixMs, to) })
	return nativeClock{at}, err
}

func (n nativeClock) free() {
	l := statefulLibrary()
	_ = l.call(func() error { l.module.Xflakeid_manual_clock_free(n.at); return nil })
}

func (n nativeClock) set(unixMs int64) error {
	l := statefulLibrary()
	return l.call(func() error { return l.failure(l.module.Xflakeid_manual_clock_set(n.at, unixMs)) })
}

func (n nativeClock) advance(ms uint64) error {
	l := statefulLibrary()
	return l.call(func() error { return l.failure(l.module.Xflakeid_manual_clock_advance(n.at, int64(ms))) })
}

func (n nativeClock) now() (unixMs int64, err error) {
	l := statefulLibrary()
	err = l.call(func() error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_manual_clock_get(n.at, to))
		unixMs = l.i64(to)
		return err
	})
	return unixMs, err
}

// nativePublicIDs are in an instance of their own, so that they do not wait for generators.
type nativePublicIDs struct {
	library *pureLibrary
	at      address
}

func newPublicIDs(keyring, domain string, options PublicIDOptions) (nativePublicIDs, error) {
	l := newLibrary()
	at, err := l.handleBy(func(to address) int32 {
		var prefix, since address
		if options.Prefix != "" {
			prefix = l.text(&options.Prefix)
		}
		if !options.Since.IsZero() {
			since = l.room(8)
			l.put64(since, uint64(options.Since.UnixMilli()))
		}
		layout := l.text(options.Layout.text())
		return l.module.Xflakeid_public_ids_new(l.text(&keyring), l.text(&domain), layout, prefix, since, to)
	})
	return nativePublicIDs{l, at}, err
}

// free does nothing, because the instance is collected with the object.
func (n nativePublicIDs) free() {}

// of returns the instance, or another instance for an object that no function created, which that instance rejects.
func (n nativePublicIDs) of() *pureLibrary {
	if n.library == nil {
		return statefulLibrary()
	}
	return n.library
}

func (n nativePublicIDs) seal(id ID) (text string, err error) {
	l := n.of()
	err = l.call(func() error {
		const size = 30
		buffer := l.room(size)
		err := l.failure(l.module.Xflakeid_public_ids_seal(n.at, int64(id), buffer, size))
		text = l.read(buffer)
		return err
	})
	return text, err
}

func (n nativePublicIDs) sealBits(id ID) (bits uint64, err error) {
	l := n.of()
	err = l.call(func() error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_public_ids_seal_bits(n.at, int64(id), to))
		bits = l.u64(to)
		return err
	})
	return bits, err
}

func (n nativePublicIDs) openAt(text string, unixMs int64) (id ID, err error) {
	l := n.of()
	err = l.call(func() error {
		to := l.room(8)
		err := l.failure(l.module.Xflakeid_public_ids_open_at(n.at, l.text(&text), unixMs, to))
		id = ID(l.u64(to))
		return err
	})
	return id, err
}
