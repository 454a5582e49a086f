package flakeid

// #include "shim.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// PublicIDs encrypts the IDs of one domain for outsiders, so that public IDs reveal no time, node or number. It hides
// IDs but does not authorise access: in rare cases, a made-up string can be opened as an ID.
type PublicIDs struct{ handle *C.flakeid_public_ids }

// PublicIDOptions are options of NewPublicIDs.
type PublicIDOptions struct {
	// Layout is the layout of the IDs.
	Layout Layout
	// Prefix begins each public ID, before an underscore: up to 16 lowercase letters and digits, a letter first. The
	// empty string means no prefix.
	Prefix string
	// Since is the time of the earliest ID that opens; zero means the layout's epoch.
	Since time.Time
}

// NewPublicIDs returns a converter for the public IDs of a domain. The keyring is the content of the file that
// `flakeid keygen` writes. The domain is the kind of object that the IDs identify, such as "user", in 1 to 64 bytes,
// and must not change while public IDs are in use.
func NewPublicIDs(keyring, domain string, options PublicIDOptions) (*PublicIDs, error) {
	for _, text := range [][2]string{{"keyring", keyring}, {"domain", domain}, {"prefix", options.Prefix}} {
		if err := checkNul(text[0], text[1]); err != nil {
			return nil, err
		}
	}
	key, of := C.CString(keyring), C.CString(domain)
	defer C.free(unsafe.Pointer(key))
	defer C.free(unsafe.Pointer(of))
	var prefix *C.char
	if options.Prefix != "" {
		prefix = C.CString(options.Prefix)
		defer C.free(unsafe.Pointer(prefix))
	}
	layout, free := options.Layout.text()
	defer free()
	hasSince, since := C.int(0), C.int64_t(0)
	if !options.Since.IsZero() {
		hasSince, since = 1, C.int64_t(options.Since.UnixMilli())
	}
	made := &PublicIDs{}
	if err := failure(C.new_public_ids(key, of, layout, prefix, hasSince, since, &made.handle)); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(made, func(unused *PublicIDs) { C.flakeid_public_ids_free(unused.handle) })
	return made, nil
}

// Seal returns the public form of an ID. It returns ErrInvalidID if the ID has bits that the layout never sets.
func (p *PublicIDs) Seal(id ID) (string, error) {
	var buffer [C.FLAKEID_PUBLIC_ID_SIZE]C.char
	err := failure(C.seal(p.handle, C.uint64_t(id), &buffer[0], C.size_t(len(buffer))))
	runtime.KeepAlive(p)
	return C.GoString(&buffer[0]), err
}

// SealBits returns the public form of an ID as a 64-bit number, without the prefix and the key letter.
func (p *PublicIDs) SealBits(id ID) (uint64, error) {
	made := C.seal_bits(p.handle, C.uint64_t(id))
	runtime.KeepAlive(p)
	return numberOf(made)
}

// Open opens a public ID by the system's clock, and returns the ID. It returns ErrInvalidID, without the reason, for
// another key, domain or prefix, for an invented string, and for an ID from before Since or from more than a minute
// after now.
func (p *PublicIDs) Open(text string) (ID, error) {
	return p.open(text, func(c *C.char) C.result { return C.open_public(p.handle, c) })
}

// OpenAt is like Open, but compares the ID's time with the given time.
func (p *PublicIDs) OpenAt(text string, now time.Time) (ID, error) {
	return p.open(text, func(c *C.char) C.result {
		return C.open_public_at(p.handle, c, C.int64_t(now.UnixMilli()))
	})
}

func (p *PublicIDs) open(text string, open func(*C.char) C.result) (ID, error) {
	made := with(text, open)
	runtime.KeepAlive(p)
	return idOf(made)
}
