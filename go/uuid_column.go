package flakeid

import (
	"database/sql/driver"
	"fmt"
)

// IDAsUUID is an ID in a database column of UUIDs, such as the type uuid of PostgreSQL. The column contains the UUID of
// version 8 that ID.UUID returns. In JSON and as text, an IDAsUUID is the same as the ID. Use a *IDAsUUID for a column
// that may be NULL.
type IDAsUUID ID

// String returns the ID in decimal digits.
func (id IDAsUUID) String() string { return ID(id).String() }

// MarshalText writes decimal digits, as ID.MarshalText does.
func (id IDAsUUID) MarshalText() ([]byte, error) { return ID(id).MarshalText() }

// UnmarshalText reads 1 to 20 decimal digits, as ID.UnmarshalText does.
func (id *IDAsUUID) UnmarshalText(text []byte) error { return (*ID)(id).UnmarshalText(text) }

// MarshalJSON writes a string of decimal digits, as ID.MarshalJSON does.
func (id IDAsUUID) MarshalJSON() ([]byte, error) { return ID(id).MarshalJSON() }

// UnmarshalJSON reads a string of decimal digits, as ID.UnmarshalJSON does.
func (id *IDAsUUID) UnmarshalJSON(data []byte) error { return (*ID)(id).UnmarshalJSON(data) }

// GormDataType returns the type of the column that GORM creates.
func (IDAsUUID) GormDataType() string { return "uuid" }

// Scan reads an ID from a column of UUIDs: the string of a UUID, or its 16 bytes. It returns ErrInvalidID for a UUID
// that ID.UUID did not return.
func (id *IDAsUUID) Scan(from any) error {
	switch value := from.(type) {
	case [16]byte:
		return id.read(FromUUID(value))
	case []byte:
		if len(value) == 16 {
			return id.read(FromUUID([16]byte(value)))
		}
		return id.read(UUID.Decode(string(value)))
	case string:
		return id.read(UUID.Decode(value))
	case nil:
		return refused(ErrInvalidID, "", "NULL is not an ID: "+
			"scan a column that may be NULL into a *flakeid.IDAsUUID, as in Scan(&pointer)")
	}
	return refused(ErrInvalidID, "", "%T %.64s is not a UUID: a column of flakeid.IDAsUUID must contain UUIDs; scan a "+
		"bigint into a flakeid.ID", from, fmt.Sprint(from))
}

func (id *IDAsUUID) read(read ID, err error) error {
	if err == nil {
		*id = IDAsUUID(read)
	}
	return err
}

// Value returns the string of the UUID, which every database accepts.
func (id IDAsUUID) Value() (driver.Value, error) { return UUID.Encode(ID(id)) }
