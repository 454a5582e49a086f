package flakeid

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// ID is a 64-bit number that sorts by time within a layout. It is a string of digits in JSON, because browsers keep
// only 53 bits of a number, and a bigint in a database. Use a *ID for a column or a field that can be empty.
type ID uint64

// Parse reads 1 to 20 decimal digits. Form.Decode reads the other text forms.
func Parse(text string) (ID, error) { return Decimal.Decode(text) }

// FromBytes reads 8 bytes, most significant first.
func FromBytes(bytes []byte) (ID, error) {
	return fromBytes(bytes)
}

// String returns the ID in decimal digits.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// Bytes returns the 8 bytes of the ID, most significant first, so that they sort like the IDs.
func (id ID) Bytes() (bytes [8]byte) {
	for place := range bytes {
		bytes[place] = byte(id >> (56 - 8*place))
	}
	return bytes
}

// UUID returns the ID as a UUID of version 8 (RFC 9562), for columns and interfaces that require a UUID. The bytes sort
// like the IDs. The result can be assigned to the UUID types of the common packages, which are arrays of 16 bytes.
func (id ID) UUID() [16]byte { return toUUID(id) }

// FromUUID returns the ID that ID.UUID converted. It returns ErrInvalidID for any other UUID.
func FromUUID(uuid [16]byte) (ID, error) { return fromUUID(uuid) }

// Time returns the start of the ID's tick. It returns ErrInvalidID if the ID has bits that the layout never sets.
// Layout.Decode returns the other parts.
func (id ID) Time(layout Layout) (time.Time, error) {
	parts, err := layout.Decode(id)
	return parts.Time, err
}

// MarshalText writes decimal digits. JSON uses this method for the keys of maps.
func (id ID) MarshalText() ([]byte, error) { return strconv.AppendUint(nil, uint64(id), 10), nil }

// UnmarshalText reads 1 to 20 decimal digits.
func (id *ID) UnmarshalText(text []byte) error { return id.read(string(text)) }

// MarshalJSON writes a string of decimal digits.
func (id ID) MarshalJSON() ([]byte, error) {
	text := append(make([]byte, 0, 22), '"')
	return append(strconv.AppendUint(text, uint64(id), 10), '"'), nil
}

// UnmarshalJSON reads a string of decimal digits; null changes nothing. It returns ErrInvalidID for a number, because
// its sender may have rounded it.
func (id *ID) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	if len(data) == 0 || data[0] != '"' {
		return refused(ErrInvalidID, "", "an ID must be a string in JSON, such as %q, not %.64s: numbers of "+
			"JSON lose their last digits in browsers, which keep 53 bits of 64", "910499571847892992", data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return id.read(text)
}

func (id *ID) read(text string) error {
	read, err := Parse(text)
	if err == nil {
		*id = read
	}
	return err
}

// Scan reads an ID from a database: a bigint or its digits.
func (id *ID) Scan(from any) error {
	switch value := from.(type) {
	case int64:
		if value >= 0 {
			*id = ID(value)
			return nil
		}
		return refused(ErrInvalidID, "", "%d is not an ID: a bigint must be from 0 to %d; if the column contains "+
			"unsigned IDs that were stored as signed numbers, scan an int64 and convert it to a flakeid.ID",
			value, int64(math.MaxInt64))
	case uint64: // a bigint unsigned of MySQL
		*id = ID(value)
		return nil
	case string:
		return id.read(value)
	case []byte:
		return id.read(string(value))
	case nil:
		return refused(ErrInvalidID, "", "NULL is not an ID: "+
			"scan a column that may be NULL into a *flakeid.ID, as in Scan(&pointer)")
	}
	// A precision of %v would pad a number with zeros.
	return refused(ErrInvalidID, "",
		"%T %.64s is not an ID: a column of IDs must be a bigint or a string of digits", from, fmt.Sprint(from))
}

// Value returns the ID as a bigint. It returns ErrInvalidID for an ID that does not fit, which only layouts of 64
// bits have.
func (id ID) Value() (driver.Value, error) {
	if id > math.MaxInt64 {
		return nil, refused(ErrInvalidID, "", "id %d does not fit a signed column of 64 bits (at most %d): "+
			"give the column a type for unsigned or decimal numbers and pass id.String(), or use a layout of "+
			"63 bits", uint64(id), int64(math.MaxInt64))
	}
	return int64(id), nil
}

// Form is a text form of IDs.
type Form int

// The text forms. Base32, Base62, Hex and UUID have a fixed length and sort like the IDs.
const (
	Decimal      Form = iota // 1 to 20 digits
	Base32                   // Crockford's, 13 digits
	Base36                   // 1 to 13 lowercase digits
	Base58                   // Bitcoin's alphabet, 1 to 11 digits
	Base62                   // 0-9A-Za-z, 11 digits
	Hex                      // 16 lowercase digits
	Base58Flickr             // Flickr's alphabet, 1 to 11 digits, like Base58 of bwmarrin/snowflake
	Zbase32                  // z-base-32, 1 to 13 digits, like Base32 of bwmarrin/snowflake
	UUID                     // a UUID of version 8, 36 characters; see ID.UUID
)

var formNames = [...]string{"decimal", "base32", "base36", "base58", "base62", "hex", "base58_flickr",
	"zbase32", "uuid"}

// String returns the name of the form.
func (f Form) String() string {
	if f < 0 || int(f) >= len(formNames) {
		return "unknown form " + strconv.Itoa(int(f))
	}
	return formNames[f]
}

func (f Form) check() error {
	if f < 0 || int(f) >= len(formNames) {
		return refused(ErrInvalidOption, "", "form %d: must be one of flakeid.Decimal to flakeid.UUID", int(f))
	}
	return nil
}

// Encode writes the ID. It fails only for a form that is not one of the constants.
func (f Form) Encode(id ID) (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	return toText(f, id)
}

// Decode reads an ID. Base32, Base36, Hex, Zbase32 and UUID accept both cases. Decode returns ErrInvalidID for a string that
// is not an ID in this text form.
func (f Form) Decode(text string) (ID, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return fromText(f, withoutNul(text))
}
