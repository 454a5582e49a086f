package flakeid

import (
	"runtime"
	"time"
)

// PublicIDs encrypts the IDs of one domain for outsiders, so that public IDs reveal no time, node or number. It hides
// IDs but does not authorise access: in rare cases, a made-up string can be opened as an ID.
type PublicIDs struct{ native nativePublicIDs }

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
	native, err := newPublicIDs(keyring, domain, options)
	if err != nil {
		return nil, err
	}
	made := &PublicIDs{native}
	runtime.SetFinalizer(made, func(unused *PublicIDs) { unused.native.free() })
	return made, nil
}

// of returns the library's handle; none for nil PublicIDs, which the library rejects.
func (p *PublicIDs) of() nativePublicIDs {
	if p == nil {
		return nativePublicIDs{}
	}
	return p.native
}

// Seal returns the public form of an ID. It returns ErrInvalidID if the ID has bits that the layout never sets.
func (p *PublicIDs) Seal(id ID) (string, error) {
	text, err := p.of().seal(id)
	runtime.KeepAlive(p)
	return text, err
}

// SealBits returns the public form of an ID as a 64-bit number, without the prefix and the key letter.
func (p *PublicIDs) SealBits(id ID) (uint64, error) {
	number, err := p.of().sealBits(id)
	runtime.KeepAlive(p)
	return number, err
}

// Open opens a public ID by the system's clock, and returns the ID. It returns ErrInvalidID, without the reason, for
// another key, domain or prefix, for an invented string, and for an ID from before Since or from more than a minute
// after now.
func (p *PublicIDs) Open(text string) (ID, error) { return p.OpenAt(text, time.Now()) }

// OpenAt is like Open, but compares the ID's time with the given time.
func (p *PublicIDs) OpenAt(text string, now time.Time) (ID, error) {
	id, err := p.of().openAt(withoutNul(text), now.UnixMilli())
	runtime.KeepAlive(p)
	return id, err
}
